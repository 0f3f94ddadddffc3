import base64
import json
import posixpath
import re
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

import treerep as tr
from treerep.drawing.figures._colors import MOST_INTEGERS as MOST_COLORS
from treerep.drawing.page._content import MOST_DISTANCES
from treerep.drawing.page.write import MODULES, MOST_IN_NOTEBOOK, STYLES, Page

SOURCES = files("treerep.drawing").joinpath("page")
STAR = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 3.0], labels=["a", "b", "c"])
HOSTILE = ["</script><script>alert(1)</script>", "<!-- <script>", 'it\'s "so" & 🦊 {{script}}']


def stored(page: Page) -> dict:
    (data,) = re.findall(
        r'<script id="data" type="application/json">(.*?)</script>', page.html, flags=re.DOTALL
    )
    return json.loads(data)


def numbers(text: str, dtype: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype)


def attribute(page, name):
    return next(entry for entry in stored(page)["attributes"] if entry["name"] == name)


def test_the_file_is_what_is_returned(tmp_path):
    path = tmp_path / "tree.html"
    page = tr.page(STAR, path)
    assert path.read_text(encoding="utf-8") == page.html
    assert re.fullmatch(r"Page\(Tree\(3 points, 1 Steiner node\), \d+ kB\)", repr(page))


def test_nothing_is_written_without_a_path_or_after_an_error(tmp_path):
    with pytest.raises(ValueError, match="labels has 2 entries for 3 points"):
        tr.page(STAR, tmp_path / "tree.html", labels=["a", "b"])
    assert list(tmp_path.iterdir()) == []


