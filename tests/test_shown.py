"""The comparison of documented with printed lines finds what is wrong, and forgives what another CPU rounds."""

import pytest

from tests.shown import is_printed


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("8 points, distortion 0.0286, 0.35 s", "8 points, distortion 0.0286, 12.1 s"),
        ("distortion 0.0286", "distortion 0.02861"),
        ("dog,-0.80537…,-0.25538…", "dog,-0.8053760390100514,-0.2553831364281528"),
        ("dog,-0.80537…", "dog,-0.8053699999999"),
        (
            '{"points": 8, …, "newick": "(dog:25.2…,…);"}',
            '{"points": 8, "a": 1, "newick": "(dog:25.25,cat:1);"}',
        ),
        ("page.html: 8 points, 84 kB; open it", "page.html: 8 points, 91 kB; open it"),
        ("dog 0.0 36.0", "dog 0.0 36.00000000000001 48.0"),
        ("scale 1.5e-07", "scale 1.5e-07"),
    ],
)
def test_alike(shown: str, printed: str) -> None:
    assert is_printed(shown, f"before\n{printed}\nbehind")


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("8 points, distortion 0.0286", "9 points, distortion 0.0286"),
        ("distortion 0.0286", "distortion 0.02863"),
        ("distortion 0.0286", "distortion -0.0286"),
        ("dog,-0.80537…", "dog,-0.80535"),
        ("dog,-0.80537…", "cat,-0.80537"),
        ("dog 0.0 36.0", "dog 0.1 36.0"),
        ("0.35 s", "0.35 kB"),
        ("page.html: 84 kB", "page.html: 94 kB"),
        ('"points": 8, …, "nodes": 14', '"points": 8\n"nodes": 14'),
        ("average distortion", ""),
    ],
)
def test_not_alike(shown: str, printed: str) -> None:
    assert not is_printed(shown, printed)
