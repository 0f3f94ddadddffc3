"""Nexus as others write it."""

from pathlib import Path
from typing import Any

import dendropy
import numpy as np
import pytest
from hypothesis import assume, given, settings
from numpy.testing import assert_allclose, assert_array_equal

from treerep.formats.trees.nexus import read as read_source
from treerep.formats.trees.nexus import read_all, write
from treerep.tree.tree import Tree

from ..files import source
from ..strategies import HARD, named_trees

MESQUITE = """#nexus
[written by hand [nested]]
Begin Characters;
  Title 'a;b';
  Matrix A ACGT B AC-T;
End;
BEGIN TAXA;
  TITLE Taxa;
  DIMENSIONS NTAX = 3;
  TAXLABELS [1] 'Homo sapiens' [2] B_c 'it''s; D';
ENDBLOCK;
begin trees;
  Translate x 'Homo sapiens', 2 'B c', 3 'it''s; D' ,;
  utree * 'my = tree' = [&R] ((2:1,x[c]:2)0.5:3,3:4);
end;
"""


def read(text: str, **options: Any) -> Tree:
    return read_source(source(text), **options)


def test_all_that_the_standard_allows() -> None:
    tree = read(MESQUITE)
    assert tree.labels == ("Homo sapiens", "B_c", "it's; D")
    assert_array_equal(tree.distances(), [[0, 3, 9], [3, 0, 8], [9, 8, 0]])


def test_numbers_name_taxa_where_nothing_translates() -> None:
    taxa = "#NEXUS begin taxa; dimensions ntax=3; taxlabels A B C; end; begin trees; {}tree t = {}; end;"
    tree = read(taxa.format("", "(3:1,A:2,b_:3)2").replace("b_", "B").replace(")2", ")"))
    assert tree.labels == ("A", "B", "C")
    assert tree.weights.tolist() == [2, 3, 1]
    assert read(taxa.format("translate 1 C, 2 B, 3 A;", "(1:1,2:2,3:3)")).weights.tolist() == [
        3,
        2,
        1,
    ]
    assert read(taxa.format("", "(3:1,A:2)")).labels == ("A", "C")
    assert read("#NEXUS begin trees; tree t = (b:1,a:2); end;").labels == ("b", "a")


def test_names_of_inner_nodes_are_not_points() -> None:
    text = "#NEXUS begin taxa; taxlabels A B C D; end; begin trees; tree t = ((A:1,B:1)95:1,C:1,D:2); end;"
    assert np.nanmax(read(text).support) == 0.95
    assert read(text, inner_labels="ignore").labels == tuple("ABCD")
    assert read(text, inner_labels="ignore").support is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(a:1,b:2);", "the file does not start with #NEXUS, as Nexus files do"),
        ("#NEXUS", "the file has no tree"),
        ("#NEXUS begin trees; end;", "the file has no tree"),
        ("#NEXUS [", "Nexus, line 1 column 8 .* this comment is not closed"),
        ("#NEXUS tree t = a;", "'TREE' is outside all blocks"),
        ("#NEXUS begin trees; begin taxa; end;", "block TREES has no END"),
        (
            "#NEXUS begin trees; tree t = (a:1,b:1);",
            "block TREES has no END: the file may be truncated",
        ),
        ("#NEXUS begin trees; tree t = (a:1,b:1)", "a semicolon is missing"),
        ("#NEXUS begin trees; tree 't = (a:1,b:1); end;", "a quote is not closed"),
        ("#NEXUS begin;", "BEGIN must be followed by the name of one block"),
        ("#NEXUS begin trees; tree (a:1,b:1); end;", "a tree must be written as TREE name ="),
        ("#NEXUS begin trees;\ntree t = (a:1,b); end;", r"line 2 column 15 .*missing length"),
        (
            "#NEXUS begin trees; tree t = a; tree u = b; end;",
            "the file has a second tree: read all trees, or keep only one",
        ),
        ("#NEXUS begin trees; translate 1; end;", "TRANSLATE must consist of pairs"),
        ("#NEXUS begin trees; translate 1 a b; end;", "TRANSLATE must consist of pairs"),
        ("#NEXUS begin trees; translate , 1 a; end;", "TRANSLATE must consist of pairs"),
        ("#NEXUS begin trees; translate 1 a, 1 b; end;", "TRANSLATE has two names for '1'"),
        ("#NEXUS begin trees; translate 1 'a'b'c'; end;", "a name here"),
        (
            "#NEXUS begin trees; translate 1 a, 2 a; tree t = (1:1,2:1); end;",
            "'a' occurs twice in the tree: name each point once",
        ),
        ("#NEXUS begin taxa; taxlabels a a; end;", "'a' occurs twice in TAXLABELS"),
        ("#NEXUS begin taxa; taxlabels a,b; end;", "a comma: use blanks"),
        ("#NEXUS begin taxa; taxlabels a; taxlabels b; end;", "TAXLABELS occurs twice"),
        ("#NEXUS begin taxa; dimensions; end;", "DIMENSIONS has no NTAX="),
        (
            "#NEXUS begin taxa; dimensions ntax=2; taxlabels a; end;",
            "NTAX is 2, but TAXLABELS has 1 names",
        ),
        (
            "#NEXUS begin taxa; taxlabels a; end; begin trees; tree t = b; end;",
            "'b' is in the tree but not in TAXLABELS: add it there",
        ),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        read(text)
    assert "\n" not in str(error.value)


