"""FASTA files, against the characters that they hold."""

import gzip

import numpy as np
import pytest

import treerep as tr
from treerep.formats.reading import read


def written(folder, text, name="a.fasta"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


TEXT = ">x first sequence\nACGT\nACGTAC\n\n>y\nACG TACGTAT\n; a comment\n>z|3\nacguucga\naN\n"


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_read(tmp_path, ending, mark):
    metric = read(written(tmp_path, mark + TEXT.replace("\n", ending)))
    assert isinstance(metric, tr.SequenceMetric)
    assert metric.labels == ("x", "y", "z|3")
    assert (metric.alphabet, metric.model, metric.sites) == ("dna", "k2p", 10)
    expected = tr.SequenceMetric(["ACGTACGTAC", "ACGTACGTAT", "ACGTTCGAA-"])
    every = np.arange(3)
    np.testing.assert_array_equal(metric.block(every, every), expected.block(every, every))


def test_options(tmp_path):
    path = written(tmp_path, TEXT)
    metric = read(path, metric="tn93", gamma=0.5, saturated="cap", labels="abc")
    assert isinstance(metric, tr.SequenceMetric)
    assert (metric.model, metric.gamma, metric.saturated) == ("tn93", 0.5, "cap")
    assert metric.labels == tuple("abc")
    assert tr.as_metric(path, metric="jc69").model == "jc69"
    assert read(path, kind="sequences", format="fasta").model == "k2p"


@pytest.mark.parametrize("name", ["a.fa", "a.fasta.gz", "a.faa", "a.txt", "a"])
def test_recognized(tmp_path, name):
    data = b">p\nMKVLAAGIVG\n>q\nMKVLSAGIVG\n"
    metric = read(written(tmp_path, gzip.compress(data) if name.endswith("gz") else data, name))
    assert (metric.alphabet, metric.model) == ("protein", "kimura")


def test_the_alphabet_is_that_of_the_whole_file(tmp_path):
    """The first 64 KiB of a supermatrix of proteins are gaps."""
    rows = ["-" * 70_000 + "MKVLAAGIVG", "MKVLAAGIVG" * 7001]
    text = "".join(
        f">t{k}\n" + "".join(f"{row[i : i + 60]}\n" for i in range(0, len(row), 60))
        for k, row in enumerate(rows)
    )
    for metric in (None, "kimura", "p"):
        found = read(written(tmp_path, text), metric=metric)
        assert found.alphabet == "protein"
        assert found.pairs(0, 1) == 0
    with pytest.raises(ValueError, match="the model 'k2p' is for DNA, not for proteins"):
        read(written(tmp_path, text), metric="k2p")


def test_alphabet(tmp_path):
    path = written(tmp_path, ">x\nRYSWKMA\n>y\nRYSWKAA\n")
    assert read(path).alphabet == "dna"
    assert read(path, alphabet="protein").model == "kimura"
    assert read(path, metric="poisson").alphabet == "protein"
    assert tr.as_metric(path, metric="p", alphabet="protein").alphabet == "protein"
    assert tr.as_metric(["RYSA", "RYAA"], alphabet="dna").model == "k2p"
    with pytest.raises(ValueError, match="alphabet must be one of dna, protein"):
        read(path, alphabet="rna")
    with pytest.raises(ValueError, match="alphabet='dna' does not apply to a distance matrix|a.csv"):
        tr.as_metric(written(tmp_path, "0,1\n1,0\n", "a.csv"), alphabet="dna")


def test_missing(tmp_path):
    path = written(tmp_path, ">x\nACGT----\n>y\n----ACGT\n>z\nACGTACGT\n")
    found = read(path, missing=True)
    assert found.has_missing
    assert np.isnan(found.pairs(0, 1))
    with pytest.raises(ValueError, match="saturated='cap' does not apply if"):
        read(path, missing=True, saturated="cap")
    with pytest.warns(UserWarning, match="1 of 3 pairs of sequences have no k2p distance"):
        read(path)


def test_a_table_may_start_with_the_mark_of_a_header(tmp_path):
    assert read(written(tmp_path, ">a,0,1\n>b,1,0\n", "d.csv")).labels == (">a", ">b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            ">a\nACGT\n>b\nACG\n",
            "line 3: sequence 'b' has 3 sites, but 'a' has 4: .*not aligned",
        ),
        (">a\nAC\nG!\n", "line 3: sequence 'a' has '!' at position 4, which is not a DNA"),
        (">a\nAC\nGé\n", "line 3: sequence 'a' has 'é' at position 4"),
        (">a\nACGT\n>b\nACJT\n", "line 4: sequence 'b' has 'J' at position 3"),
        (">a\nAC\n>b\nAC\n>a x\nAC", "line 5 repeats the label 'a' of line 1"),
        (">\nAC\n", "line 1 has no label"),
        (">a\n>b\nAC\n", "line 1: sequence 'a' is empty"),
        ("\nACGT\n>a\nACGT", "line 2 is above the first header"),
        ("\n\n", "the file has no sequences"),
        (">a\nAC\n>b\n--\n", "sequence 'b' has no known character"),
        (b">a\nAC\xff\n", "line 2 has the byte 0xff, which is not UTF-8"),
    ],
)
def test_errors(tmp_path, text, message):
    with pytest.raises(ValueError, match=f"a.fasta: {message}"):
        read(written(tmp_path, text))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "points"}, "a FASTA file cannot hold points"),
        ({"metric": "euclidean"}, "unknown model 'euclidean': choose one of p, jc69"),
        ({"metric": "poisson"}, "for proteins, not for DNA"),
        ({"gamma": 1.0, "metric": "logdet"}, "gamma=1.0 does not apply to the model 'logdet'"),
        ({"saturated": "drop"}, "saturated must be one of cap, raise"),
        ({"symmetrize": "mean"}, "symmetrize='mean' does not apply to sequences"),
        ({"use_rep": "X"}, "use_rep='X' applies to h5ad, npz and zarr, not to fasta"),
    ],
)
def test_wrong_options(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        read(written(tmp_path, TEXT), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": 1.0}, "gamma=1.0 applies to fasta, not to csv"),
        ({"saturated": "cap"}, "saturated='cap' applies to fasta, not to csv"),
        (
            {"metric": "k2p"},
            r"sequences \(metric='k2p'\) are read from FASTA files, but .* csv",
        ),
        ({"kind": "sequences"}, "sequences are read from FASTA files, but this file is csv"),
    ],
)
def test_options_of_sequences_for_other_data(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        read(written(tmp_path, "0,1\n1,0\n", "d.csv"), **options)


@pytest.mark.parametrize(
    ("text", "name", "file"),
    [
        ("2 4\na ACGT\nb ACGA\n", "PHYLIP", "a.txt"),
        (
            "#NEXUS\nbegin data;\ndimensions ntax=2 nchar=4;\nmatrix\na ACGT\nb ACGA;\nend;\n",
            "Nexus",
            "a.nex",
        ),
        ("CLUSTAL W (1.83)\n\na ACGT\nb ACGA\n", "Clustal", "a.aln"),
        ("# STOCKHOLM 1.0\na ACGT\nb ACGA\n//\n", "Stockholm", "a.sto"),
        ("#mega\n!Title x;\n#a\nACGT\n", "MEGA", "a.meg"),
    ],
)
def test_other_alignments(tmp_path, text, name, file):
    with pytest.raises(ValueError, match=f"{file}: .*alignment in {name}: convert it to FASTA"):
        read(written(tmp_path, text, file))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "#mega\n!Title: x;\n!Format DataType=Distance DataFormat=LowerLeft NTaxa=2;\n[1] #a\n",
            "the file holds distances in MEGA format, which is not read: save them as CSV or PHYLIP",
        ),
        (
            "graph [\n node [ id 0 ]\n]\n",
            "the file is a graph in GML, which is not read: convert it to GraphML",
        ),
        (
            'Creator "igraph"\nVersion 1\ngraph\n[\n node [ id 0 ]\n]\n',
            "the file is a graph in GML, which is not read: convert it to GraphML",
        ),
    ],
)
def test_formats_that_are_not_read(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read(written(tmp_path, text, "a.txt"))
