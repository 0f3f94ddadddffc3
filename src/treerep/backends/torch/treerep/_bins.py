"""Codes of zones, bins and pivot rules, as in fitting/treerep/_zone_kernels.py.

That file cannot be imported without numba, which a device does not need.
"""

# Kinds of zones.
DUPLICATES = 0  # duplicates of the node a
ON_NODE = 1  # attached to the node a
ON_EDGE = 2  # attached to the edge (a, b)

# Bins of a step, in memory order. Z1[q] is attached to the node q, and Z2[q] = Z1[q] + 3 to the
# edge from q to r.
Z1_R = 0
Z1_X = 1
Z1_Y = 2
Z1_Z = 3
Z2_X = 4
Z2_Y = 5
Z2_Z = 6
TWIN_Y = 7  # at distance 0 from the new pivot y ...
TWIN_Z = 8  # ... or z
BINS = 9
COULD_BE_R = 9  # at the position of r: the first such point becomes r, the others go to Z1[r]
GONE = 10  # a pivot, or the point that became r

# Rules that choose the pivot of a zone on an edge; 0 chooses the point closest to b.
RANDOM = 1
NEAR = 2
