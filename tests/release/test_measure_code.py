"""The counts of `release/measure_code.py`, and the bounds that the source keeps."""

from pathlib import Path

import treerep
from release.measure_code import measure, summarize

SOURCE = Path(treerep.__file__).parent

SMALL = """\
\"\"\"A docstring does not count.\"\"\"

from typing import Any


def add(a: int, b: Any) -> int:
    x, y = a, b  # parallel
    x, y = y, x  # a swap
    return x + y
"""


def test_a_small_file_by_hand(tmp_path):
    path = tmp_path / "small.py"
    path.write_text(SMALL, encoding="utf-8")
    found = measure(path)
    # from typing import Any: 4; def ... -> int: 14; the two assignments: 7 each; return: 4.
    assert found.tokens_of_lines == [4, 14, 7, 7, 4]
    assert (found.parallel, found.wide_parallel) == (1, 0)
    assert (found.annotations, found.bare_any) == (3, 1)
    assert found.function_lengths == [4]
    assert (found.lines, found.comments, found.docstring_lines) == (9, 2, 1)


def test_the_source_stays_readable():
    found = summarize(SOURCE)
    assert found.tokens_per_line <= 9
    assert found.parallel_per_1000 <= 5
    assert found.any_percent < 5
    assert found.fullest_folder[1] <= 15
    assert found.longest_file <= 600
