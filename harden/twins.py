"""Every kernel against a naive twin: NumPy, scipy, networkx, or plain Python written from the definition.

The twins are in the tests, as properties. Here stands which of them judge which kernel; the campaign runs these with
many more examples than the tests do.
"""

import ast
import importlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from .common import PACKAGE, ROOT, Result, environment

GRAPHS = "metric/test_graph.py::test_searches_and_labels_both_equal_scipy"
HUBS = (
    "metric/test_hub_labels.py::test_unweighted_labels_equal_scipys_distances",
    "metric/test_hub_labels.py::test_weighted_labels_equal_scipys_distances",
)
TREES = "tree/test_distances.py::test_pairs_and_both_blocks_agree_with_networkx"
ZONES = "fitting/test_treerep.py::test_compiled_engine_equals_its_plain_twin"
SPLIT = "fitting/test_treerep.py::test_split_phase_equals_the_twin_on_any_number_of_threads"
BRUTE = (
    "scoring/test_hyperbolicity.py::test_unweighted_graphs",
    "scoring/test_hyperbolicity.py::test_weighted_graphs",
    "scoring/test_hyperbolicity.py::test_whole_metrics",
    "scoring/test_hyperbolicity.py::test_violated_triangles",
)
LINKAGE = "fitting/test_gromov.py::test_single_linkage_equals_scipys_with_ties_too"
LINKAGES = (
    "fitting/test_gromov.py::test_equals_scipys_linkage_after_the_farris_transform",
    "fitting/test_upgma.py::test_equals_scipys_average_linkage",
)
CONSTRUCT = "fitting/test_construct_tree.py::test_equals_its_plain_twin"
LOW_STRETCH = (
    "fitting/test_low_stretch.py::test_graphs_give_the_tree_of_the_plain_twin",
    "fitting/test_low_stretch.py::test_all_pairs_give_the_tree_of_the_plain_twin_even_without_triangle_inequality",
)
EVOLUTION = (
    "fitting/test_minimum_evolution.py::test_insertion_is_that_of_the_plain_twin",
    "fitting/test_minimum_evolution.py::test_any_matrix_gives_a_binary_tree_and_exchanges_only_shorten_it",
)
SARKAR = (
    "embedding/test_sarkar.py::test_the_wished_distortion_is_reached",
    "embedding/test_sarkar.py::test_edges_are_exact_and_nothing_is_too_long",
)
FRAMES = ("embedding/test_frames.py::test_against_many_digits", "embedding/test_precision.py::test_against_the_twin")
MOVES = (
    "refinement/test_moves.py::test_a_move_finds_what_scipy_finds_on_all_edges",
    "refinement/test_moves.py::test_what_is_reported_is_true",
)
WEIGHTS = "refinement/test_weights.py::"
#: File of kernels -> kernels in it, with blanks between -> tests in which a twin judges them.
TWINS: dict[str, dict[str, tuple[str, ...]]] = {
    "metric.kernels": {
        "pair_distances block_distances": (
            "metric/test_points.py::test_plain_metrics_agree_with_scipy",
            "metric/test_points.py::test_blocks_have_the_bits_of_pairs",
            "metric/test_points.py::test_angles_agree_with_scipy",
            "embedding/test_embedding.py::test_distances_are_those_of_point_metrics",
            *(TREES, GRAPHS, *HUBS),
        )
    },
    "metric.search_kernels": {"search_block": (GRAPHS,), "flatten_labels": HUBS},
    "metric.hub_label_kernels": {"drop_cut_nodes link_nodes grow_trees label_hubs": HUBS},
    "metric.validation_kernels": {
        "inspect_band": (
            "metric/test_matrix.py::test_integral_means_every_entry_is_whole",
            "metric/test_matrix.py::test_one_bad_entry_anywhere_is_found",
        )
    },
    "tree.ancestor_kernels": {"fill_inlabels": ("tree/test_distances.py::test_lowest_common_ancestors", TREES)},
    "tree.canonical_kernels": {"sort_edges": ("tree/test_canonical.py::test_agrees_with_the_definition",)},
    "tree.cluster_kernels": {"best_cut": ("tree/test_clusters.py::test_every_cut_is_the_best_one",)},
    "tree.reduction_kernels": {
        "contract": ("tree/test_reduction.py::test_contracted_keeps_the_metric",),
        "span": ("tree/test_reduction.py::test_restrict_keeps_distances",),
    },
    "tree.rooting_kernels": {
        "is_tree find_fault": (
            "tree/test_tree.py::test_any_moved_edge_is_judged_rightly",
            "tree/test_tree.py::test_refuses",
        ),
        "root_edges": ("tree/test_distances.py::test_rooted",),
        "sum_depths": (TREES,),
    },
    "tree.split_kernels": {"match_splits": ("tree/test_difference.py::test_against_sets_of_splits",)},
    "tree.support_kernels": {"sum_below": ("tree/test_support.py::test_agrees_with_sets",)},
    "tree.walk_kernels": {"walk_rows": (TREES, "tree/test_distances.py::test_any_rows_and_columns")},
    "scoring.base_point_kernels": {"gromov_products largest_defect largest_violation": BRUTE},
    "scoring.block_kernels": {"biconnected_components induced_subgraph search_many": BRUTE},
    "scoring.diameter_kernels": {"search_eccentricities": BRUTE},
    "scoring.far_apart_kernels": {
        "mark_far keep_mutual count_by_key list_by_key append_mates reveal_mates search_pairs": BRUTE
    },
    "scoring.distortion_kernels": {"row_sums": ("scoring/test_distortion.py::test_agrees_with_the_definition",)},
    "scoring.precision_kernels": {"average_precision": ("scoring/test_precision.py::test_agrees_with_the_definition",)},
    "fitting.zone_kernels": {
        "finish": (ZONES,),
        "choose sort_chunk scatter_chunk grow": (SPLIT,),
        "pick universal_tree": ("fitting/test_treerep.py::test_blocks_alone_give_the_tree_of_the_twin",),
    },
    "fitting.joining_kernels": {
        "prepare join_closest join_mutual": ("fitting/test_joining.py::test_every_join_is_one_that_the_method_allows",)
    },
    "fitting.minimum_evolution_kernels": {"insert_points add_averages edge_list exchange_best": EVOLUTION},
    "fitting.gromov_kernels": {"extend dendrogram tree_edges": (LINKAGE,), "negate_products link": LINKAGES},
    "fitting.construct_tree_kernels": {"find_partner remove_points": (CONSTRUCT,)},
    "fitting.level_tree_kernels": {
        "layer_parents": ("fitting/test_level_tree.py::test_clusters_are_those_of_the_definition",)
    },
    "fitting.locate_kernels": {"find_places": ("fitting/test_place.py::test_the_kernel_walks_as_plain_python_does",)},
    "fitting.low_stretch_kernels": {"grow_balls shorten_links absorb": LOW_STRETCH},
    "fitting.partition_kernels": {
        "partition_tree": ("fitting/test_bartal.py::test_every_tree_equals_its_plain_twin",),
        "scan_lows": ("fitting/test_frt.py::test_every_tree_equals_its_plain_twin",),
    },
    "fitting.spanning_kernels": {
        "nearest_in_rows": (
            "fitting/test_graphs.py::test_neighbours_are_those_of_brute_force_and_shortest_edges_connect_them",
        ),
        "join_points grow_tree": (
            "fitting/test_minimum_spanning_tree.py::test_equals_are_resolved_as_documented",
            "fitting/test_minimum_spanning_tree.py::test_no_spanning_tree_of_a_sparse_graph_is_shorter",
            "fitting/test_bfs.py::test_of_several_shortest_paths_the_last_stop_is_the_smallest",
        ),
    },
    "refinement.move_kernels": {
        "improve subtree_sizes sum_of_errors": MOVES,
    },
    "refinement.placement_kernels": {
        "find_best_places": (
            "refinement/test_backbone.py::test_places_are_as_good_as_those_of_scipy",
            "refinement/test_backbone.py::test_places_side_by_side_have_the_bits_of_a_plain_loop",
        ),
    },
    "refinement.descent_kernels": {
        "dot turn_way": (f"{WEIGHTS}test_turned_ways_are_those_of_plain_numpy",),
    },
    "refinement.branch_kernels": {
        "join_branches": ("refinement/test_backbone.py::test_branches_keep_the_heights_of_points_at_nodes",),
    },
    "refinement.path_sum_kernels": {
        "find_splits": (f"{WEIGHTS}test_splits_are_those_of_the_tree",),
        "common_ancestors": (f"{WEIGHTS}test_common_ancestors_twin",),
        "row_sums add_down add_up": (f"{WEIGHTS}test_row_sums_twin", f"{WEIGHTS}test_matches_nnls"),
        "cut_sums": (f"{WEIGHTS}test_cut_sums_twin",),
        "solve_cuts": (f"{WEIGHTS}test_solve_cuts_twin",),
    },
    "refinement.rank_kernels": {
        "smooth_imprecision": ("refinement/test_neighborhoods.py::test_value_is_that_of_plain_numpy",),
        "imprecision": (
            "refinement/test_neighborhoods.py::test_without_smoothing_it_is_the_precision_of_the_definition",
        ),
    },
    "embedding.coordinate_kernels": {"count_below polar_coordinates": FRAMES},
    "embedding.direction_kernels": {
        "merge_points count_points group_edges spread turn_edges": (
            *SARKAR,
            "embedding/test_directions.py::test_three_directions_of_least_energy",
            "embedding/test_directions.py::test_the_least_angle_is_one",
        )
    },
    "embedding.frame_kernels": {"walk_rows": FRAMES},
    "embedding.sarkar_kernels": {"find_center reroot": ("embedding/test_sarkar.py::test_root_at_the_centre",)},
    "embedding.scale_kernels": {"measure_angles worst_path": SARKAR},
}
#: Files of pieces that are inlined into kernels of other files, and judged there.
INLINED = {
    "metric.lane_kernels": "sums over coordinates: inside `distance` and `fill_block`, so in pair and block distances",
    "refinement.placement_lane_kernels": "steps of a placement in vectors: inside find_best_places",
    "metric.frame_kernels": "frames of trees in hyperbolic space: inside `distance` and embedding.frame_kernels",
    "fitting.row_minimum_kernels": "fitting/test_joining.py::test_row_minima_are_those_of_numpy",
}


