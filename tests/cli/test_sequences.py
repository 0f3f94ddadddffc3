"""Commands that read aligned sequences."""

import numpy as np

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


def test_saturated(call, tmp_path):
    write_alignment(tmp_path / "a.fasta", 400)
    options = ("fit", "a.fasta", "--metric", "jc69", "--gamma", "0.5", "--method", "upgma")
    message = "the jc69 distance of 's.' and 's.' is undefined.* or pass --saturated cap"
    assert_one_line_error(call(*options), message)
    assert call(*options, "--saturated", "cap").returncode == 0
