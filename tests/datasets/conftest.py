"""A machine without data sets, and small ones to put on it."""

import importlib
from importlib.machinery import PathFinder
from importlib.util import find_spec

import pytest

from treerep.datasets import _finding as finding
from treerep.datasets._catalog import CATALOG
from treerep.datasets._finding import cache_folder


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """A machine that has no data sets, nor packages that bring some but our own; the folder of its cache."""
    monkeypatch.delenv("TREEREP_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def only_ours(name):
        return (
            find_spec(name)
            if name.startswith("treerep")
            else PathFinder.find_spec(name, [str(tmp_path / "site")])
        )

    monkeypatch.setattr(finding, "find_spec", only_ours)
    folder = cache_folder()
    assert folder.is_relative_to(tmp_path)
    return folder


@pytest.fixture
def small(monkeypatch):
    """Let every data set be of any size, so that a test may write its own."""

    def shrink(name, points, size):
        monkeypatch.setitem(CATALOG, name, CATALOG[name]._replace(points=points, size=size))

    return shrink


@pytest.fixture
def package(monkeypatch, tmp_path):
    """Make a package that can be found, and return a function that says where its files belong."""

    def make(name):
        folder = tmp_path / "site" / name
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(
            "raise AssertionError('data is read without importing the package')"
        )
        monkeypatch.syspath_prepend(tmp_path / "site")
        importlib.invalidate_caches()
        return folder

    return make
