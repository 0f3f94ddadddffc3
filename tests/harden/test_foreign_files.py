"""The table of files of other projects that are read."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harden import foreign_files
from harden.common import ROOT, environment

JPLACE = (
    '{{"tree": "(a:1{{0}},b:{length}{{1}});", "placements": [{{"p": [[{edge}, 1, 0, 0]], "n": ["q"]}}],'
    ' "fields": ["edge_num", "like_weight_ratio", "distal_length", "pendant_length"]}}'
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.jplace").write_text(JPLACE.format(length=1, edge=1))
    (tmp_path / "deep" / "b.jplace").write_text(JPLACE.format(length=-1, edge=1))
    (tmp_path / "deep" / "c.jplace").write_text(JPLACE.format(length=1, edge=7))
    (tmp_path / "deep" / "d.JPLACE").write_text(JPLACE.format(length=1, edge=8))
    (tmp_path / "tree.nwk").write_text("(a:1,b);")
    (tmp_path / "bad.nex").write_text("(a:1,b:1);")
    return tmp_path


def _table(path: Path, reader: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "harden.foreign_files", reader, f"one={path}"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=environment(),
    )
    return done.stdout.splitlines()


def test_the_table_counts_equal_faults_together(project: Path) -> None:
    _, _, row, *lines = _table(project, "placements")
    fault = "edge_num is ..., which is not the number of an edge of the tree"
    assert row == f"| one | 4 | 1 | 1 | 2: 2 x {fault} |"
    assert lines[0] == "one: deep/b.jplace: needs negative_lengths"
    assert lines[1].startswith("one: deep/c.jplace: placement 0 ('q'): edge_num is 7, which")
    assert len(lines) == 3
    _, _, row, *lines = _table(project, "trees")
    assert row.startswith("| one | 2 | 0 | 1 | 1: 1 x ")
    assert lines[1] == "one: tree.nwk: needs default_length"


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_directories_are_read_without_a_work_tree(project: Path) -> None:
    name = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "-A"), (*name, "commit", "-q", "-m", "x")):
        subprocess.run(["git", *words], cwd=project, check=True)
    suffixes = (".jplace",)
    committed = list(foreign_files.contents(project / ".git", suffixes))
    (project / "a.jplace").unlink()
    assert list(foreign_files.contents(project / ".git", suffixes)) == committed
    assert [name for name, _ in committed] == [
        "a.jplace",
        "deep/b.jplace",
        "deep/c.jplace",
        "deep/d.JPLACE",
    ]
