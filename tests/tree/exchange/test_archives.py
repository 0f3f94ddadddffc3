"""save and load."""

import errno
import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treerep.embedding.embedding import Embedding
from treerep.tree.tree import Tree

from ..strategies import trees


@settings(max_examples=25)
@given(trees(), st.data())
@pytest.mark.parametrize("suffix", [".npz", ".json", ".NPZ"])
def test_round_trip_is_exact(
    suffix: str, tmp_path_factory: pytest.TempPathFactory, tree: Tree, data: st.DataObject
) -> None:
    n = len(tree)
    labels = data.draw(
        st.one_of(st.none(), st.lists(st.text(max_size=5), min_size=n, max_size=n, unique=True))
    )
    path = tmp_path_factory.mktemp("trees") / f"tree{suffix}"
    named = Tree(n, tree.edges, tree.weights, labels)
    named.save(path)
    assert Tree.load(path) == named
    assert Tree.load(str(path)) == named


def test_zero_characters_survive(tmp_path: Path) -> None:
    tree = Tree(2, [[0, 1]], [1.0], labels=["a", "a\x00"])
    for name in ("t.npz", "t.json"):
        tree.save(tmp_path / name)
        assert Tree.load(tmp_path / name) == tree


def test_no_pickle_inside(tmp_path: Path) -> None:
    Tree(2, [[0, 1]], [1.0], labels="ab").save(tmp_path / "t.npz")
    with np.load(tmp_path / "t.npz", allow_pickle=False) as archive:
        assert {name: archive[name].dtype.kind for name in archive} == {
            "header": "u",
            "edges": "i",
            "weights": "f",
            "labels": "u",
        }


@pytest.mark.parametrize("name", ["tree.nwk", "tree", "tree.npy"])
def test_unknown_suffix(tmp_path: Path, name: str) -> None:
    for act in (Tree(1, [], []).save, Tree.load):
        with pytest.raises(ValueError, match=r"trees are saved as .npz or .json, not"):
            act(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Tree.load(tmp_path / "none.npz")


@pytest.mark.parametrize("suffix", ["npz", "json"])
@pytest.mark.parametrize("kept", [0.0, 0.2, 0.6, 0.95])
def test_a_file_cut_short(tmp_path: Path, suffix: str, kept: float) -> None:
    path = tmp_path / f"tree.{suffix}"
    Tree(3, [[0, 1], [1, 2]], [1.0, 2.0], labels="abc").save(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(
        ValueError, match="tree.* cannot be read: it is not a tree file, or it is truncated"
    ) as error:
        Tree.load(path)
    assert "\n" not in str(error.value)


def fields(**changes: object) -> dict[str, object]:
    good = {
        "format": "treerep tree",
        "version": 1,
        "n_points": 2,
        "labels": None,
        "edges": [[0, 1]],
        "weights": [1.0],
    }
    return {**good, **changes}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([1, 2], "was not written by Tree.save"),
        ({"nodes": []}, "was not written by Tree.save"),
        (fields(version=2), "has version 2, but this treerep reads version 1"),
        ({k: v for k, v in fields().items() if k != "edges"}, "is damaged: edges is missing"),
        (fields(edges=[[0, 0]]), r"is damaged: the edges do not form a tree: edge 0 \(0, 0\)"),
        (fields(weights=[-1.0]), "is damaged: edge 0 .* has weight -1"),
        (fields(weights="no"), "is damaged"),
        (fields(n_points="2"), "is damaged: n_points must be a whole number"),
        (fields(labels="ab"), "is damaged: labels is not a list"),
        (fields(labels=["a"]), "is damaged: 1 labels were given for 2 points"),
    ],
)
def test_other_files(tmp_path: Path, content: object, message: str) -> None:
    path = tmp_path / "tree.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message) as error:
        Tree.load(path)
    assert "\n" not in str(error.value)


def test_other_archives(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    with pytest.raises(ValueError, match="other.npz cannot be read"):
        Tree.load(tmp_path / "other.npz")
    with (tmp_path / "array.npz").open("wb") as file:
        np.save(file, np.arange(3))
    with pytest.raises(ValueError, match="array.npz cannot be read"):
        Tree.load(tmp_path / "array.npz")


def test_an_earlier_file_survives_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tree.npz"
    Tree(2, [[0, 1]], [1.0]).save(path)

    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="disk full"):
        Tree(2, [[0, 1]], [2.0]).save(path)
    assert Tree.load(path).weights.tolist() == [1.0]
    assert [file.name for file in tmp_path.iterdir()] == ["tree.npz"]


@pytest.mark.parametrize("header", [b"[1, 2]", b"not JSON", b"{}"])
def test_archives_with_another_header(tmp_path, header):
    np.savez(
        tmp_path / "t.npz",
        header=np.frombuffer(header, np.uint8),
        labels=np.frombuffer(b"null", np.uint8),
    )
    with pytest.raises(ValueError, match="t.npz"):
        Tree.load(tmp_path / "t.npz")


