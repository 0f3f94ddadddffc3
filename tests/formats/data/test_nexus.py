"""The DISTANCES block of Nexus files."""

import re

import dendropy
import numpy as np
import pytest

from tests.formats.files import SQUARE, distances, read

TAXA = "begin taxa;\n dimensions ntax=3;\n taxlabels a b c;\nend;\n"
LOWER = "a 0\nb 1 0\nc 2.5 3 0\n"


def nexus(form: str, matrix: str, taxa: str = TAXA) -> str:
    return f"#NEXUS\n{taxa}begin distances;\n {form}\n matrix\n{matrix};\nend;\n"


WRITTEN = {
    "as the standard has it": nexus("", LOWER),
    "without taxa": nexus("", LOWER, taxa=""),
    "lower": nexus("format triangle=lower diagonal labels missing=?;", LOWER),
    "no diagonal": nexus("format nodiagonal;", "a\nb 1\nc 2.5 3\n"),
    "upper": nexus("FORMAT TRIANGLE = UPPER;", "a 0 1 2.5\nb 0 3\nc 0\n"),
    "upper, no diagonal": nexus("format triangle=upper nodiagonal;", "a 1 2.5\nb 3\nc\n"),
    "both": nexus("format triangle=both;", "a 0 1 2.5\nb 1 0 3\nc 2.5 3 0\n"),
    "both, no diagonal": nexus("format triangle=both nodiagonal;", "a 1 2.5\nb 1 3\nc 2.5 3\n"),
    "both, no diagonal, broken rows": nexus(
        "format triangle=both nodiagonal;", "a 1\n 2.5\nb 1 3\nc\n 2.5 3\n"
    ),
    "no labels": nexus("format nolabels;", "0\n1 0\n2.5 3 0\n"),
    "comments": nexus("[what\nfor]", "[1] a 0\n[2] b 1 0 [x]\n'c' 2.5 3 0\n"),
    "broken rows": nexus("format triangle=both;", "a 0\n 1 2.5\nb 1 0\n 3\nc 2.5 3 0\n"),
    "other blocks": "#nexus\nbegin trees;\n tree t = (a,(b,c));\nend;\n" + nexus("", LOWER)[6:],
}


@pytest.mark.parametrize("form", WRITTEN)
def test_every_form(tmp_path, form):
    metric = read(tmp_path, WRITTEN[form], "d.nex")
    assert metric.labels == ("a", "b", "c")
    np.testing.assert_array_equal(distances(metric), SQUARE)


def test_quoted_names(tmp_path):
    text = nexus("", "'it''s [one]; of two' 0\n'x y' 1 0\nc_d 2.5 3 0\n", taxa="")
    assert read(tmp_path, text).labels == ("it's [one]; of two", "x y", "c_d")


def test_dendropy_writes_the_same_names(tmp_path):
    # dendropy passes over DISTANCES, but its TAXA block is one that others read.
    names = ["it's", "x y", "c,d"]
    taxa = dendropy.TaxonNamespace(names)
    block = (
        dendropy.TreeList(taxon_namespace=taxa)
        .as_string("nexus", preserve_spaces=True)
        .partition("BEGIN")[2]
        .partition("BEGIN TREES")[0]
    )
    text = nexus("format nolabels;", "0\n1 0\n2.5 3 0\n", taxa="BEGIN" + block)
    assert read(tmp_path, text).labels == tuple(names)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#NEXUS\n", "the file has no DISTANCES block"),
        ("#NEXUS\nbegin trees; tree t = (a,b); end;", "the file has no DISTANCES block"),
        ("#NEXUS\nbegin distances;\nmatrix a 0", "line 2: the block has no END"),
        (nexus("", "a 0\nb 1 0\n"), "the MATRIX has 2 rows for 3 points"),
        (nexus("", "a 0\nb 1 0\nc 2 3 0\nd 1 1 1 0\n"), "exceeds the 3 points"),
        (nexus("", "a 0\nb ? 0\nc 2 3 0\n"), "line 10: '?' is a missing value"),
        (nexus("", "a 0\nb 1 0 7\nc 2 3 0\n"), "line 10 has 3 numbers, expected 2"),
        (nexus("format triangle=middle;", LOWER), "TRIANGLE=middle is unknown"),
        (nexus("format interleave;", LOWER), "the matrix is interleaved"),
        (nexus("format nodiagonal;", LOWER), "has too many numbers"),
        (nexus("dimensions ntax=999999999999;", LOWER), "rows for 999999999999 points"),
        (nexus("", ""), "the MATRIX has 0 rows"),
    ],
)
def test_what_is_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        read(tmp_path, text, "d.nex")
    assert "\n" not in str(caught.value)


def test_long_texts_without_an_end_are_refused_soon(tmp_path):
    for piece in ("'", "[", "a ", "begin distances;\nmatrix '"):
        with pytest.raises(ValueError, match="d.nex"):
            read(tmp_path, "#NEXUS\nbegin distances;\n" + piece * 50_000, "d.nex")
