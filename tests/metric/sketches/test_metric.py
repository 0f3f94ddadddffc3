"""Sketches: by hand, against exact Jaccard indices and against Mash, properties, files, errors."""

import gzip
import pickle
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr

PAIR = str.maketrans("ACGT", "TGCA")
DNA = st.text("ACGT", min_size=1, max_size=80)
LONG = st.text("ACGT", min_size=30, max_size=80)


def reverse_complement(text: str) -> str:
    return text[::-1].translate(PAIR)


def kmers(text: str, k: int) -> set[str]:
    """Return the canonical k-mers of a genome. N ends a k-mer."""
    found = set()
    for part in text.split("N"):
        for p in range(len(part) - k + 1):
            word = part[p : p + k]
            found.add(min(word, reverse_complement(word)))
    return found


def mutated(rate: float, length: int = 100_000, seed: int = 0) -> tuple[str, str]:
    """Return a random genome, and the genome with a share of its letters changed."""
    rng = np.random.default_rng(seed)
    first = rng.integers(4, size=length)
    second = np.where(rng.random(length) < rate, (first + rng.integers(1, 4, length)) % 4, first)
    letters = np.array(list("ACGT"))
    return "".join(letters[first]), "".join(letters[second])


def jaccard(distance: float, k: int = 21) -> float:
    """Invert the formula of Mash."""
    word = np.exp(-k * distance)
    return word / (2 - word)


def test_by_hand() -> None:
    # The first output of SplitMix64 with seed 0 is e220a8397b1dcdaf (Vigna's splitmix64.c). A run
    # of A has the number 0, and its reverse complement is a run of T.
    for text in ("AAAA", "TTTT", "aaaaaaNa"):
        m = tr.SketchMetric.from_sequences([text], k=4)
        assert [int(word) for word in m.oracle.hashes[0]] == [0xE220A8397B1DCDAF]
    # {AC, CG, GT = AC} and {AC, CC, GG = CC}: one of three k-mers is common, so 2 J / (1 + J) = 1/2.
    m = tr.SketchMetric.from_sequences(["ACGT", ["AC", "CCC"]], k=2)
    assert m.pairs(0, 1) == pytest.approx(np.log(2) / 2)


@settings(max_examples=60, deadline=None)
@given(st.lists(DNA | LONG, min_size=2, max_size=2), st.integers(1, 6))
def test_large_sketches_are_exact(texts: list[str], k: int) -> None:
    sets = [kmers(text, k) for text in texts]
    if not all(sets):
        with pytest.raises(tr.MetricError, match=f"genome [01] has no k-mer of length {k}"):
            tr.SketchMetric.from_sequences(texts, k=k)
        return
    m = tr.SketchMetric.from_sequences(texts, k=k, saturated="cap")
    assert [len(words) for words in sets] == m.oracle.about[:, 2].tolist()
    j = len(sets[0] & sets[1]) / len(sets[0] | sets[1])
    expected = min(1.0, np.log((1 + j) / (2 * j)) / k) if j else 1.0
    assert m.pairs(0, 1) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(DNA, st.integers(1, 32), st.integers(1, 20))
def test_both_strands_and_pieces_have_the_same_sketch(text: str, k: int, size: int) -> None:
    if not kmers(text, k):
        return
    genomes = [text, reverse_complement(text), text.lower(), ["N", text, "N"], f"{text}N"]
    m = tr.SketchMetric.from_sequences(genomes, k=k, sketch_size=size)
    assert m.oracle.hashes.shape == (5, min(size, len(kmers(text, k))))
    assert (m.oracle.hashes == m.oracle.hashes[0]).all()
    assert (m.block(range(5), range(5)) == 0).all()


def test_small_sketches_have_the_smallest_hashes() -> None:
    text = mutated(0)[0]
    small, large = (tr.SketchMetric.from_sequences([text], sketch_size=s) for s in (50, 10**6))
    assert_array_equal(small.oracle.hashes[0], large.oracle.hashes[0, :50])
    assert large.oracle.hashes.shape[1] == len(kmers(text, 21))


@pytest.mark.parametrize("rate", [0.001, 0.01, 0.05])
def test_estimates_mutation_rates(rate: float) -> None:
    m = tr.SketchMetric.from_sequences(mutated(rate), sketch_size=2000)
    # A k-mer survives with probability (1 - rate)^k.
    share = (1 - rate) ** 21
    expected = share / (2 - share)
    error = np.sqrt(expected * (1 - expected) / 2000) + 0.003
    assert abs(jaccard(float(m.pairs(0, 1))) - expected) < 5 * error


@pytest.mark.skipif(shutil.which("mash") is None, reason="mash is not installed")
@pytest.mark.parametrize("rate", [0.01, 0.1])
def test_agrees_with_mash(tmp_path: Path, rate: float) -> None:
    texts = mutated(rate)
    for name, text in zip("ab", texts, strict=True):
        (tmp_path / f"{name}.fa").write_text(f">{name}\n{text}\n")
    command = ["mash", "dist", "a.fa", "b.fa"]
    out = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    theirs = jaccard(float(out.stdout.split("\t")[2]))
    ours = jaccard(float(tr.SketchMetric.read(tmp_path).pairs(0, 1)))
    # Other hashes: two independent samples of 1,000 k-mers.
    assert abs(ours - theirs) < 5 * np.sqrt(2 * theirs * (1 - theirs) / 1000)