def with_members(path: Path, **changed: bytes) -> None:
    """Put other members into the archive of a tree."""
    Tree(2, [[0, 1]], [1.0], labels="ab").save(path)
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in {
            **members,
            **{f"{name}.npy": content for name, content in changed.items()},
        }.items():
            file.writestr(name, content)


def packed(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """20 MB are said to be available, and no test here may take as much."""
    monkeypatch.setattr("treerep._core.memory.available_memory", lambda: 20_000_000)
    tracemalloc.start()
    yield
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


def test_members_that_are_not_ours_are_not_read(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    with_members(tmp_path / "t.npz", bomb=packed(np.zeros(5_000_000)), notes=b"not an array")
    assert (tmp_path / "t.npz").stat().st_size < 100_000
    request.getfixturevalue("little_memory")
    assert Tree.load(tmp_path / "t.npz").labels == ("a", "b")


@pytest.mark.parametrize("load", [Tree.load, Embedding.load], ids=["tree", "embedding"])
@pytest.mark.parametrize("name", ["edges", "weights", "support", "labels", "header"])
def test_members_that_do_not_fit_into_memory(
    tmp_path: Path, request: pytest.FixtureRequest, load: Callable[[Path], object], name: str
) -> None:
    with_members(tmp_path / "t.npz", **{name: packed(np.zeros(5_000_000))})
    request.getfixturevalue("little_memory")
    with pytest.raises(
        MemoryError,
        match=r"t\.npz: its content needs 0\.1 GiB of memory, but .*: use a machine",
    ) as error:
        load(tmp_path / "t.npz")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text", [b"[" + b"{}," * 1_000_000 + b"0]", b'["' + "\N{FISH}".encode() * 1_700_000 + b'"]']
)
def test_texts_that_would_grow_beyond_memory(
    tmp_path: Path, request: pytest.FixtureRequest, text: bytes
) -> None:
    with_members(tmp_path / "t.npz", labels=packed(np.frombuffer(text, np.uint8)))
    (tmp_path / "t.json").write_bytes(text)
    del text
    request.getfixturevalue("little_memory")
    for name in ("t.json", "t.npz"):
        with pytest.raises(MemoryError, match=f"{name}: .* needs 0.[0-9] GiB of memory"):
            Tree.load(tmp_path / name)


def test_a_header_that_claims_more_than_there_is(tmp_path: Path) -> None:
    claims = packed(np.zeros((10, 2))).replace(b"(10, 2)", b"(1" + b"0" * 12 + b", 2)")
    with_members(tmp_path / "t.npz", edges=claims)
    with pytest.raises(
        ValueError,
        match="t.npz cannot be read: .* more than the file has: the file is truncated",
    ):
        Tree.load(tmp_path / "t.npz")


def test_other_methods_of_compression_are_refused(tmp_path: Path) -> None:
    Tree(2, [[0, 1]], [1.0]).save(tmp_path / "t.npz")
    with zipfile.ZipFile(tmp_path / "t.npz") as file:
        members = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(tmp_path / "t.npz", "w", zipfile.ZIP_BZIP2) as file:
        for name, content in members.items():
            file.writestr(name, content)
    with pytest.raises(
        ValueError,
        match="t.npz cannot be read: .*uses a compression method that treerep does not write",
    ):
        Tree.load(tmp_path / "t.npz")


def test_a_failing_disk_is_not_blamed_on_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Tree(2, [[0, 1]], [1.0]).save(tmp_path / "t.npz")

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("treerep._core.io.archive.read_array", fail)
    with pytest.raises(OSError, match="Input/output error"):
        Tree.load(tmp_path / "t.npz")


def test_a_member_whose_header_is_no_python(tmp_path):
    # NumPy reads such headers as Python, and raises what Python's tokenizer does.
    Tree(2, [[0, 1]], [1.0]).save(tmp_path / "t.npz")
    with zipfile.ZipFile(tmp_path / "t.npz") as file:
        members = {name: file.read(name) for name in file.namelist()}
    members["edges.npy"] = members["edges.npy"].replace(b"False", b"Fa[[[")
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    with pytest.raises(ValueError, match="t.npz cannot be read: it is not a tree file, or it is truncated"):
        Tree.load(tmp_path / "t.npz")


@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_support_is_kept_as_it_was_written(tmp_path: Path, suffix: str) -> None:
    tree = Tree.from_newick("((a:1.0,b:1.0)98.7/100:1.0,(c:1.0,d:2.0)80:1.0);")
    tree.save(tmp_path / f"tree{suffix}")
    assert Tree.load(tmp_path / f"tree{suffix}").newick() == tree.newick()


def test_damaged_support_texts(tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    Tree.from_newick("((a:1,b:1)95:1,c:2);").save(path)
    fields = json.loads(path.read_text())
    for texts in (["95"], [1] * len(fields["edges"]), "95"):
        path.write_text(json.dumps({**fields, "support_text": texts}))
        with pytest.raises(ValueError, match="support_text must have a text for each edge"):
            Tree.load(path)
