"""Stress test: fuzz every parser, guided by coverage (atheris) if installed, else by mutation.

Inputs that fail are kept in `tests/formats/corpus`, which the tests read.
"""

import hashlib
import importlib
import importlib.util
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from .common import PACKAGE, ROOT, Result, environment

CORPUS = ROOT / "tests" / "formats" / "corpus"
NAMES = ("data", "trees", "newick", "stored", "chunks", "shell")
# Folders and files of the package with parsers, which atheris instruments. Kernels are left out, because numba compiles
# their bytecode.
_FOLDERS = ("formats", "metric/disk", "tree/exchange")
_FILES = (
    "_core/io/archive.py",
    "_core/io/edge_list.py",
    "cli/_attribute_tables.py",
    "cli/_inputs.py",
    "embedding/_embedding_files.py",
)
_MOST_FAULTS = 5  # per target; a fault ends the process, and a new one starts
_LONG = 25  # seconds for one input


def watched() -> list[str]:
    """Return the modules that atheris instruments."""
    inside = [path for folder in _FOLDERS for path in sorted((PACKAGE / folder).rglob("*.py"))]
    files = [path for path in inside if path.name != "__init__.py" and not path.stem.endswith("kernels")]
    files += [PACKAGE / name for name in _FILES]
    return [".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in files]


def campaign(minutes: float = 3.0) -> Result:
    """Fuzz the targets one after the other, for equal shares of the time."""
    before = set(CORPUS.glob("*/*"))
    tried, faults = 0, []
    for name in NAMES:
        end = time.monotonic() + minutes * 60 / len(NAMES)
        for _ in range(_MOST_FAULTS):
            done = _in_child(name, max(1.0, end - time.monotonic()))
            said = done.stdout + done.stderr
            counts = re.findall(r"^(?:tried |stat::number_of_executed_units:\s*)(\d+)", said, re.MULTILINE)
            tried += sum(map(int, counts))
            if done.returncode == 0:
                break
            faults.append(
                f"{name}: ended with {done.returncode} ({' '.join(said.strip().splitlines()[-1:])})"
            )
            if time.monotonic() > end:
                break
    faults += [f"{path.parent.name}: {path.name}" for path in sorted(set(CORPUS.glob("*/*")) - before)]
    engine = "atheris" if _guided() else "mutation"
    return Result(
        f"{len(NAMES)} groups of parsers, fuzzed by {engine} for {minutes:g} minutes",
        tried,
        faults,
    )


def _in_child(name: str, seconds: float) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory(prefix="treerep-harden-") as folder:
        words = [sys.executable, "-m", "harden.parsers", name, str(seconds), folder]
        return subprocess.run(words, capture_output=True, text=True, env=environment(), cwd=ROOT, check=False)


def fuzz(name: str, seconds: float, folder: Path) -> int:
    """Fuzz one target and return the number of faults."""
    (CORPUS / name).mkdir(parents=True, exist_ok=True)
    return _fuzz_guided(name, seconds, folder) if _guided() else _fuzz_blind(name, seconds)


def _guided() -> bool:
    return importlib.util.find_spec("atheris") is not None


def _fuzz_guided(name: str, seconds: float, folder: Path) -> int:
    import atheris

    modules = watched()
    with atheris.instrument_imports(include=modules):
        for module in modules:
            importlib.import_module(module)
    from .targets import LEAST, TARGETS, seeds

    target, least = TARGETS[name], LEAST.get(name, 1)
    for k, seed in enumerate(seeds(name)):
        (folder / f"seed-{k}").write_bytes(seed)
    limits = [
        f"-max_total_time={max(1, round(seconds))}",
        f"-timeout={_LONG}",
        "-rss_limit_mb=4096",
        "-max_len=4096",
    ]
    kept = [f"-artifact_prefix={CORPUS / name}/", "-print_final_stats=1"]
    atheris.Setup(
        [sys.argv[0], *limits, *kept, str(folder)],
        lambda data: target(data) if len(data) >= least else None,
    )
    atheris.Fuzz()  # ends the process
    return 0


def _fuzz_blind(name: str, seconds: float, seed: int | None = None) -> int:
    from .targets import ALL_PIECES, LEAST, TARGETS, seeds

    target, least, valid = TARGETS[name], LEAST.get(name, 1), seeds(name)
    choose = random.Random(seed)
    end, tried, faults = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        content = mutated(choose.choice(valid), ALL_PIECES, choose, least)
        tried += 1
        try:
            target(content)
        except Exception:
            faults += 1
            (CORPUS / name / f"crash-{hashlib.sha1(content).hexdigest()}").write_bytes(
                content
            )  # as atheris names it
            traceback.print_exc()
    print(f"tried {tried}")
    return faults


def mutated(content: bytes, pieces: list[bytes], choose: random.Random, least: int) -> bytes:
    """Return the content with a few bytes removed, replaced, repeated or inserted."""
    for _ in range(choose.randint(1, 4)):
        begin = choose.randint(least, max(least, len(content)))
        end = min(len(content), begin + choose.choice((0, 1, 2, 6, 40)))
        piece = choose.choice(
            (
                choose.choice(pieces),
                choose.randbytes(choose.randint(0, 4)),
                content[begin:end] * 2,
            )
        )
        content = content[:begin] + piece + content[end:]
    head = bytes([choose.randrange(256)]) if choose.random() < 0.3 else content[:1]
    return head + content[1:]


if __name__ == "__main__":
    sys.exit(1 if fuzz(sys.argv[1], float(sys.argv[2]), Path(sys.argv[3])) else 0)
