"""Published numbers of Sonthalia and Gilbert, Tree! I am no Tree! I am a Low Dimensional Hyperbolic Embedding, 2020.

A cell is None if the method failed or took more than four hours.
"""

Row = dict[str, float | None]


def _table(text: str) -> dict[str, Row]:
    """Read rows of numbers under a line of column names."""
    head, *lines = (line.split() for line in text.strip().splitlines())
    return {
        name: {column: None if cell == "-" else float(cell) for column, cell in zip(head, cells, strict=True)}
        for name, *cells in lines
    }


#: Table 1, seconds by the number of points.
RECONSTRUCTION = _table("""
      11    40     89     191    362  817  1611
tr    0.053 0.23   0.0017 0.0039 0.02 0.08 0.12
nj    0.084 0.0016 0.0067 0.036  0.18 1.7  15
""")

#: Table 2, mean seconds for 100 random points of hyperbolic space. (The text says 917 for LM, the table 971.)
RANDOM_POINTS: Row = {
    "tr": 0.002,
    "nj": 0.06,
    "mst": 0.0001,
    "ls": 0.002,
    "ct": 0.076,
    "pt": 312,
    "lm": 971,
    "hmds": 11.7,
    "hmds2": 0.008,
}

#: Table 3. Over four hours: infinity for the time, None for the distortion.
CELLS_SECONDS = {
    "zeisel": {
        "tr": 0.36,
        "nj": 122.2,
        "mst": 0.11,
        "ls": 7.2,
        "ct": float("inf"),
        "pt2": 8507,
        "pm2": 12342,
    },
    "cbmc": {"tr": 2.8, "nj": float("inf"), "mst": 0.55, "ls": 30},
}
CELLS_DISTORTION: dict[str, Row] = {
    "zeisel": {
        "tr": 0.117,
        "nj": 0.144,
        "mst": 0.365,
        "ls": 0.250,
        "ct": None,
        "pt2": 0.531,
        "pm2": 0.294,
    },
    "cbmc": {"tr": 0.260, "nj": None, "mst": 1.09, "ls": 1.45},
}

#: Table 4, and its extension in the appendix.
GRAPH_MAP = _table("""
          tr    nj    mst   lt    ct    ls    bartal pt2   pt200 pm2   lm2   lm200 pm200
celegans  0.473 0.713 0.337 0.272 0.447 0.313 0.436  0.098 0.857 0.479 0.466 0.646 0.662
diseasome 0.895 0.962 0.789 0.725 0.815 0.785 0.610  0.392 0.868 0.799 0.781 0.874 0.886
csphd     0.979 0.993 0.991 0.964 0.807 0.991 0.190  0.190 0.556 0.537 0.537 0.593 0.593
yeast     0.815 0.892 0.871 0.742 0.859 0.873 -      0.235 0.658 0.522 0.513 0.641 0.643
grid_worm 0.707 0.800 0.768 0.657 -     0.766 -      -     -     0.334 0.306 0.558 0.553
grqc      0.685 0.862 0.686 0.480 -     0.684 -      -     -     0.589 0.603 0.783 0.784
enron     0.570 -     0.524 -     -     0.523 -      -     -     -     -     -     -
wordnet   0.984 -     0.989 -     -     0.989 -      -     -     -     -     -     -
""")
GRAPH_DISTORTION = _table("""
          tr    nj    mst   lt    ct    ls    bartal pt2   pt200 pm2   lm2   lm200 pm200
celegans  0.197 0.124 0.255 0.166 0.325 0.353 0.220  0.236 0.096 0.236 0.249 0.224 0.211
diseasome 0.188 0.161 0.161 0.157 0.315 0.228 0.330  0.227 0.05  0.323 0.328 0.335 0.332
csphd     0.204 0.134 0.298 0.161 0.282 0.291 0.326  0.295 0.105 0.374 0.378 0.378 0.380
yeast     0.205 0.149 0.243 0.243 0.282 0.243 -      0.230 0.089 0.246 0.248 0.234 0.234
grid_worm 0.188 0.135 0.171 0.202 -     0.234 -      -     -     0.196 0.203 0.192 0.193
grqc      0.192 0.200 0.275 0.267 -     0.206 -      -     -     0.212 0.198 0.193 0.193
enron     0.453 -     0.607 -     -     0.562 -      -     -     -     -     -     -
wordnet   0.131 -     0.336 -     -     0.071 -      -     -     -     -     -     -
""")
GRAPH_SECONDS = _table("""
          tr    nj   mst    lt    ct    ls    bartal pt2  pt200 pm2  lm2  lm200 pm200
celegans  0.014 0.28 0.0002 0.086 0.9   0.001 226    573  1156  712  523  1578  1927
diseasome 0.017 0.41 0.0003 0.39  15.76 0.001 313    678  1479  414  365  978   1112
csphd     0.037 2.94 0.0007 1.97  226   0.006 3559   1607 4145  467  324  768   1149
yeast     0.057 8.04 0.0008 8.21  957   0.001 -      9526 17876 972  619  1334  2269
grid_worm 0.731 163  0.001  191   -     0.007 -      -    -     2645 1973 4674  5593
grqc      0.42  311  0.0014 70.9  -     0.006 -      -    -     7524 7217 9767  1187
enron     27    -    0.013  -     -     0.13  -      -    -     -    -    -     -
wordnet   74    -    0.18   -     -     0.08  -      -    -     -    -    -     -
""")
#: Hyperbolicity divided by the diameter; an upper bound for the graphs of BOUNDED.
GRAPH_DELTA = {
    "celegans": 0.21,
    "diseasome": 0.17,
    "csphd": 0.23,
    "yeast": 0.32,
    "grid_worm": 0.38,
    "grqc": 0.36,
}
BOUNDED = ("yeast", "grid_worm", "grqc")
GRAPH_SIZE = {
    "celegans": (452, 2024),
    "diseasome": (516, 1188),
    "csphd": (1025, 1043),
    "yeast": (1458, 1948),
    "grid_worm": (3337, 6421),
    "grqc": (4158, 13422),
    "enron": (33695, 180810),
    "wordnet": (74374, 75834),
}

#: Appendix, the best of 20 trees: without optimization, with the heuristic, with full
#: optimization.
BEST_MAP = _table("""
          none  heuristic full
celegans  0.508 0.539     0.547
diseasome 0.912 0.911     0.890
csphd     0.987 0.984     0.968
yeast     0.841 0.833     0.808
grid_worm 0.727 0.728     -
grqc      0.699 0.694     -
""")
BEST_DISTORTION = _table("""
          none  heuristic full
celegans  0.173 0.138     0.119
diseasome 0.134 0.106     0.092
csphd     0.134 0.119     0.121
yeast     0.171 0.150     0.135
grid_worm 0.154 0.125     -
grqc      0.175 0.152     -
""")

#: Appendix, the heuristic for TreeRep and for the minimum spanning tree.
HEURISTIC_SECONDS = {
    "celegans": 0.69,
    "diseasome": 1.56,
    "csphd": 1.2,
    "yeast": 4.2,
    "grid_worm": 32.0,
    "grqc": 68.0,
}
HEURISTIC_DISTORTION = _table("""
          tr    mst
celegans  0.157 0.195
diseasome 0.121 0.111
csphd     0.152 0.170
yeast     0.163 0.171
grid_worm 0.164 0.151
grqc      0.157 0.159
""")
HEURISTIC_MAP = _table("""
          tr    mst
celegans  0.504 0.357
diseasome 0.891 0.774
csphd     0.971 0.989
yeast     0.813 0.862
grid_worm 0.707 0.768
grqc      0.676 0.669
""")
