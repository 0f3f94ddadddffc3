"""Text stays text in vector files, in fonts that journals accept."""

import io

import matplotlib as mpl
import pytest

import treerep as tr
from treerep.drawing.figures.distortion_picture import distortion_picture

TREE = tr.Tree.from_newick("((alpha:1,beta:2):3,gamma:4);")


@pytest.mark.parametrize(
    "make",
    [
        lambda: tr.draw(TREE).figure,
        lambda: tr.draw(tr.TreeSum([TREE, TREE]))[0].figure,
        lambda: distortion_picture(TREE, TREE).figure,
    ],
    ids=["tree", "sum", "distortion"],
)
def test_pdf_files_embed_truetype_fonts(make):
    before = dict(mpl.rcParams)
    file = io.BytesIO()
    make().savefig(file, format="pdf")
    content = file.getvalue()
    assert b"/FontFile2" in content and b"/Type3" not in content
    assert dict(mpl.rcParams) == before


def test_svg_files_contain_text():
    file = io.BytesIO()
    tr.draw(TREE).figure.savefig(file, format="svg")
    assert all(f">{name}<".encode() in file.getvalue() for name in TREE.labels)
