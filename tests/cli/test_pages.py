"""Examples of the command line in the documentation print the results shown."""

import importlib
import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.main import get_command

import treerep as tr
from tests.cli.commands import assert_one_line_error
from tests.shown import is_printed
from treerep.cli._options import Reading
from treerep.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/howto/command_line.md")
ORDERS = {"cat": "Feliformia", "monkey": "Primates"}


def sessions(page):
    """Yield each command of a page, and the lines shown below it."""
    for block in re.findall(
        r"```console\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL
    ):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            yield command, shown


@pytest.mark.parametrize("page", PAGES)
def test_examples_print_what_is_shown(call, data_folder, tmp_path, page):
    shutil.copy(data_folder / "sarich.csv", tmp_path / "mammals.csv")
    shutil.copy(data_folder / "graphs" / "celegan.edges.gz", tmp_path / "celegan.edges.gz")
    names = tr.datasets.sarich().labels
    rows = "".join(f"{name},{ORDERS.get(name, 'Caniformia')}\n" for name in reversed(names))
    (tmp_path / "orders.csv").write_text(f"species,order\n{rows}")
    seal = tr.datasets.sarich().block([names.index("seal")], range(len(names)))[0]
    cells = ",".join(str(distance + 4) for distance in seal)
    (tmp_path / "new.csv").write_text(f"species,{','.join(names)}\nwalrus,{cells}\n")
    for command, shown in sessions(page):
        if command.startswith("cp "):
            continue
        piped = re.fullmatch(r"cat (\S+) \| (.*)", command)
        stdin = (tmp_path / piped[1]).read_bytes() if piped else b""
        done = call(*shlex.split(piped[2] if piped else command)[1:], stdin=stdin)
        assert done.returncode == 0, (command, done.stderr)
        for line in shown:
            if line != "…" and not re.match(r"[│┏┃┡└]", line):
                assert is_printed(line, done.stdout + done.stderr), (command, line)
        for cells in table_rows(shown):
            assert any(same_row(cells, row) for row in table_rows(done.stdout.splitlines())), cells


def table_rows(lines):
    """Return the cells of each row of a printed table by column, without marks of the best value."""
    heading = next((line for line in lines if line.startswith("┃")), "")
    titles = [cell.strip() for cell in heading.strip("┃").split("┃")]
    rows = [line.strip("│").split("│") for line in lines if line.startswith("│")]
    return [dict(zip(titles, (cell.replace("*", "").strip() for cell in row), strict=True)) for row in rows]


def same_row(shown, printed):
    """Return whether two rows of a table agree in everything but the time."""
    return shown.keys() == printed.keys() and all(
        is_printed(shown[title], printed[title]) for title in shown if title != "seconds"
    )


def test_a_wrong_row_is_found():
    row = {"method": "upgma", "distortion": "0.08", "seconds": "1"}
    assert same_row(row, {**row, "seconds": "2"})
    assert not same_row(row, {**row, "distortion": "0.09"})


def test_headings_of_tables_are_the_printed_ones(call, data_folder, tmp_path):
    shutil.copy(data_folder / "sarich.csv", tmp_path / "mammals.csv")
    done = call("compare", "mammals.csv", "--methods", "upgma,neighbor_joining")
    printed = re.search(r"^┃.*┃$", done.stdout, flags=re.MULTILINE)[0]
    titles = [cell.strip() for cell in printed.strip("┃").split("┃")]
    for page in PAGES:
        shown = re.search(r"^┃.*┃$", (ROOT / page).read_text("utf-8"), flags=re.MULTILINE)[0]
        cells = [cell.strip() for cell in shown.strip("┃").split("┃")]
        assert [cell for cell in cells if cell != "MAP"] == titles


def test_every_command_has_a_section_and_an_example():
    text = (ROOT / "docs" / "howto" / "command_line.md").read_text(encoding="utf-8")
    headings = {
        word.strip(",")
        for line in re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
        for word in line.split()
    }
    commands = set(get_command(app).commands)
    assert commands <= headings
    used = {
        re.search(r"treerep ([\w-]+)", command)[1] for command, _ in sessions("docs/howto/command_line.md")
    }
    assert commands - used == {"warm-up", "demo"}


@pytest.fixture
def reference(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return importlib.import_module("command_line_reference").reference()


def test_the_reference_has_every_command_and_option(reference):
    def check(group, prefix):
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                check(command, f"{prefix}{name} ")
                continue
            section = re.search(rf"^## {prefix}{name}$(.*?)(?=^## |\Z)", reference, re.MULTILINE | re.DOTALL)[
                1
            ]
            for row in command.params:
                names = row.opts if row.param_type_name == "option" else [row.metavar]
                shared = row.name in Reading.__dataclass_fields__
                place = reference if shared else section
                assert all(f"`{word}" in place for word in names if word != "--help")

    check(get_command(app), "")


def test_the_reference_has_defaults(reference):
    assert "| `--seed` N | Random seed. The same seed gives the same result. | `0` |" in reference
    assert "| `--jobs` N | Number of threads. | all cores |" in reference
    assert re.search(r"\| `--moves`, `--no-moves` \| .* \| `--moves` \|", reference)
    assert re.search(r"^\| `--output`, `-o` FILE \| .* \| required \|$", reference, re.MULTILINE)


@pytest.mark.parametrize(
    ("newick", "message"),
    [
        ("((a,b),(c,d));", "length.*: add one"),
        ("((a:1,a:1):1,(c:1,d:1):1);", "'a' occurs twice: name each point once"),
        ("((a:1,b:-1):1,(c:1,d:1):1);", "length -1.0 is negative"),
    ],
)
@pytest.mark.parametrize("command", ["draw", "convert"])
def test_errors_do_not_recommend_python(call, tmp_path, newick, message, command):
    (tmp_path / "tree.nwk").write_text(newick)
    output = ["-o", "tree.pdf"] if command == "draw" else ["tree.nex"]
    done = call(command, "tree.nwk", *output)
    assert_one_line_error(done, message)
    assert not re.search(r"inner_labels|default_length|\w=|\btr\.", done.stderr)


def test_the_third_column_of_an_edge_list_is_a_length(call, tmp_path):
    (tmp_path / "network.edges").write_text("a b 2\nb c 3.5\n")
    assert "\na 0.0 2.0 5.5\n" in call("convert", "network.edges", "-", "--to", "phylip").stdout
    counted = call("convert", "network.edges", "-", "--to", "phylip", "--unweighted")
    assert "\na 0.0 1.0 2.0\n" in counted.stdout
