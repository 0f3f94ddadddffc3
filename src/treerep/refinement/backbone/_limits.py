"""Sizes at which the backbone method changes its strategy, with the reasons."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Numbers of points, rows and trees."""

    #: Default number of points in the sample. The sample's tree takes size^2 time and memory.
    sample: int = 2000
    #: The same if the data consists of distances, for example of a phylogeny. Placed points have
    #: more wrong splits than points in the sample.
    distances_sample: int = 4000
    #: Up to this number of vertices, the tree of a graph is learned from all vertices, so that
    #: no distance is estimated.
    whole_graph: int = 5000
    #: Profiles (see `minimum_evolution`) are used up to this size.
    profile_bytes: int = 8 << 30
    #: Smaller samples have only one topology.
    least_sample: int = 3

    #: Number of neighbor-joining trees. The best one is improved, because moves cannot repair a
    #: bad start.
    starts: int = 4
    #: Number of neighbor-joining trees if all points are in the sample.
    whole_starts: int = 2
    #: Number of neighbor-joining trees for a graph whose points do not move: a start has the final
    #: topology.
    graph_starts: int = 20
    #: This many of the trees get least-squares lengths before they are compared, because lengths
    #: from neighbor joining are a poor basis for comparing topologies.
    promising_starts: int = 10
    #: Tolerance for fitting these lengths.
    start_tol: float = 1e-6
    #: Above this number of points, a second round of moves and lengths is worth its time.
    second_round: int = 10_000

    #: Weights with fourth powers may overflow if a distance is above this value or below its
    #: inverse.
    largest_distance: float = 1e60
    #: Number of points outside the sample whose distances determine the power.
    test_points: int = 128

    #: Up to this size, fitting the lengths of all edges to some rows is worth its time.
    fitted_points: int = 200_000
    #: Number of pairs in these rows, and bounds on the number of rows.
    fitted_pairs: int = 25_600_000
    #: The same if neighborhoods are part of the objective, because this takes more steps.
    nearby_pairs: int = 4_000_000
    fewest_rows: int = 256
    most_rows: int = 1024
    #: Up to this number of vertices, neighborhoods of a graph are part of the objective: their ranks
    #: take n^2 time.
    neighborhoods: int = 10_000
    #: Above this number of points with coordinates, the tree of the sample is made for far distances.
    many_points: int = 10_000


LIMITS = Limits()