def test_files(tmp_path: Path) -> None:
    texts = mutated(0.02, 30_000)
    expected = tr.SketchMetric.from_sequences(texts, labels="ab", n_jobs=1)
    lines = ["\n".join(text[p : p + 60] for p in range(0, 30_000, 60)) for text in texts]
    together = tmp_path / "both.fasta"
    together.write_text(f">a one\n{lines[0]}\n;note\n>b two\n{lines[1]}\n")
    folder = tmp_path / "genomes"
    folder.mkdir()
    (folder / "README").write_text("not a genome")
    (folder / "a.fna").write_bytes(f">contig\r\n{lines[0]}\n".encode())
    with gzip.open(folder / "b.fa.gz", "wt") as file:
        file.write(f">contig\n{lines[1]}\n")
    files = [folder / "a.fna", folder / "b.fa.gz"]
    for found in (tr.SketchMetric.read(path) for path in (together, folder, files)):
        assert found.labels == ("a", "b")
        assert_array_equal(found.oracle.hashes, expected.oracle.hashes)
    # Records of a file in a list are parts of one genome.
    (one,) = tr.SketchMetric.read([together], sketch_size=10**6).oracle.hashes
    assert len(one) == len(kmers(texts[0], 21) | kmers(texts[1], 21))


def test_fits_a_tree_and_survives_pickling() -> None:
    rng = np.random.default_rng(0)
    letters = np.array(list("ACGT"))
    # Two pairs of genomes: mutations on the way to each pair, then on the way to each genome.
    root = rng.integers(4, size=50_000)
    genomes = []
    for _ in range(2):
        middle = np.where(rng.random(len(root)) < 0.03, rng.integers(4, size=len(root)), root)
        for _ in range(2):
            leaf = np.where(rng.random(len(root)) < 0.01, rng.integers(4, size=len(root)), middle)
            genomes.append("".join(letters[leaf]))
    m = tr.SketchMetric.from_sequences(genomes, labels="abcd")
    for method in ("neighbor_joining", "treerep", "auto"):
        tree = tr.fit(m, method=method)
        text = tr.Tree.from_newick("((a:1,b:1):1,(c:1,d:1):1);")
        assert tree.difference(text).robinson_foulds == 0
    again = pickle.loads(pickle.dumps(m))
    assert_allclose(again.block(range(4), range(4)), m.block(range(4), range(4)))
    with pytest.raises(tr.MetricError, match="a SketchMetric cannot be resampled"):
        tr.fit(m, bootstrap=2)


def test_pairs_without_a_common_hash() -> None:
    texts = ["ACGT" * 20, "TTGACCCA" * 9]
    m = tr.SketchMetric.from_sequences(texts, labels="ab", saturated="raise")
    with pytest.raises(tr.MetricError, match="'a' and 'b' have no k-mer in common") as error:
        m.pairs(0, 1)
    assert "\n" not in str(error.value)
    assert tr.SketchMetric.from_sequences(texts, saturated="cap").pairs(0, 1) == 1
    with pytest.warns(UserWarning, match="^1 of 1 pairs of genomes have no k-mer in common"):
        m = tr.SketchMetric.from_sequences(dict(zip("ab", texts, strict=True)))
    assert m.labels == ("a", "b")
    assert m.pairs(0, 1) == 1


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="k must be from 1 to 32, not 33"):
        tr.SketchMetric.from_sequences(["ACGT"], k=33)
    with pytest.raises(ValueError, match="sketch_size must be a positive whole number"):
        tr.SketchMetric.from_sequences(["ACGT"], k=2, sketch_size=0)
    with pytest.raises(ValueError, match="saturated must be one of 'cap', 'raise'"):
        tr.SketchMetric.from_sequences(["ACGT"], k=2, saturated="drop")
    with pytest.raises(tr.MetricError, match="genome 'x' has no k-mer of length 21"):
        tr.SketchMetric.from_sequences(["ACGT"], labels=["x"])
    with pytest.raises(tr.MetricError, match="there are no genomes"):
        tr.SketchMetric.from_sequences([])
    with pytest.raises(tr.MetricError, match="sketch 0 must be an ascending uint64 array"):
        tr.SketchMetric([np.array([2, 1], np.uint64)])
    with pytest.raises(tr.MetricError, match="sketch 0 has 3 hashes: pass sketch_size=3"):
        tr.SketchMetric([np.arange(3, dtype=np.uint64)], sketch_size=2)
    with pytest.raises(ValueError, match="contains no genomes: a FASTA file ends in .fa"):
        tr.SketchMetric.read(tmp_path)
    path = tmp_path / "x.fa"
    for content in (b"", b"ACGT\n", b"ACGT\n>a\nACGT\n"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"x\.fa is not a FASTA file: it must start with >label"):
            tr.SketchMetric.read(path)
    path.write_bytes(gzip.compress(b">a\n" + b"ACGT" * 1000)[:-10])
    with pytest.raises(ValueError, match=r"x\.fa is damaged"):
        tr.SketchMetric.read(path)
    with pytest.raises(FileNotFoundError):
        tr.SketchMetric.read(tmp_path / "none.fa")
