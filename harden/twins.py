"""Stress test: compare every kernel with a reference implementation.

Reference implementations (NumPy, SciPy, networkx or plain Python) are part of the tests. This
module lists which tests cover which kernel. The stress test runs them with more examples.
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
    "metric/shortest_paths/test_hub_labels.py::test_unweighted_labels_equal_scipys_distances",
    "metric/shortest_paths/test_hub_labels.py::test_weighted_labels_equal_scipys_distances",
)
TREES = "tree/test_distances.py::test_pairs_and_both_blocks_agree_with_networkx"
ZONES = "fitting/treerep/test_algorithm.py::test_compiled_engine_equals_its_plain_twin"
SPLIT = "fitting/treerep/test_algorithm.py::test_split_phase_equals_the_twin_on_any_number_of_threads"
BRUTE = (
    "treelikeness/test_hyperbolicity.py::test_unweighted_graphs",
    "treelikeness/test_hyperbolicity.py::test_weighted_graphs",
    "treelikeness/test_hyperbolicity.py::test_whole_metrics",
    "treelikeness/test_hyperbolicity.py::test_violated_triangles",
)
LINKAGE = "fitting/rooted/test_gromov.py::test_single_linkage_equals_scipys_with_ties_too"
CONSTRUCT = "fitting/rooted/test_construct_tree.py::test_equals_its_plain_twin"
LOW_STRETCH = (
    "fitting/spanning/test_low_stretch.py::test_graphs_give_the_tree_of_the_plain_twin",
    "fitting/spanning/test_low_stretch.py::test_all_pairs_give_the_tree_of_the_plain_twin_even_without_triangle_inequality",
)
REGRAFT = (
    "fitting/evolution/test_regraft.py::test_gains_are_those_of_all_neighbors",
    "fitting/evolution/test_regraft.py::test_moves_only_shorten_the_tree",
    "fitting/evolution/test_regraft.py::test_tree_metrics_are_recovered_from_any_start",
)
PROFILES = "fitting/evolution/test_profiles.py::"
SARKAR = (
    "embedding/sarkar/test_construction.py::test_the_wished_distortion_is_reached",
    "embedding/sarkar/test_construction.py::test_edges_are_exact_and_nothing_is_too_long",
)
FRAMES = ("embedding/sarkar/test_frames.py::test_against_many_digits",)
MOVES = (
    "refinement/moves/test_search.py::test_a_move_finds_what_scipy_finds_on_all_edges",
    "refinement/moves/test_search.py::test_what_is_reported_is_true",
)
PLACEMENTS = (
    "placement/test_placements.py::test_no_edge_is_better",
    "placement/test_placements.py::test_tree_metrics_are_exact",
)
WEIGHTS = "refinement/lengths/test_weights.py::"
#: Module -> kernels (separated by blanks) -> tests with a reference implementation.
TWINS: dict[str, dict[str, tuple[str, ...]]] = {
    "metric.oracle.distance_kernels": {
        "pair_distances block_distances": (
            "metric/test_points.py::test_plain_metrics_agree_with_scipy",
            "metric/test_points.py::test_blocks_have_the_bits_of_pairs",
            "metric/test_points.py::test_angles_agree_with_scipy",
            "embedding/test_embedding.py::test_distances_are_those_of_point_metrics",
            "metric/sequences/test_metric.py::test_proteins_by_brute_force",
            "metric/test_characters.py::test_equals_the_definition",
            *(TREES, GRAPHS, *HUBS),
        )
    },
    "metric.shortest_paths.search_kernels": {"search_block": (GRAPHS,), "flatten_labels": HUBS},
    "metric.shortest_paths.many_search_kernels": {
        "search_together": ("metric/test_graph.py::test_searches_that_run_together_are_those_of_scipy",)
    },
    "metric.shortest_paths.hub_label_kernels": {"drop_cut_nodes link_nodes grow_trees label_hubs": HUBS},
    "metric.shortest_paths.all_pairs_kernels": {
        "all_hops": ("metric/shortest_paths/test_all_pairs.py::test_hop_counts_equal_scipys",)
    },
    "tree.structure.ancestor_kernels": {
        "fill_inlabels": ("tree/test_distances.py::test_lowest_common_ancestors", TREES)
    },
    "tree.structure.canonical_kernels": {
        "sort_edges": ("tree/structure/test_canonical.py::test_agrees_with_the_definition",)
    },
    "tree.operations.cluster_kernels": {
        "best_cut": ("tree/operations/test_clusters.py::test_every_cut_is_the_best_one",)
    },
    "tree.operations.reduction_kernels": {
        "contract": ("tree/operations/test_reduction.py::test_contracted_keeps_the_metric",),
        "span": ("tree/operations/test_reduction.py::test_restrict_keeps_distances",),
    },
    "tree.structure.preorder_kernels": {
        "subtree_sizes count_points find_heads": (
            "tree/structure/test_rooted.py::test_sizes_and_points_below_are_those_of_plain_loops",
            "tree/structure/test_rooted.py::test_heads_are_those_of_climbing",
        ),
        "find_center": ("embedding/sarkar/test_construction.py::test_root_at_the_center",),
        "reroot": (
            "embedding/sarkar/test_construction.py::test_root_at_the_center",
            "tree/structure/test_rooted.py::test_a_rerooted_tree_is_the_same_tree",
        ),
    },
    "tree.structure.rooting_kernels": {
        "root_edges find_fault": (
            "tree/test_tree.py::test_any_moved_edge_is_judged_rightly",
            "tree/test_tree.py::test_refuses",
            "tree/test_distances.py::test_rooted",
        ),
        "sum_depths": (TREES,),
    },
    "tree.comparison.split_kernels": {
        "add_keys": (
            "tree/comparison/test_support.py::test_agrees_with_sets",
            "tree/comparison/test_difference.py::test_against_sets_of_splits",
        )
    },
    "tree.comparison.consensus_kernels": {
        "add_clusters": ("tree/comparison/test_consensus.py::test_equals_a_plain_implementation",)
    },
    "tree.structure.walk_kernels": {
        "walk_rows": (TREES, "tree/test_distances.py::test_any_rows_and_columns")
    },
    "treelikeness.base_points._base_point_kernels": {
        "gromov_products largest_defect largest_violation": BRUTE
    },
    "treelikeness.exact._biconnected_kernels": {"biconnected_components induced_subgraph search_many": BRUTE},
    "treelikeness._diameter_kernels": {"search_eccentricities": BRUTE},
    "treelikeness.exact._far_apart_kernels": {
        "mark_far keep_mutual count_by_key list_by_key append_mates reveal_mates search_pairs": BRUTE
    },
    "scores._distortion_kernels": {
        "row_sums": ("scores/test_distortion.py::test_agrees_with_the_definition",)
    },
    "fitting.evolution._profile_kernels": {
        "make_binary preorder gather hand_down edge_lengths": (
            f"{PROFILES}test_length_by_definition",
            f"{PROFILES}test_four_points_by_hand",
        ),
        "improve_clades mark_dirty count_leaves": (f"{PROFILES}test_no_exchange_makes_the_tree_shorter",),
        "spreads": (f"{PROFILES}test_lengths_of_root_mean_squares_by_definition",),
    },
    "scores._clade_kernels": {
        "class_shares meeting_positions": (
            "scores/test_purity.py::test_agrees_with_the_definition",
            "scores/test_dasgupta.py::test_agrees_with_the_definition",
        ),
        "row_costs": ("scores/test_dasgupta.py::test_agrees_with_the_definition",),
    },
    "scores._neighbor_kernels": {
        "neighbor_shares": ("scores/test_neighbors.py::test_agrees_with_the_definition",)
    },
    "scores._root_error_kernels": {
        "root_error": ("scores/test_largest_error.py::test_root_errors_are_those_of_the_definition",)
    },
    "scores.lower_bounds.packing_kernels": {
        "list_quadruples solve certified_total": (
            "scores/lower_bounds/test_packing.py::test_reaches_the_optimal_packing",
            "scores/lower_bounds/test_packing.py::test_never_above_the_optimal_packing",
        )
    },
    "scores.lower_bounds.quadruple_kernels": {
        "search_all search_triples best_fourth climb": (
            "scores/lower_bounds/test_quadruples.py::test_the_worst_of_all",
            "scores/lower_bounds/test_quadruples.py::test_local_search_finds_the_worst",
        )
    },
    "refinement.largest._soft_move_kernels": {
        "soften": ("refinement/largest/test_linf.py::test_a_point_moves_to_the_best_place_that_scipy_finds",)
    },
    "refinement.sums._sum_kernels": {
        "sum_rows": ("refinement/sums/test_kernels.py::test_sums_are_those_of_plain_numpy",),
        "row_imprecision smooth_row_imprecision": (
            "refinement/sums/test_kernels.py::test_loss_is_that_of_the_definition",
            "refinement/sums/test_kernels.py::test_smooth_loss_of_one_tree_is_that_of_neighborhoods",
        ),
    },
    "scores._precision_kernels": {
        "average_precision": ("scores/test_mean_average_precision.py::test_agrees_with_the_definition",)
    },
    "fitting.treerep._zone_kernels": {
        "finish": (ZONES,),
        "lowest": ("fitting/treerep/test_algorithm.py::test_the_points_of_lowest_priority_are_found",),
        "sort_chunk scatter_chunk grow": (SPLIT,),
        "pick universal_tree": (
            "fitting/treerep/test_algorithm.py::test_blocks_alone_give_the_tree_of_the_twin",
        ),
    },
    "fitting.joining._joining_kernels": {
        "prepare join_closest join_mutual": (
            "fitting/joining/test_joining.py::test_every_join_is_one_that_the_method_allows",
        )
    },
    "fitting.missing._nj_star_kernels": {
        "sum_clusters join_measured": (
            "fitting/missing/test_nj_star.py::test_every_join_is_that_of_the_definition",
        )
    },
    "fitting.evolution._regraft_kernels": {
        "preorder lay_out visit move_all": REGRAFT,
        "seek_kept": (
            "fitting/evolution/test_regraft.py::test_moves_found_from_kept_rows_are_those_of_a_full_search",
        ),
    },
    "fitting.evolution._sides_kernels": {
        "read_tree write_tree": (
            "fitting/evolution/test_regraft.py::test_the_first_tree_is_read_and_written",
        )
    },
    "fitting.rooted._gromov_kernels": {
        "extend dendrogram tree_edges": (LINKAGE,),
        "points_of_clusters": (
            "fitting/rooted/test_linkage.py::test_every_merge_has_a_point_of_each_cluster",
        ),
    },
    "fitting.rooted._construct_tree_kernels": {"find_partner remove_points": (CONSTRUCT,)},
    "fitting.spanning._level_tree_kernels": {
        "layer_parents": ("fitting/spanning/test_level_tree.py::test_clusters_are_those_of_the_definition",)
    },
    "placement.candidates._candidate_kernels": {"find_candidates": PLACEMENTS},
    "placement.candidates._nearest_point_kernels": {"find_nearest_points": PLACEMENTS},
    "fitting.spanning._low_stretch_kernels": {"grow_balls shorten_links add_to_ball": LOW_STRETCH},
    "fitting.random._partition_kernels": {
        "partition_tree": ("fitting/random/test_bartal.py::test_every_tree_equals_its_plain_twin",),
    },
    "fitting.spanning._spanning_kernels": {
        "nearest_in_rows": (
            "fitting/spanning/test_graphs.py::test_neighbors_are_those_of_brute_force_and_shortest_edges_connect_them",
        ),
        "join_points grow_tree": (
            "fitting/spanning/test_minimum_spanning_tree.py::test_equals_are_resolved_as_documented",
            "fitting/spanning/test_minimum_spanning_tree.py::test_no_spanning_tree_of_a_sparse_graph_is_shorter",
            "fitting/spanning/test_bfs.py::test_of_several_shortest_paths_the_last_stop_is_the_smallest",
        ),
    },
    "refinement.moves._move_kernels": {
        "improve sum_of_errors": MOVES,
    },
    "placement._placement_kernels": {
        "find_best_places": (
            "refinement/backbone/test_build.py::test_places_are_as_good_as_those_of_scipy",
            "refinement/backbone/test_build.py::test_places_side_by_side_have_the_bits_of_a_plain_loop",
        ),
    },
    "refinement.lengths._descent_kernels": {
        "dot turn_way": (f"{WEIGHTS}test_turned_ways_are_those_of_plain_numpy",),
    },
    "refinement.backbone._branch_kernels": {
        "join_branches": (
            "refinement/backbone/test_build.py::test_branches_keep_the_heights_of_points_at_nodes",
        ),
    },
    "refinement.lengths._path_sum_kernels": {
        "find_chains": (f"{WEIGHTS}test_splits_are_those_of_the_tree",),
        "row_sums add_down add_up": (
            f"{WEIGHTS}test_row_sums_twin",
            f"{WEIGHTS}test_matches_nnls",
        ),
        "cut_sums": (f"{WEIGHTS}test_cut_sums_twin",),
        "solve_cuts": (f"{WEIGHTS}test_solve_cuts_twin",),
    },
    "refinement.lengths._rank_kernels": {
        "smooth_imprecision": (
            "refinement/lengths/test_neighborhoods.py::test_value_is_that_of_plain_numpy",
        ),
        "imprecision": (
            "refinement/lengths/test_neighborhoods.py::test_without_smoothing_it_is_the_precision_of_the_definition",
        ),
    },
    "refinement.lengths._nearby_kernels": {
        "find_windows loss": ("refinement/lengths/test_nearby.py::test_loss_by_definition",),
        "smooth_loss": ("refinement/lengths/test_nearby.py::test_gradient_by_differences",),
    },
    "tree.operations.state_kernels": {
        "smooth": ("tree/operations/test_states.py::test_conditional_expectation",)
    },
    "embedding.sarkar._coordinate_kernels": {"heavy_children polar_coordinates": FRAMES},
    "embedding.sarkar._direction_kernels": {
        "spread turn_edges": (
            *SARKAR,
            "embedding/sarkar/test_directions.py::test_three_directions_of_least_energy",
            "embedding/sarkar/test_directions.py::test_the_least_angle_is_one",
        )
    },
    "embedding.sarkar._frame_kernels": {"walk_rows": FRAMES},
    "embedding.sarkar._scale_kernels": {"measure_angles worst_path": SARKAR},
}
#: Modules whose functions are inlined into kernels of other modules, and Triton kernels.
INLINED = {
    "refinement.lengths._row_walk_kernels": "distances of a row in a tree: inside row_sums and smooth_imprecision",
    "metric.oracle.sequence_kernels": "distances of sequences: inside `distance`",
    "metric.oracle.character_kernels": "distances of characters: inside `distance`",
    "placement._locate_kernels": "walks and exact places: inside find_candidates",
    "placement.candidates._edge_search_kernels": "the best places on all edges: inside find_candidates",
    "metric.oracle.lane_kernels": "sums over coordinates: inside `distance` and `fill_block`",
    "placement._edge_fit_kernels": "the best place on an edge: inside find_best_places and improve",
    "placement._placement_lane_kernels": "steps of a placement in vectors: inside find_best_places",
    "metric.shortest_paths._row_union_kernels": "unions of rows of bits: inside all_hops",
    "metric.oracle.step_kernels": "frames in hyperbolic space: inside `distance` and embedding.sarkar._frame_kernels",
    "backends.torch.backbone._triton_kernels": "Triton: tests/backends/torch/test_backbone.py",
    "fitting.joining._row_minimum_kernels": "fitting/joining/test_joining.py::test_row_minima_are_those_of_numpy",
}


def judged() -> dict[str, tuple[str, ...]]:
    """Return the tests of each kernel, named like `metric.kernels.pair_distances`."""
    return {
        f"{file}.{kernel}": tests
        for file, rows in TWINS.items()
        for names, tests in rows.items()
        for kernel in names.split()
    }


def in_source() -> dict[str, list[str]]:
    """Return the kernels that each module defines."""
    found = {}
    for path in sorted(PACKAGE.rglob("*kernels.py")):
        functions = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]
        names = [f.name for f in functions if any(ast.unparse(d) == "kernel" for d in f.decorator_list)]
        found[".".join(path.relative_to(PACKAGE).with_suffix("").parts)] = names
    return found


def kernels() -> dict[str, Any]:
    """Return every kernel by its name."""
    names = [name.rpartition(".") for name in judged()]
    return {
        f"{file}.{name}": getattr(importlib.import_module(f"treerep.{file}"), name) for file, _, name in names
    }


def tests() -> list[str]:
    """Return all tests with a reference implementation, without duplicates."""
    inlined = [reason for reason in INLINED.values() if "::" in reason]
    return [
        f"tests/{test}" for test in dict.fromkeys([*(t for ts in judged().values() for t in ts), *inlined])
    ]


def campaign(examples: int = 200) -> Result:
    """Run every test that has a reference implementation on this many examples."""
    with tempfile.TemporaryDirectory(prefix="treerep-harden-") as folder:
        report = Path(folder) / "report.json"
        words = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "harden.examples",
            *tests(),
        ]
        asked = {"HARDEN_EXAMPLES": str(examples), "HARDEN_REPORT": os.fspath(report)}
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            env=environment(**asked),
            cwd=ROOT,
            check=False,
        )
        found = json.loads(report.read_text()) if report.exists() else {"examples": 0, "unused": ["all"]}
    faults = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    faults += [f"{name} was never called" for name in found["unused"]]
    if done.returncode and not faults:
        faults.append(f"pytest ended with {done.returncode}: {done.stdout[-300:]}")
    what = (
        f"{len(judged())} kernels vs reference implementations, {len(tests())} properties with "
        f"{examples:,} examples"
    )
    return Result(what, found["examples"], faults)
