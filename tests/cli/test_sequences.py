"""Commands that read aligned sequences."""

import json
import re

import numpy as np
import pytest

from tests.cli.commands import assert_one_line_error
from treerep.formats import read_tree


def write_alignment(path, sites):
    """Write six random sequences, which are saturated for JC69 if they are long."""
    rows = np.random.default_rng(0).choice(list("ACGT"), (6, sites))
    path.write_text("".join(f">s{k} text\n{''.join(row)}\n" for k, row in enumerate(rows)))


def test_fit(call, tmp_path):
    write_alignment(tmp_path / "a.fasta", 400)
    found = call("fit", "a.fasta", "-o", "tree.nwk", "--metric", "p", "--method", "upgma")
    assert found.returncode == 0
    assert sorted(read_tree("tree.nwk").labels) == [f"s{k}" for k in range(6)]


@pytest.mark.filterwarnings("always")
def test_saturated(call, tmp_path):
    write_alignment(tmp_path / "a.fasta", 400)
    options = ("fit", "a.fasta", "--metric", "jc69", "--gamma", "0.5", "--method", "upgma")
    done = call(*options, "--saturated", "raise")
    assert done.returncode == 2
    assert re.search(
        "error: the jc69 distance of 's.' and 's.' is undefined.* or pass --saturated cap\n$",
        done.stderr,
    )
    done = call(*options)
    assert done.returncode == 0
    (warning,) = [line for line in done.stderr.splitlines() if "warning" in line]
    assert re.search(
        r"warning: \d+ of 15 pairs of sequences have no jc69 distance.* capped: .* pass --missing.*"
        "pass --saturated cap$",
        warning,
    )
    assert "warning" not in call(*options, "--saturated", "cap").stderr


def test_saturated_replicates(call, tmp_path):
    (tmp_path / "a.fasta").write_text(
        f">s0\n{'A' * 16}\n" + "".join(f">s{k}\n{'A' * k}{'C' * 6}{'A' * (10 - k)}\n" for k in range(1, 5))
    )
    done = call("fit", "a.fasta", "--bootstrap", "20", "--method", "upgma", "-o", "t.nwk")
    assert done.returncode == 0
    assert np.isfinite(read_tree("t.nwk").support).any()
    assert "warning" not in done.stderr


@pytest.mark.filterwarnings("always")
def test_missing(call, tmp_path):
    rows = {"a": "ACGTACGT--------", "b": "--------ACGTACGA"}
    rows |= {name: "ACGTACGTACGTAC" + end for name, end in zip("cdef", ("GT", "AT", "GA", "AA"), strict=True)}
    (tmp_path / "a.fasta").write_text("".join(f">{k}\n{row}\n" for k, row in rows.items()))
    done = call("fit", "a.fasta", "--missing", "-o", "t.nwk")
    assert done.returncode == 0, done.stderr
    assert "capped" not in done.stderr
    assert sorted(read_tree("t.nwk").labels) == list("abcdef")
    assert "1 of 15 pairs of sequences have no k2p" in call("fit", "a.fasta").stderr
    done = call("fit", "a.fasta", "--missing", "--saturated", "cap")
    assert_one_line_error(done, "--saturated cap does not apply if distances may be missing")


def test_alphabet(call, tmp_path):
    (tmp_path / "a.fasta").write_text(">x\nRYSWKMA\n>y\nRYSWKAA\n>z\nRYSWAAA\n")
    done = call("fit", "a.fasta", "--alphabet", "protein", "--json")
    assert done.stderr.startswith("3 sequences of 7 sites, read as proteins with the model kimura\n")
    assert {"alphabet": "protein", "model": "kimura"}.items() <= json.loads(done.stdout).items()
    done = call("fit", "a.fasta", "--metric", "p")
    assert done.stderr.startswith("3 sequences of 7 sites, read as DNA with the model p\n")
    (tmp_path / "b.fasta").write_text(">x\nACGT\n>y\nACGA\n")
    done = call("fit", "b.fasta", "--metric", "poisson")
    assert_one_line_error(done, "for proteins, not for DNA: .* or pass --alphabet protein if")
    assert call("fit", "b.fasta", "--metric", "poisson", "--alphabet", "protein").returncode == 0
    done = call("fit", "b.fasta", "--metric", "jc69", "--alphabet", "protein")
    assert_one_line_error(done, "for DNA, not for proteins: choose one of p, poisson, kimura")
    (tmp_path / "d.csv").write_text("0,1\n1,0\n")
    assert_one_line_error(call("fit", "d.csv", "--alphabet", "dna"), "applies to fasta, not to csv")


def test_characters_without_a_common_locus(call, tmp_path):
    (tmp_path / "c.csv").write_text("a,1,2,-1,-1\nb,-1,-1,3,4\nc,1,2,3,5\nd,1,-1,3,-1\n")
    options = ("fit", "c.csv", "--metric", "hamming", "-o", "t.nwk")
    assert_one_line_error(call(*options), "no known locus in common.* pass --saturated cap")
    assert call(*options, "--saturated", "cap").returncode == 0
    assert sorted(read_tree("t.nwk").labels) == list("abcd")
    done = call("fit", "c.csv", "--metric", "euclidean", "--saturated", "cap")
    assert_one_line_error(done, "saturated.* applies to fasta")
