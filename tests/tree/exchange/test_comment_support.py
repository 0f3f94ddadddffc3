"""Support in comments, in the words of each program."""

import numpy as np
import pytest

from treerep.formats.trees.nexus import read as read_nexus
from treerep.tree.tree import Tree

from ...formats.files import source

BEAST = """((a[&height=0.0,posterior=1.0]:1.5,b[&height=0.0]:1.5)[&height=1.5,
height_95%_HPD={1.2,1.8},posterior=0.9876]:[&rate=1.0]0.5,c:2)[&height=2.0,posterior=1.0];"""
MRBAYES = """#NEXUS
[ID: 5353870756]
begin taxa; dimensions ntax=4; taxlabels d c b a; end;
begin trees;
  translate 1 a, 2 b, 3 c, 4 d;
  tree con_50_majrule = [&U] (1[&prob=1.0e+00,prob_stddev=0.0e+00,prob_range={1.0e+00,1.0e+00},
prob(percent)="100",prob+-sd="100+-0"]:3.4e-02[&length_mean=3.45e-02,length_95%HPD={2.9e-02,
3.8e-02}],2[&prob=1.0e+00]:1.0e-02,(3[&prob=1.0e+00]:1.0e-02,4[&prob=1.0e+00]:1.0e-02)[&prob=
9.5e-01,prob_stddev=1.2e-02,prob(percent)="95",prob+-sd="95+-1"]:2.0e-02[&length_mean=2.0e-02]);
end;
"""
FIGTREE = """#NEXUS
begin taxa; dimensions ntax=5; taxlabels a b c d e; end;
begin trees;
  tree tree_1 = [&R] ((a[&!color=#ff0000]:1,b:1)[&{}]:1,((c:1,d:1)[&{}]:1,e:2):1);
end;
"""


def shares(tree: Tree) -> list[float] | None:
    return None if tree.support is None else sorted(tree.support[~np.isnan(tree.support)])


def test_beast() -> None:
    tree = Tree.from_newick(BEAST)
    assert shares(tree) == [0.9876]
    assert tree.newick() == "((a:1.5,b:1.5)0.9876:0.5,c:2.0);"


def test_mrbayes() -> None:
    tree = read_nexus(source(MRBAYES))
    assert shares(tree) == [0.95]
    assert tree.newick(digits=2) == "((d:0.01,c:0.01)0.95:0.02,b:0.01,a:0.034);"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("bootstrap=95", "bootstrap=100", [0.95, 1.0]),
        ("!color=#ff0000,Bootstrap=95.0", "Bootstrap=7.0", [0.07, 0.95]),
        ("posterior=0.5", "posterior=1.0", [0.5, 1.0]),
        ('label="100",sCF="43.44"', 'label="90",sCF="40"', [0.9, 1.0]),
        ('label="98.7/95"', 'label="80/31"', [0.31, 0.95]),
        ("label=101", "label=102", None),
        ("rate=0.5", "rate=0.7", None),
        ('!name="x,posterior=0.5"', "!collapse={posterior=1,2.0}", None),
        # the first key that the tree has
        ("bootstrap=95,posterior=0.5", "bootstrap=60,posterior=0.25", [0.25, 0.5]),
        ("posterior=0.5", "bootstrap=60", [0.5]),
    ],
)
def test_figtree(first: str, second: str, expected: list[float] | None) -> None:
    assert shares(read_nexus(source(FIGTREE.format(first, second)))) == expected


def test_nhx() -> None:
    tree = Tree.from_newick(
        "(((ADH2:0.1[&&NHX:S=human:E=1.1.1.1],ADH1:0.11[&&NHX:S=human:B=1]):0.05[&&NHX:S=Primates:"
        "E=1.1.1.1:D=Y:B=100],ADHY:0.1[&&NHX:S=nematode]):0.1[&&NHX:S=Metazoa:B=31],ADHX:0.12);"
    )
    assert shares(tree) == [0.31, 1.0]
    assert tree.newick() == "(((ADH2:0.1,ADH1:0.11)100:0.05,ADHY:0.1)31:0.1,ADHX:0.12);"


def test_raxml() -> None:
    tree = Tree.from_newick("(a:0.1,(b:0.1,(c:0.1,d:0.2):0.3[100]):0.2[95],e:0.1);")
    assert shares(tree) == [0.95, 1.0]
    assert tree.newick() == "(a:0.1,(b:0.1,(c:0.1,d:0.2)100:0.3)95:0.2,e:0.1);"


def test_percentages_and_shares_as_in_names() -> None:
    for numbers in (("95", "100"), ("0.5", "1"), ("1", "0"), ("1.0000000000000002", "0.5")):
        noted = Tree.from_newick("((a:1,b:2):1[{}],(c:1,d:1):1[{}]);".format(*numbers))
        named = Tree.from_newick("((a:1,b:2){}:1,(c:1,d:1){}:1);".format(*numbers))
        assert shares(noted) == shares(named)
        assert noted.newick() == named.newick()
    assert shares(noted) == [0.5, 1.0]  # a share above 1 by rounding is not a percentage


@pytest.mark.parametrize(
    "text",
    [
        "((a:1,b:1)[95]:1,c:1);",  # not after the length
        "((a:1,b:1):[95]1,c:1);",
        "((a:1,b:1):1[a comment],c:1);",
        "((a:1[0],b:1[1]):1[2],c:1[3]);",  # numbers of edges: leaves have them too
        "((a[&label=1]:1,b[&label=2]:1)[&label=3]:1,c[&label=4]:1);",  # numbers of nodes
        "([95](a:1,b:1):1,c:1);",
        "((a:1,b:1)'x[&posterior=1]':1,c:1);",
        "((a:1[&posterior=1],b:1):1,c:1[&prob=1]);",  # of leaves only
        "((a:1,b:1):1[&B TK02Brlens 0.1],c:1);",
        "((a:1,b:1)[posterior=1]:1[&&NHX:posterior_sd=1],c:1);",
        "[&R] [95] ((a:1,b:1):1,c:1);",
        "((a:1,b:1):1,c:1)[&posterior=1];",  # the root has no edge
    ],
)
def test_other_comments_are_ignored(text: str) -> None:
    tree = Tree.from_newick(text)
    assert tree.support is None
    assert tree.labels == ("a", "b", "c")


def test_names_that_are_support_win() -> None:
    assert shares(Tree.from_newick("((a:1,b:1)90[&posterior=0.5]:1,c:1);")) == [0.9]
    both = Tree.from_newick("((a:1,b:1)Felidae[&posterior=0.5]:1,c:1);")
    assert shares(both) == [0.5]
    assert list(both.clade_names.values()) == ["Felidae"]


def test_long_comments_are_read_in_linear_time() -> None:
    for piece in ("a", ",", "=", '="', ",a={", ":", "[&", ",posterior=", "1"):
        comment = "&" + piece * 100_000
        text = f"((a:1,b:1)[{comment}{']' * (1 + comment.count('['))}:1,c:1);"
        assert Tree.from_newick(text).labels == ("a", "b", "c")
        nhx = text.replace("[&", "[&&NHX", 1)
        assert Tree.from_newick(nhx).labels == ("a", "b", "c")
