"""The paper's pipeline on its smallest cells, and what is committed of the large ones."""

import json
from contextlib import redirect_stderr, redirect_stdout
from html.parser import HTMLParser
from io import StringIO
from types import SimpleNamespace

import pytest

from paper import __main__ as whole
from paper import published, report, tables
from paper.cells import FOLDER, Key, Store, Worker, compute
from paper.command import chosen, experiment, run_alone

SMALLEST = {
    "schematics": [Key("universal", "tr"), Key("zones", "tr")],
    "reconstruction": [Key("11", "tr"), Key("40", "nj")],
    "random_points": [Key("dim2", "nj"), Key("scale2", "mst_knn")],
    "sarich": [Key("sarich", "tr"), Key("sarich", "ct")],
    "graphs": [
        Key("celegans", "nj"),
        Key("celegans", "ls"),
        Key("celegans", "auto"),
        Key("celegans", "delta"),
    ],
    "best": [Key("celegans", "full")],
}


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """A folder into which the smallest cells were computed anew, and the report written."""
    folder = tmp_path_factory.mktemp("check")
    keys = [key for group in SMALLEST.values() for key in group]
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = whole.check(within=60, only=keys, folder=folder)
    return SimpleNamespace(folder=folder, code=code, out=out.getvalue(), err=err.getvalue(), cells=len(keys))


def test_smallest_cells_computed_anew_are_as_stored(checked):
    assert checked.code == 0, checked.err
    assert checked.out.startswith(f"{checked.cells} recomputed cells agree with the stored ones")


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.links, self.images = [], [], 0

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.links += [named[name] for name in ("href", "src") if name in named]
        self.images += tag == "img"
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


# Next to the test before, so that one test process nearly always runs both, and computes the cells once.
def test_the_report_explains_all_and_stands_alone(checked):
    assert report.unexplained([report.Part(name, Store(name)) for name in report.EXPERIMENTS]) == []
    text = (checked.folder / "report.md").read_text()
    assert text == (report.FOLDER / "report.md").read_text()
    assert all(f"## {title}" in text for title in report.EXPERIMENTS.values())
    page = _Page()
    page.feed((checked.folder / "report.html").read_text())
    assert page.open == [] and page.images == 6
    assert all(link.startswith(("#", "data:image/svg+xml;base64,")) for link in page.links)


def test_a_stored_score_that_is_wrong_is_found(tmp_path):
    stored = json.loads((FOLDER / "graphs.json").read_text())["celegans/nj"]
    assert whole.compare(stored, stored) == []
    assert whole.compare(stored, {**stored, "map": stored["map"] + 0.01}) != []
    assert whole.compare(stored, {}) != []


def test_finished_cells_are_kept_and_not_computed_again(tmp_path):
    key = Key("11", "nj")
    with Worker() as worker:
        assert compute(Store("reconstruction", tmp_path), [key], worker=worker) == [key]
        anew = Store("reconstruction", tmp_path)
        assert anew[key]["right"] == 0.0 and anew[key]["error"] < 1e-14
        assert compute(anew, [key], worker=worker) == []
        with pytest.raises(RuntimeError, match="sarich sarich/nothing: KeyError: 'nothing'"):
            compute(Store("sarich", tmp_path), [Key("sarich", "nothing")], worker=worker)


def test_a_cell_over_its_limit_says_so_and_the_next_is_computed(tmp_path):
    store = Store("sarich", tmp_path)
    with Worker() as worker:
        compute(store, [Key("sarich", "nj")], limit=0.01, worker=worker)
        assert store[Key("sarich", "nj")] == {"over": 0.01}
        compute(store, [Key("sarich", "mst")], worker=worker)
    assert store.get("sarich", "mst", "scaled") == pytest.approx(0.171, abs=5e-4)


def test_an_experiment_runs_alone(tmp_path, capsys):
    run_alone("reconstruction", ["--only", "11", "--methods", "tr", "--cells", str(tmp_path)])
    assert "| TR | **" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stop:
        run_alone("graphs", ["--only", "mars"])
    assert stop.value.code == 2 and "no 'mars' here: choose from celegans" in capsys.readouterr().err


def test_keys_are_chosen_by_row_and_column():
    keys = [Key("a", "x"), Key("a", "y"), Key("b", "x")]
    assert chosen(keys, ["a"], None) == keys[:2]
    assert chosen(keys, None, ["x"]) == [keys[0], keys[2]]


def test_a_worse_score_without_a_note_is_named(tmp_path):
    store = Store("graphs", tmp_path)
    store.put(Key("celegans", "nj"), {"map_rank": 0.5, "plain": 0.1})
    assert report.unexplained([report.Part("graphs", store)]) == [
        "graphs: Mean average precision: celegans NJ"
    ]


@pytest.mark.parametrize(
    ("ours", "paper", "better", "verdict"),
    [
        (0.5, 0.4, "higher", "better"),
        (0.4, 0.4004, "higher", "same"),
        (0.39, 0.4, "higher", "close"),
        (0.37, 0.4, "higher", "worse"),
        (0.5, 0.4, "lower", "worse"),
        (0.3, 0.4, "lower", "better"),
        (2.0, 1.0, "time", "worse"),
        (None, 1.0, "lower", "alone"),
    ],
)
def test_who_is_better(ours, paper, better, verdict):
    assert tables.beside(ours, paper, better).verdict == verdict


def test_published_tables_are_whole():
    assert published.GRAPH_MAP["grqc"]["pm200"] == 0.784 and published.GRAPH_MAP["enron"]["nj"] is None
    assert published.GRAPH_SECONDS["wordnet"]["ls"] == 0.08
    assert set(published.GRAPH_MAP) == set(published.GRAPH_DISTORTION) == set(published.GRAPH_SECONDS)


def test_treerep_is_twenty_times_as_fast_as_in_the_paper():
    # The stored times, not those of this machine.
    paper = {("graphs", name): row["tr"] for name, row in published.GRAPH_SECONDS.items()}
    paper |= {("single_cell", name): row["tr"] for name, row in published.CELLS_SECONDS.items()}
    paper |= {("reconstruction", size): time for size, time in published.RECONSTRUCTION["tr"].items()}
    rows = {place: time for place, time in paper.items() if time > 0.01}
    slow = [
        place for place, time in rows.items() if time < 20 * Store(place[0]).get(place[1], "tr", "seconds")
    ]
    assert len(rows) == 15 and slow == []


def test_every_cell_of_trees_is_stored():
    # Cells of torch may come from another machine; those that are left out are named in the report.
    for name in report.EXPERIMENTS:
        every = experiment(name).keys()
        missing = [str(key) for key in every if key not in Store(name)]
        assert not missing, (name, missing)


@pytest.mark.parametrize("name", ["graphs", "single_cell"])
def test_the_default_is_closer_to_all_data_than_treerep(name):
    # Distortion as it is: the default is not scaled.
    store, module = Store(name), experiment(name)
    data = {key.data for key in module.keys() if key.method == "auto"}  # noqa: SIM118 (a module, not a dict)
    assert data == {key.data for key in module.keys() if key.method == "tr_ours"}  # noqa: SIM118
    further = [one for one in data if store.get(one, "auto", "plain") >= store.get(one, "tr_ours", "plain")]
    assert further == []
    shown = [table for table in module.tables(store) if "Default" in table.columns]
    assert {table.title for table in shown} >= {"Average distortion", "Seconds"}