def test_the_page_needs_nothing_else():
    text = tr.page(STAR, table={"height": [1.5, 2.5, 3.5]}).html
    # The name of SVG is no address that anybody visits.
    assert set(re.findall(r"\w+://[^\s\"'`<]*", text)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(
        r"^(import|export)\b|\bimport\(|@import|\bfetch\(|XMLHttpRequest|<link[^>]*href=\"(?!data:)",
        text,
        re.M,
    )
    assert "default-src 'none'" in text
    assert re.findall(r"\{\{\w+\}\}", text) == []


def test_the_tree_is_stored_in_preorder():
    tree = tr.datasets.random_tree(30, rng=1)
    data = stored(tr.page(tree))
    node, up = numbers(data["node"], "<i4"), numbers(data["up"], "<i4")
    length = numbers(data["length"], "<f8")
    assert data["points"] == 30
    assert sorted(node) == list(range(tree.n_nodes))
    assert up[0] == -1 and (up[1:] < np.arange(1, len(up))).all()
    np.testing.assert_array_equal(tree.pairs(node[1:], node[up[1:]]), length[1:])


def test_positions_from_the_stored_angles_are_those_of_the_embedding():
    # The page's own walk, in Python: an independent one in JavaScript is tested in a browser.
    tree = tr.datasets.random_tree(60, rng=2)
    data = stored(tr.page(tree, scale=0.5))
    node, up = numbers(data["node"], "<i4"), numbers(data["up"], "<i4")
    turn = np.exp(1j * numbers(data["angle"], "<f8"))
    step = np.tanh(0.25 * numbers(data["length"], "<f8"))
    frame = [np.eye(2, dtype=complex)]
    for k in range(1, len(up)):
        frame.append(frame[up[k]] @ np.diag([turn[k], 1]) @ np.array([[1, step[k]], [step[k], 1]]))
    places = np.array([matrix[0, 1] / matrix[1, 1] for matrix in frame])
    expected = tr.embed(tree, dim=2, scale=0.5).coordinates("poincare")[node]
    np.testing.assert_allclose(np.column_stack([places.real, places.imag]), expected, atol=1e-9)


@pytest.mark.parametrize(
    "tree",
    [
        tr.Tree(1, np.empty((0, 2), int), []),
        tr.Tree(2, [[0, 1]], [0.0]),
        tr.Tree(2, [[0, 1]], [1e-9]),
        tr.Tree(3, [[0, 1], [1, 2]], [1e9, 1e-9]),
        tr.Tree(2, [[0, 1]], [5e-324]),
        tr.Tree(2, [[0, 1]], [1e300]),
        tr.datasets.random_tree(5, shape="path"),
    ],
    ids=["one point", "length 0", "tiny", "very unequal", "denormal", "huge", "a path"],
)
def test_small_trees_have_a_page(tree):
    for shape in stored(tr.page(tree))["shapes"]:
        assert 0 < shape["scale"] < np.inf and 1 <= shape["most_spread"] <= 4


def test_a_deep_tree_has_a_page():
    tree = tr.datasets.random_tree(100_000, shape="caterpillar")
    assert len(numbers(stored(tr.page(tree))["node"], "<i4")) == tree.n_nodes


def test_hostile_text_stays_text():
    page = tr.page(STAR, labels=HOSTILE, title=HOSTILE[0], table={HOSTILE[1]: HOSTILE})
    assert stored(page)["labels"] == HOSTILE
    assert stored(page)["title"] == HOSTILE[0]
    assert attribute(page, HOSTILE[1])["categories"] == sorted(HOSTILE)
    assert len(re.findall("<script", page.html)) == 2  # the data and the program
    assert "<!--" not in page.html
    assert "<title>&lt;/script&gt;&lt;script&gt;alert(1)" in page.html


def test_numbers_and_categories_are_told_apart():
    tree = tr.datasets.random_tree(30, shape="star")
    table = {
        "real": np.linspace(0, 1, 30),
        "many": np.arange(30),
        "few": np.arange(30) % MOST_COLORS,
        "yes": np.arange(30) % 2 == 0,
        "words": [f"w{i % 3}" for i in range(30)],
        "holes": [None, *range(28), float("nan")],
    }
    page = tr.page(tree, table=table, color="words")
    kinds = {entry["name"]: entry["kind"] for entry in stored(page)["attributes"]}
    expected = ["number", "number", "category", "category", "category", "number", "category"]
    assert dict(zip([*table, "clusters (7)"], expected, strict=True)) == kinds
    assert stored(page)["color"] == 4
    assert np.isnan(numbers(attribute(page, "holes")["values"], "<f8")).tolist() == [
        True,
        *[False] * 28,
        True,
    ]
    assert attribute(page, "few")["categories"] == [str(i) for i in range(MOST_COLORS)]
    np.testing.assert_array_equal(numbers(attribute(page, "few")["values"], "<i4"), table["few"])


def test_missing_values_and_orders_of_pandas():
    kind = pd.Series(pd.Categorical(["low", None, "high"], categories=["low", "mid", "high"]), name="level")
    page = tr.page(
        STAR,
        table=pd.DataFrame({"when": pd.to_datetime(["2020-01-01", None, "2021-01-01"])}),
        color=kind,
    )
    level = attribute(page, "level")
    assert level["categories"] == ["low", "mid", "high"]
    assert numbers(level["values"], "<i4").tolist() == [0, -1, 2]
    assert numbers(attribute(page, "when")["values"], "<i4").tolist() == [0, -1, 1]
    assert stored(page)["color"] == 0


def test_a_table_is_put_into_the_order_of_the_labels():
    table = pd.DataFrame({"x": [3.5, 1.5, 2.5]}, index=["c", "a", "b"])
    assert numbers(attribute(tr.page(STAR, table=table), "x")["values"], "<f8").tolist() == [
        1.5,
        2.5,
        3.5,
    ]
    other = table.set_axis(["p", "q", "r"])
    assert numbers(attribute(tr.page(STAR, table=other), "x")["values"], "<f8").tolist() == [
        3.5,
        1.5,
        2.5,
    ]


def test_a_table_of_other_rows_is_refused():
    table = pd.DataFrame({"x": [3.5, 1.5, 2.5, 9.5]}, index=["c", "a", "b", "z"])
    assert numbers(attribute(tr.page(STAR, table=table), "x")["values"], "<f8").tolist() == [
        1.5,
        2.5,
        3.5,
    ]
    with pytest.raises(ValueError, match="the table has no row 'a', but rows for other labels of the tree"):
        tr.page(STAR, table=table.drop(index="a"))
    with pytest.raises(ValueError, match="the table has two rows 'c'"):
        tr.page(STAR, table=table.set_axis(["c", "a", "b", "c"]))
    # A plain numbering of rows is no naming, even where labels are numbers too.
    numbered = tr.Tree(3, STAR.edges, STAR.weights, labels=["2", "5", "7"])
    by_row = tr.page(numbered, table=pd.DataFrame({"x": [3.5, 1.5, 2.5]}))
    assert numbers(attribute(by_row, "x")["values"], "<f8").tolist() == [3.5, 1.5, 2.5]


def test_dates_and_times_are_readable():
    days = ["2021-03-01", "NaT", "2020-12-24"]
    table = {
        "ns": np.array(days, "M8[ns]"),
        "clock": np.array(["2020-01-01T10:30", "2019-01-01", "NaT"], "M8[us]"),
    }
    page = tr.page(STAR, table={**table, "waited": np.array([90, 1, "NaT"], "m8[m]")})
    assert attribute(page, "ns")["categories"] == ["2020-12-24", "2021-03-01"]
    assert numbers(attribute(page, "ns")["values"], "<i4").tolist() == [1, -1, 0]
    assert attribute(page, "clock")["categories"] == [
        "2019-01-01T00:00:00",
        "2020-01-01T10:30:00",
    ]
    assert numbers(attribute(page, "waited")["values"], "<f8").tolist() == pytest.approx(
        [5400, 60, np.nan], nan_ok=True
    )


def test_masked_values_are_missing_and_what_has_no_order_is_a_category():
    page = tr.page(STAR, table={"hole": np.ma.array([1.5, 2.5, 3.5], mask=[0, 1, 0]), "z": [2j, 1j, None]})
    assert np.isnan(numbers(attribute(page, "hole")["values"], "<f8")).tolist() == [
        False,
        True,
        False,
    ]
    assert attribute(page, "z")["categories"] == ["1j", "2j"]


def test_a_column_of_the_table_keeps_its_name_beside_the_color():
    page = tr.page(
        STAR,
        color=[7.5, 8.5, 9.5],
        table={"color": [1.5, 2.5, 3.5], "__proto__": ["x", "y", "z"]},
    )
    assert [entry["name"] for entry in stored(page)["attributes"][:3]] == [
        "color (given)",
        "color",
        "__proto__",
    ]
    assert numbers(stored(page)["attributes"][stored(page)["color"]]["values"], "<f8").tolist() == [
        7.5,
        8.5,
        9.5,
    ]


def test_categories_are_in_natural_order():
    names = [f"b{i}" for i in range(40, 0, -1)] + ["a"] * 5
    tree = tr.datasets.random_tree(45, shape="star")
    stored_names = attribute(tr.page(tree, color=names), "color")["categories"]
    assert stored_names == ["a", *(f"b{i}" for i in range(1, 41))]
    signs = attribute(tr.page(STAR, color=[-1, -2, 10]), "color")["categories"]
    assert signs == ["-2", "-1", "10"]


def test_true_distances_are_stored_where_they_are_few():
    data = tr.datasets.sarich()
    tree = tr.fit(data)
    kept = numbers(stored(tr.page(tree, data=data))["distances"], "<f8")
    np.testing.assert_array_equal(kept, data.block(range(8), range(8))[np.triu_indices(8, 1)])
    assert stored(tr.page(tree))["distances"] is None
    large = tr.datasets.random_tree(MOST_DISTANCES + 1)
    assert stored(tr.page(large, data=large))["distances"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"color": "size"},
            "color='size' is not a column of the table, which has 'x': use a column name",
        ),
        ({"color": [1, 2]}, r"column 'color' has shape \(2,\) for 3 points"),
        (
            {"table": {"y": [[1, 2], [3, 4], [5, 6]]}},
            r"column 'y' has shape \(3, 2\) for 3 points",
        ),
        ({"table": {"y": [1.0, np.inf, 2.0]}}, "column 'y' is infinite at point 1"),
        ({"data": np.zeros((2, 2))}, "data has 2 points and the tree has 3"),
        (
            {"data": tr.Tree(3, [[0, 1], [1, 2]], [1.0, 1.0], labels="xyz")},
            "data has no point 'a'",
        ),
        ({"scale": 0}, "scale must be a number above 0, not 0"),
        ({"scale": float("nan")}, "scale must be a number above 0, not nan"),
        ({"scale": 1000}, "scale=1000 makes the longest edge too long: use at most 20"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        tr.page(STAR, **{"table": {"x": [1.0, 2.0, 3.0]}, **options})


def test_only_a_tree_has_a_page():
    with pytest.raises(TypeError, match="fit one first"):
        tr.page(tr.datasets.sarich())
    with pytest.raises(TypeError, match="table must be a DataFrame or a dict of columns, got list"):
        tr.page(STAR, table=[1, 2, 3])


def test_notebooks_show_small_trees_and_name_large_ones():
    shown = STAR._repr_html_()
    assert shown.startswith("<iframe ") and "<script" not in shown  # all inside an attribute
    large = tr.datasets.random_tree(MOST_IN_NOTEBOOK + 1)
    assert large._repr_html_() == (
        f"<p>Tree({MOST_IN_NOTEBOOK + 1:,} points, 0 Steiner nodes); explore it with"
        " <code>tr.page(tree, 'tree.html')</code></p>"
    )


# The modules are written to be modules of their own, and put into one scope.


def module(name: str) -> str:
    return SOURCES.joinpath(f"{name}.js").read_text(encoding="utf-8")


def exports(name: str) -> set[str]:
    return set(re.findall(r"^export (?:async )?(?:const|let|function|class) (\w+)", module(name), flags=re.M))


def test_every_source_is_in_the_page():
    found = [path for path in SOURCES.rglob("*") if path.suffix in {".js", ".css", ".html"}]
    names = {path.relative_to(SOURCES).as_posix() for path in found}
    assert names == {
        *(f"{name}.js" for name in MODULES),
        *(f"{name}.css" for name in STYLES),
        "page.html",
    }


@pytest.mark.parametrize("name", MODULES)
def test_imports_name_exports_of_earlier_modules(name):
    earlier = MODULES[: MODULES.index(name)]
    imported = re.findall(r'^import \{([^}]*)\} from "([\w./]+)\.js";$', module(name), flags=re.M)
    assert len(imported) == len(re.findall(r"^import\b", module(name), flags=re.M))
    for names, path in imported:
        source = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
        assert source in earlier
        wanted = {word.strip() for word in names.split(",")}
        assert wanted <= exports(source)
        body = re.sub(r"^import[^;]*;", "", module(name), flags=re.M)
        assert all(re.search(rf"\b{word}\b", body) for word in wanted), "an import that is not used"


def test_modules_share_one_scope_without_clashes():
    top = r"^(?:export )?(?:async )?(?:const|let|function|class) (\w+)"
    names = [word for name in MODULES for word in re.findall(top, module(name), flags=re.M)]
    assert len(names) == len(set(names))


def test_names_twice_are_refused():
    with pytest.raises(ValueError, match="the label 'x' occurs more than once: make labels unique, .* table"):
        tr.page(STAR, labels=["x", "y", "x"])


def test_a_title_that_no_file_can_hold(tmp_path):
    with pytest.raises(ValueError, match="UTF-8 cannot encode the character"):
        tr.page(STAR, tmp_path / "tree.html", title="\ud800")
    assert list(tmp_path.iterdir()) == []
