"""The counts of `release/measure.py`."""

from pathlib import Path

import pytest

from release.measure import count_tokens, files_entered, python_size, script_size

SMALL = '''\
"""A docstring does not count."""

from typing import Any


def add(a: int, b: Any) -> int:
    """Nor does this one."""
    x, y = a, b  # a comment does not count
    "a string does"
    return x + y
'''


def test_a_small_file_by_hand(tmp_path):
    # from typing import Any: 4; def ... -> int: 14; x, y = a, b: 7; the string: 1; return x + y: 4.
    assert count_tokens(SMALL) == 30
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "small.py").write_text(SMALL)
    (tmp_path / "empty.py").touch()
    assert python_size(tmp_path) == (2, 10, 30)


def test_line_breaks_do_not_count():
    assert count_tokens("x = (\n    1\n    + 2\n)\n") == count_tokens("x = (1 + 2)\n")


def test_bundles_are_left_out(tmp_path):
    folder = tmp_path / "page" / "src"
    folder.mkdir(parents=True)
    (folder / "view.ts").write_text("const a = 1;\nconst b = 2;\n")
    (folder / "bundle.js").write_text("x" * 5000)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "tree.mjs").write_text("export {};\n")
    assert script_size(tmp_path) == (2, 3)


def test_files_of_the_second_call_are_entered():
    here = Path(__file__)
    first = []

    def call():
        if first:
            return inner()
        return first.append(count_tokens("1"))  # of another file, and only in the first call

    def inner():
        return 1

    assert files_entered(call, here.parent) == [here.name]
    assert files_entered(call, here.parent / "elsewhere") == []
    with pytest.raises(ZeroDivisionError):
        files_entered(lambda: 1 / 0, here.parent)
