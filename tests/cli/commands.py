"""The command as a user types it, and the same within this process, where breadth matters more."""

import io
import re
import subprocess
import sys
from typing import NamedTuple

import pytest

from treerep.cli import main


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def treerep(*arguments, python=(), **options):
    command = [sys.executable, *python, "-m", "treerep", *map(str, arguments)]
    options = {"stdin": subprocess.DEVNULL, **options} if "input" not in options else options
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


class Caller:
    """Calls `main` and tells what it printed."""

    def __init__(self, capfd, monkeypatch):
        self.capfd, self.monkeypatch = capfd, monkeypatch

    def __call__(self, *arguments, stdin=b""):
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))
        self.capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in arguments])
        sys.stdout.flush()
        out, err = self.capfd.readouterr()
        return Done(ended.value.code, out, err)


def assert_one_line_error(done, match):
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert re.fullmatch(rf"treerep: error: .*{match}.*\n", done.stderr), done.stderr
