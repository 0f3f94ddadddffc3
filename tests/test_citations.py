import re
import subprocess
import sys

import pytest

import treerep as tr
from treerep import citations
from treerep._core import used as used_module
from treerep._core.used import note, used
from treerep.citations import CITED, bibtex
from treerep.embedding.methods import METHODS as EMBED_METHODS
from treerep.fitting.methods import METHODS as FIT_METHODS
from treerep.metric.graph import GraphMetric

ENTRIES = citations._entries()


def keys(text):
    return re.findall(r"^@\w+\{(\w+),", text, flags=re.MULTILINE)


def test_every_method_is_listed_and_every_entry_is_used():
    others = {"hyperbolicity", "missing", "hub_labels", "bootstrap", "consensus"}
    assert set(CITED) == {*FIT_METHODS, *EMBED_METHODS, "refine", "tree_sum", *others}
    assert {key for cited in CITED.values() for key in cited} == set(ENTRIES)


@pytest.mark.parametrize("key", ENTRIES)
def test_entries_are_complete(key):
    entry = ENTRIES[key]
    assert entry.count("{") == entry.count("}")
    fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", entry, flags=re.MULTILINE))
    assert len(fields) == entry.count("\n") - 1  # nothing else stands in it
    assert {"author", "title", "year"} <= set(fields)
    assert len({"journal", "booktitle"} & set(fields)) == 1
    assert key == re.match(r"(?:\w+ )?(\w+)", fields["author"])[1].lower() + fields["year"]
    assert fields["title"] and 1950 < int(fields["year"]) < 2030


def test_named_methods_come_once_each_after_software_and_paper():
    assert keys(bibtex("neighbor_joining", "hmds", "pt")) == [
        "treerep",
        "sonthalia2020",
        "saitou1987",
        "studier1988",
        "sala2018",
    ]
    assert keys(bibtex("bfs")) == ["treerep", "sonthalia2020"]
    assert f"Version {tr.__version__}" in bibtex("bfs")
    with pytest.raises(
        ValueError,
        match=r"unknown method 'nj' \(did you mean 'neighbor_joining'\?\): choose one of auto, ",
    ):
        bibtex("treerep", "nj")


def test_what_was_used_is_noted():
    # In a process of its own: here other tests have used everything.
    code = (
        "import treerep as tr; from treerep.citations import bibtex; from treerep._core.used import used\n"
        "tree = tr.fit([[0, 2, 2], [2, 0, 2], [2, 2, 0]], method='upgma'); tr.embed(tree); tr.hyperbolicity(tree)\n"
        "tr.refine(tree, tree); print(*used()); print(bibtex())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names, text = done.stdout.split("\n", 1)
    assert names.split() == ["upgma", "sarkar", "hyperbolicity", "refine"]
    assert text == bibtex("upgma", "sarkar", "hyperbolicity", "refine") + "\n"


def test_labels_of_graphs_are_noted():
    graph = GraphMetric([[i, i + 1] for i in range(40)])
    assert graph.oracle is not None
    assert "hub_labels" in used()


def test_notes_keep_the_order_of_first_use(monkeypatch):
    monkeypatch.setattr(used_module, "_USED", {})
    for name in ("treerep", "bfs", "treerep"):
        note(name)
    assert used() == ("treerep", "bfs")


def test_sums_of_trees_are_noted(monkeypatch):
    monkeypatch.setattr(used_module, "_USED", {})
    tr.fit(tr.datasets.sarich(), trees=2)
    assert used()[0] == "tree_sum"
    expected = ["treerep", "sonthalia2020", "evans2006", "fitch1967", "bryant1998"]
    assert keys(bibtex("tree_sum")) == expected
    assert "evans2006" in keys(bibtex())
