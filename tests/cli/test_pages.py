"""What the documentation shows of the command line is what it does."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.main import get_command

import treerep as tr
from tests.shown import is_printed
from treerep.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
ORDERS = {"cat": "Feliformia", "monkey": "Primates"}


def sessions(page):
    """Each command of a page, and the lines shown below it."""
    for block in re.findall(
        r"```console\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL
    ):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            yield command, shown


@pytest.mark.parametrize("page", ["README.md", "docs/howto/command_line.md"])
def test_examples_print_what_is_shown(call, data_folder, tmp_path, page):
    shutil.copy(data_folder / "sarich.csv", tmp_path / "mammals.csv")
    shutil.copy(data_folder / "graphs" / "celegan.edges.gz", tmp_path / "celegan.edges.gz")
    names = tr.datasets.sarich().labels
    rows = "".join(f"{name},{ORDERS.get(name, 'Caniformia')}\n" for name in reversed(names))
    (tmp_path / "orders.csv").write_text(f"species,order\n{rows}")
    for command, shown in sessions(page):
        if command.startswith("cp "):
            continue
        piped = re.fullmatch(r"cat (\S+) \| (.*)", command)
        stdin = (tmp_path / piped[1]).read_bytes() if piped else b""
        done = call(*shlex.split(piped[2] if piped else command)[1:], stdin=stdin)
        assert done.returncode == 0, (command, done.stderr)
        for line in shown:
            # Rows of a table differ by their times, and so does the width of their columns.
            if line != "…" and not re.match(r"[│┏┃┡└]", line):
                assert is_printed(line, done.stdout + done.stderr), (command, line)


def test_every_command_has_its_place_on_the_page():
    text = (ROOT / "docs" / "howto" / "command_line.md").read_text(encoding="utf-8")
    headings = {
        word.strip(",")
        for line in re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
        for word in line.split()
    }
    commands = set(get_command(app).commands)
    assert commands == headings - {"and"}
    used = {
        re.search(r"treerep ([\w-]+)", command)[1]
        for command, _ in sessions("docs/howto/command_line.md")
    }
    assert commands - used == {"warm-up", "demo"}
