"""The counts of `release/measure_code.py`."""

from release.measure_code import measure

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
