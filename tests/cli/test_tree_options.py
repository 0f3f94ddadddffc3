"""--default-length and --negative-lengths, in every command that reads a tree."""

import pytest

import treerep as tr
from tests.cli.commands import assert_one_line_error
from treerep.formats import read_tree

NEW = "name,a,b,c,d\nx,3,3,3,2\n"


@pytest.fixture
def files(call, tmp_path):
    """A topology, a tree with a negative length, data, and a table of a new point."""
    (tmp_path / "topology.nwk").write_text("((a,b),(c,d));")
    (tmp_path / "negative.nwk").write_text("((a:1,b:-0.5):1,(c:1,d:1):1);")
    tree = tr.Tree.from_newick("((a:1,b:0):1,(c:1,d:1):1);")
    tr.formats.write_distances(tree, tmp_path / "data.csv")
    (tmp_path / "new.csv").write_text(NEW)
    return call


COMMANDS = [
    ("convert", "{}", "out.json"),
    ("draw", "{}", "-o", "out.svg"),
    ("view", "{}", "-o", "out.html"),
    ("view", "data.csv", "-o", "out.html", "--compare", "{}"),
    ("embed", "{}", "-o", "out.csv"),
    ("score", "{}", "data.csv"),
    ("refine", "{}", "data.csv", "-o", "out.json"),
    ("place", "{}", "new.csv", "-o", "out.json"),
    ("compare", "{}", "--methods", "upgma", "--no-bound"),
    ("delta", "{}"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
@pytest.mark.parametrize(
    ("file", "options", "problem"),
    [
        ("topology.nwk", ("--default-length", "1"), "missing length"),
        ("negative.nwk", ("--negative-lengths", "zero"), "length -0.5 is negative"),
    ],
)
def test_every_command_that_reads_a_tree(files, command, file, options, problem):
    words = [word.format(file) for word in command]
    refused = files(*words)
    # The error names the option of the command line.
    message = f"{file}: Newick, line 1 column .*{problem}.* or pass {options[0]} "
    assert_one_line_error(refused, message)
    done = files(*words, *options)
    assert done.returncode == 0, done.stderr


def test_the_lengths_are_those_of_the_options(files):
    files("convert", "topology.nwk", "out.json", "--default-length", "2")
    assert read_tree("out.json").newick() == "((a:2.0,b:2.0):2.0,(c:2.0,d:2.0):2.0);"
    files("convert", "negative.nwk", "out.json", "--negative-lengths", "zero")
    assert read_tree("out.json").newick() == "((a:1.0,b:0.0):1.0,(c:1.0,d:1.0):1.0);"


def test_they_are_for_trees(files):
    done = files("delta", "data.csv", "--default-length", "2")
    message = "--default-length is for trees, but data.csv does not contain a tree"
    assert_one_line_error(done, message)
    files("convert", "topology.nwk", "out.npz", "--default-length", "2")
    done = files("convert", "out.npz", "out.nwk", "--negative-lengths", "zero")
    assert_one_line_error(done, "npz does not accept --negative-lengths: leave it out")


def test_fit_does_not_read_trees(files):
    message = ".nwk already contains a tree: use score, refine, embed, draw or view"
    assert_one_line_error(files("fit", "topology.nwk"), message)
    files("convert", "topology.nwk", "tree.nwk", "--default-length", "1")
    assert_one_line_error(files("fit", "tree.nwk", "--format", "newick"), message)


def test_trees_of_other_formats_are_named(files, tmp_path):
    (tmp_path / "tree.xml").write_text('<phyloxml xmlns="http://www.phyloxml.org"/>')
    (tmp_path / "tree.nexml").write_text('<nex:nexml xmlns:nex="http://www.nexml.org/2009"/>')
    for name, known in (("tree.xml", "phyloXML"), ("tree.nexml", "NeXML")):
        done = files("convert", name, "out.nwk")
        message = f"{known} is not read: convert the trees to Newick or Nexus"
        assert_one_line_error(done, message)
