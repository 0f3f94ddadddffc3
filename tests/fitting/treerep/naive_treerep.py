"""TreeRep as the paper writes it, in plain Python on a dense matrix: the twin that the compiled engine must equal.

Follows Algorithms 3 and 4 of the appendix line by line, with lists for zones and dictionaries for distances to pivots.
Random choices are made by priority, as the package defines them.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

Edge = tuple[int, int, float]


def treerep(
    d: np.ndarray,
    priority: Sequence[int],
    tol: float,
    rule: str = "random",
    needed: Callable[[Iterable[bool]], bool] = all,
) -> list[Edge]:
    """Edges (u, v, length) of the tree of d; the Steiner node of a step with last pivot z is called n + z.

    `needed` says whether both Gromov products have to agree for a point to hang off a pivot (`all`, the paper's
    definition and ours) or one of them (`any`, the paper's pseudo-code).
    """
    n = len(d)
    by_priority = sorted(range(n), key=lambda point: priority[point])
    first, rest = by_priority[0], by_priority[1:]
    edges: list[Edge] = []
    if n == 1:
        return edges
    # (kind, node a, node b, length a-b, points by priority, distances to a, distances to b)
    tasks: list[tuple] = [(1, first, None, None, rest, {w: d[first, w] for w in rest}, None)]
    while tasks:
        kind, x, b, xy, points, to_x, to_b = tasks.pop()
        if kind == 1 and len(points) == 1:
            edges.append((x, points[0], to_x[points[0]]))
            continue
        if kind == 1:
            y, z = points[:2]
            xy, yz = to_x[y], d[y, z]
            to_y = {w: d[y, w] for w in points}
            points = points[2:]
        else:
            candidates = {"random": points[:1], "near": points[:4], "closest": points}[rule]
            y, z = b, min(candidates, key=lambda w: to_b[w])
            yz, to_y = to_b[z], to_b
            points = [w for w in points if w != z]
        xz, to_z = to_x[z], {w: d[z, w] for w in points}
        new_edges, new_tasks = step(x, y, z, (xy, xz, yz), points, (to_x, to_y, to_z), kind, n, tol, needed)
        edges += new_edges
        tasks += new_tasks
    return edges


def step(x, y, z, lengths, points, to, kind, n, tol, needed):  # type: ignore[no-untyped-def]
    """One universal tree: sort the points into the seven zones around it."""
    xy, xz, yz = lengths
    to_x, to_y, to_z = to
    arms = {x: 0.5 * (xy + xz - yz), y: 0.5 * (xy + yz - xz), z: 0.5 * (xz + yz - xy)}
    r = next((pivot for pivot in (x, y, z) if arms[pivot] < tol), None)
    if r is not None:
        arms = {
            x: {y: xy, z: xz, x: 0.0},
            y: {x: xy, z: yz, y: 0.0},
            z: {x: xz, y: yz, z: 0.0},
        }[r]
    contracted = r is not None
    zone1: dict = {"r": [], x: [], y: [], z: []}
    zone2: dict = {x: [], y: [], z: []}
    to_r, edges = {}, []
    for w in points:  # by priority: the first that can become r does
        if to_z[w] < tol:
            edges.append((z, w, to_z[w]))
            continue
        if kind == 1 and to_y[w] < tol:
            edges.append((y, w, to_y[w]))
            continue
        a = 0.5 * (to_x[w] + to_y[w] - xy)
        b = 0.5 * (to_y[w] + to_z[w] - yz)
        c = 0.5 * (to_z[w] + to_x[w] - xz)
        if abs(a - b) < tol and abs(b - c) < tol and abs(a - c) < tol:
            if max(a, b, c) < tol and r is None:
                r = w
            else:
                zone1["r"].append(w)
                to_r[w] = (a + b + c) / 3.0
            continue
        largest = max(a, b, c)
        if a == largest:
            q, d_q, others = z, to_z[w], (b, c)
        elif b == largest:
            q, d_q, others = x, to_x[w], (a, c)
        else:
            q, d_q, others = y, to_y[w], (a, b)
        to_r[w] = largest
        # Definition 4: (q, .)_w = (q, ..)_w = d(w, q)
        (zone1 if needed(abs(d_q - other) < tol for other in others) else zone2)[q].append(w)
    if r is None:
        r = n + z
    tasks = []
    if zone1["r"]:
        tasks.append((1, r, None, None, zone1["r"], to_r, None))
    for q, to_q in ((x, to_x), (y, to_y), (z, to_z)):
        if zone1[q]:
            tasks.append((1, q, None, None, zone1[q], to_q, None))
        if zone2[q] and contracted and q == r:
            tasks.append((1, r, None, None, zone2[q], to_r, None))
        elif zone2[q]:
            tasks.append((2, q, r, arms[q], zone2[q], to_q, to_r))
        elif q != r:
            edges.append((q, r, arms[q]))
    return edges, tasks
