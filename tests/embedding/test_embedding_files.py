"""save and load."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treerep._core.io.archive import write_archive
from treerep.embedding import _embedding_files as storage
from treerep.embedding._embedding_files import load_embedding, save_embedding
from treerep.embedding.embedding import Embedding
from treerep.tree.tree import Tree


def example(**fields: object) -> Embedding:
    return Embedding([[0.6, 0.8], [1.0, 0.0], [0.0, 0.0]], [1.0, 2.0, 0.0], **fields)


@settings(max_examples=25)
@given(
    st.data(),
    st.integers(0, 2**32 - 1),
    st.integers(1, 9),
    st.integers(1, 4),
    st.floats(1e-3, 1e3),
)
def test_round_trip_is_exact(
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
    seed: int,
    nodes: int,
    dim: int,
    scale: float,
) -> None:
    rng = np.random.default_rng(seed)
    n = data.draw(st.integers(1, nodes))
    labels = data.draw(
        st.one_of(st.none(), st.lists(st.text(max_size=5), min_size=n, max_size=n, unique=True))
    )
    vectors = rng.standard_normal((nodes, dim))
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    radii = rng.uniform(0, 9, nodes) * rng.integers(0, 2, nodes)
    embedding = Embedding(units, radii, scale=scale, n_points=n, labels=labels)
    path = tmp_path_factory.mktemp("embeddings") / "e.npz"
    embedding.save(path)
    for read in (Embedding.load(path), load_embedding(str(path))):
        assert type(read) is Embedding
        assert (read.scale, read.n_points, read.labels) == (scale, n, embedding.labels)
        np.testing.assert_array_equal(read.directions, embedding.directions)
        np.testing.assert_array_equal(read.radii, embedding.radii)


class Spun(Embedding):
    """A kind with arrays of its own: embeddings in the plane by angle."""

    def __init__(self, angles, radii, **fields):
        self.angles = np.asarray(angles)
        super().__init__(np.column_stack([np.cos(angles), np.sin(angles)]), radii, **fields)

    def _fields(self):
        return {"angles": self.angles, "radii": self.radii}


def test_a_subclass_names_its_fields(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spun = Spun([0.5, 2.0], [1.0, 3.0], scale=2.0, labels="ab")
    with pytest.raises(TypeError, match="cannot save a Spun: only Embedding"):
        save_embedding(spun, tmp_path / "s.npz")
    monkeypatch.setitem(storage._KINDS, "Spun", "embedding")
    monkeypatch.setattr("treerep.embedding.embedding.Spun", Spun, raising=False)
    save_embedding(spun, tmp_path / "s.npz")
    read = load_embedding(tmp_path / "s.npz")
    assert (
        type(read) is Spun
        and read.angles.tolist() == [0.5, 2.0]
        and read.labels == ("a", "b")
        and read.scale == 2
    )


def test_no_pickle_inside(tmp_path: Path) -> None:
    example(labels=["a", "a\x00", "\u00e9"]).save(tmp_path / "e.npz")
    with np.load(tmp_path / "e.npz", allow_pickle=False) as archive:
        kinds = {name: archive[name].dtype.kind for name in archive}
    assert kinds == {"header": "u", "directions": "f", "radii": "f", "labels": "u"}
    assert Embedding.load(tmp_path / "e.npz").labels == ("a", "a\x00", "\u00e9")


@pytest.mark.parametrize("name", ["e.json", "e", "e.npy"])
def test_unknown_suffix(tmp_path: Path, name: str) -> None:
    for act in (example().save, Embedding.load):
        with pytest.raises(ValueError, match="cannot save an embedding as"):
            act(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Embedding.load(tmp_path / "none.npz")


@pytest.mark.parametrize("kept", [0.0, 0.2, 0.6, 0.95])
def test_a_file_cut_short(tmp_path: Path, kept: float) -> None:
    path = tmp_path / "e.npz"
    example(labels="abc").save(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(
        ValueError,
        match="e.npz cannot be read: it is not an embedding file, or it is truncated",
    ) as error:
        Embedding.load(path)
    assert "\n" not in str(error.value)


@settings(max_examples=60)
@given(st.data())
def test_a_changed_byte_never_surprises(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "e.npz"
    example(labels="abc").save(path)
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    said = None
    try:
        read = Embedding.load(path)
    except ValueError as error:
        said = str(error)
    if said is None:  # a byte that means nothing, such as a date
        np.testing.assert_array_equal(read.radii, example().radii)
    else:
        assert "e.npz" in said and "\n" not in said


HEADER = {
    "format": "treerep embedding",
    "version": 1,
    "kind": "Embedding",
    "n_points": 1,
    "scale": 1.0,
}
FIELDS = {"directions": np.array([[1.0]]), "radii": np.array([1.0]), "labels": None}


@pytest.mark.parametrize(
    ("header", "fields", "message"),
    [
        ({"format": "other"}, {}, "was not written by Embedding.save"),
        ({"version": 2}, {}, "has version 2, but this treerep reads version 1"),
        ({"kind": "Torus"}, {}, "holds an embedding of unknown kind 'Torus'"),
        ({"kind": ["Torus"]}, {}, "holds an embedding of unknown kind"),
        ({"scale": -1.0}, {}, "is damaged: scale must be a positive number, not -1.0"),
        ({"n_points": 3}, {}, "is damaged: n_points=3 does not match 1 nodes"),
        ({"extra": 3}, {}, "is damaged"),
        ({}, {"radii": np.array([-1.0])}, "is damaged: node 0 has radius -1.0"),
        ({}, {"labels": "a"}, "is damaged: labels is not a list"),
        ({}, {"labels": ["a", "b"]}, "is damaged: 2 labels were given for 1 points"),
    ],
)
def test_other_contents(tmp_path: Path, header: dict, fields: dict, message: str) -> None:
    write_archive(tmp_path / "e.npz", {**HEADER, **header}, {**FIELDS, **fields})
    with pytest.raises(ValueError, match=message) as error:
        load_embedding(tmp_path / "e.npz")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("missing", ["kind", "n_points", "scale", "directions", "labels"])
def test_missing_parts(tmp_path: Path, missing: str) -> None:
    header, fields = ({k: v for k, v in part.items() if k != missing} for part in (HEADER, FIELDS))
    write_archive(tmp_path / "e.npz", header, fields)
    with pytest.raises(ValueError, match=f"(is damaged|cannot be read).*{missing}"):
        load_embedding(tmp_path / "e.npz")


def test_other_archives(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    with (tmp_path / "array.npz").open("wb") as file:
        np.save(file, np.arange(3))
    for name in ("other.npz", "array.npz"):
        with pytest.raises(ValueError, match=f"{name} cannot be read: it is not an embedding file"):
            Embedding.load(tmp_path / name)
    Tree(2, [[0, 1]], [1.0]).save(tmp_path / "tree.npz")
    with pytest.raises(ValueError, match="tree.npz was not written by Embedding.save"):
        Embedding.load(tmp_path / "tree.npz")
    example().save(tmp_path / "e.npz")
    with pytest.raises(ValueError, match="e.npz was not written by Tree.save"):
        Tree.load(tmp_path / "e.npz")


def test_an_earlier_file_survives_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "e.npz"
    example(scale=3.0).save(path)

    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="disk full"):
        example().save(path)
    assert Embedding.load(path).scale == 3.0
    assert [file.name for file in tmp_path.iterdir()] == ["e.npz"]