def test_tokens_name_inner_nodes() -> None:
    text = "#NEXUS begin trees; translate 1 a, 2 b, 3 c, 4 d, 5 e, 6 f; tree t = {}; end;"
    tree = read(text.format("((4:1,5:1)2:1,(6:1,3:1)1:1);"))
    assert tree.support is None
    assert sorted(tree.clade_names.values()) == ["a", "b"]
    # 4 is a leaf, so it is not the name of a clade.
    tree = read(text.format("((4:1,5:1)4:1,(6:1,3:1)2:1);"))
    assert sorted(tree.support[~np.isnan(tree.support)]) == [0.02, 0.04]


TWO_TAXA = """#NEXUS
begin taxa; title 'First taxa'; dimensions ntax=3; taxlabels a b c; end;
begin taxa; title Second; dimensions ntax=3; taxlabels d e f; end;
begin trees; link taxa = second; translate 1 d, 2 e, 3 f; tree t = (1:1,2:2,3:3); end;
begin trees; {link} {translate} tree u = {tree}; end;
"""


@pytest.mark.parametrize(
    ("link", "translate", "tree"),
    [
        ("Link Taxa = 'first taxa';", "translate 1 a, 2 b, 3 c;", "(1:1,2:2,3:3)"),
        ("LINK TAXA = 'FIRST TAXA';", "", "(1:1,2:2,3:3)"),
        ("", "", "(a:1,b:2,c:3)"),  # only one block has these names
        ("", "translate 1 a, 2 b, 3 c;", "(1:1,2:2,3:3)"),
    ],
)
def test_several_blocks_of_taxa(link: str, translate: str, tree: str) -> None:
    text = TWO_TAXA.format(link=link, translate=translate, tree=tree)
    first, second = read_all(source(text))
    assert first.labels == ("d", "e", "f")
    assert second.labels == ("a", "b", "c")
    assert first.weights.tolist() == second.weights.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("link", "tree", "message"),
    [
        ("", "(1:1,2:2,3:3)", "several TAXA blocks have names for this tree: add LINK TAXA ="),
        (
            "link taxa = third;",
            "(1:1,2:2,3:3)",
            "LINK names no TAXA block of the file: 'THIRD'",
        ),
        ("link taxa = second;", "(a:1,b:2,c:3)", "'a' is in the tree but not in TAXLABELS"),
        ("", "(a:1,d:2,e:3)", "in the tree but not in the TAXLABELS of one TAXA block"),
    ],
)
def test_taxa_that_are_not_clear(link: str, tree: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^Nexus, line 5 .*{message}") as error:
        read_all(source(TWO_TAXA.format(link=link, translate="", tree=tree)))
    assert "\n" not in str(error.value)


def test_the_position_of_an_error_in_the_second_tree() -> None:
    text = "#NEXUS\nbegin trees;\ntree t = (a:1,b:1);\ntree u = (a:1,b);\nend;"
    with pytest.raises(ValueError, match=r"line 4 column 15 .*missing length"):
        read_all(source(text))


@settings(max_examples=25)
@given(tree=named_trees(controls=False, support=False))
def test_dendropy_reads_ours(tree: Tree) -> None:
    # DendroPy ends a command at this label, even in quotes.
    assume(";" not in (tree.labels or ()))
    other = dendropy.Tree.get(data=write(tree), schema="nexus", suppress_internal_node_taxa=False)
    names = tree.labels or [str(i) for i in range(len(tree))]
    if len({name.lower() for name in names}) < len(names):
        return  # dendropy takes a name in capitals for the same
    taxa = {taxon.label: taxon for taxon in other.taxon_namespace}
    assert list(taxa) == list(names)
    apart = other.phylogenetic_distance_matrix(is_store_path_edges=False)
    tips = {
        leaf.taxon.label for leaf in other.leaf_nodes()
    }  # the root, a point without a Steiner node, is none
    leaves = [i for i, name in enumerate(names) if name in tips]
    assert len(leaves) >= np.count_nonzero(tree.degrees[: len(tree)] <= 1) - 1
    found = [[apart.patristic_distance(taxa[names[i]], taxa[names[j]]) for j in leaves] for i in leaves]
    assert_allclose(found, tree.block(leaves, leaves).tolist(), rtol=1e-9)


def test_we_read_dendropy(tmp_path: Path) -> None:
    names = [name for name in HARD if name.strip()]
    tree = Tree(
        len(names),
        [[i, len(names)] for i in range(len(names))],
        range(1, len(names) + 1),
        labels=names,
    )
    other = dendropy.Tree.get(data=write(tree), schema="nexus")
    other.write(path=tmp_path / "theirs.nex", schema="nexus", preserve_spaces=True)
    assert read((tmp_path / "theirs.nex").read_text()) == tree