def judged() -> dict[str, tuple[str, ...]]:
    """Return the tests of each kernel, named as `metric.kernels.pair_distances`."""
    return {
        f"{file}.{kernel}": tests
        for file, rows in TWINS.items()
        for names, tests in rows.items()
        for kernel in names.split()
    }


def in_source() -> dict[str, list[str]]:
    """Return the kernels that each file of kernels defines."""
    found = {}
    for path in sorted(PACKAGE.rglob("*kernels.py")):
        functions = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]
        names = [f.name for f in functions if any(ast.unparse(d) == "kernel" for d in f.decorator_list)]
        found[".".join(path.relative_to(PACKAGE).with_suffix("").parts)] = names
    return found


def kernels() -> dict[str, Any]:
    """Return every kernel by its name."""
    names = [name.rpartition(".") for name in judged()]
    return {f"{file}.{name}": getattr(importlib.import_module(f"treerep.{file}"), name) for file, _, name in names}


def tests() -> list[str]:
    """Return all tests with a twin, once each."""
    inlined = [reason for reason in INLINED.values() if "::" in reason]
    return [f"tests/{test}" for test in dict.fromkeys([*(t for ts in judged().values() for t in ts), *inlined])]


def campaign(examples: int = 200) -> Result:
    """Run every test with a twin on so many examples."""
    with tempfile.TemporaryDirectory(prefix="treerep-harden-") as folder:
        report = Path(folder) / "report.json"
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "harden.examples", *tests()]
        asked = {"HARDEN_EXAMPLES": str(examples), "HARDEN_REPORT": os.fspath(report)}
        done = subprocess.run(words, capture_output=True, text=True, env=environment(**asked), cwd=ROOT, check=False)
        found = json.loads(report.read_text()) if report.exists() else {"examples": 0, "unused": ["all"]}
    faults = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    faults += [f"{name} was never called" for name in found["unused"]]
    if done.returncode and not faults:
        faults.append(f"pytest ended with {done.returncode}: {done.stdout[-300:]}")
    what = f"{len(judged())} kernels against naive twins, {len(tests())} properties of {examples:,} examples"
    return Result(what, found["examples"], faults)
