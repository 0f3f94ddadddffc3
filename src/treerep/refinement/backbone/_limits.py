"""Sizes at which the backbone method changes its course, with the reasons."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Numbers of points, rows and trees."""

    #: Points in the sample by default. Its tree takes size^2 time and memory.
    sample: int = 2000
    #: Vertices of a graph up to which the whole tree is learned: no distance is estimated then.
    whole_graph: int = 5000
    #: Fewer points have only one topology.
    least_sample: int = 3

    #: Trees by joining neighbors, of which the best is improved: moves cannot repair a bad one.
    starts: int = 4
    #: The same if all points are in the sample.
    whole_starts: int = 2
    #: The same for a graph whose points do not move: the best start has the final topology.
    graph_starts: int = 20
    #: This many of them get lengths by least squares before they are compared. The lengths of
    #: neighbor joining tell less about a topology.
    promising_starts: int = 10
    #: Residual of these lengths.
    start_tol: float = 1e-6
    #: Beyond this number of points, a second round of moves and lengths is worth its time.
    second_round: int = 10_000

    #: Powers up to the fourth of larger distances, or of smaller than the inverse, overflow.
    largest_distance: float = 1e60
    #: Points outside the sample by whose distances the power is chosen.
    test_points: int = 128

    #: Up to here, fitting the lengths of all edges to some rows is worth its time.
    fitted_points: int = 200_000
    #: Pairs in these rows, and bounds for the number of rows.
    fitted_pairs: int = 25_600_000
    fewest_rows: int = 256
    most_rows: int = 1024
    #: Up to here, neighborhoods of a graph count in the lengths. Ranks take n^2.
    neighborhoods: int = 10_000


LIMITS = Limits()
