"""Store the results of all examples, and compare two stores, to explain what a change of the package changed.

    python -m release.baseline store FOLDER
    python -m release.baseline compare BEFORE NOW

`store` runs the tutorials, the other Python blocks of the documentation, its sessions of the command line, and the
cells of the paper's tables that took at most a second (`--within SECONDS` for more). For each statement it records
the printed text, the variables, the figures and the files: trees as splits with lengths, other metrics by a sample of
their distances, arrays by two sums, interactive pages by their data. `compare` lists the differences in words and
fails if it finds any.

To store the results of another version, give its checkout, and put its source first on the path:

    PYTHONPATH=OTHER/src python -m release.baseline store FOLDER --root OTHER

Only public names of the package are used, so that most versions can be compared. Statements are matched by their code:
a statement that changed in the documentation is listed as removed and added.
"""

import argparse
import ast
import contextlib
import datetime as dt
import difflib
import gzip
import hashlib
import importlib
import io
import json
import math
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import types
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
ROOT = HERE.parents[1]
Record = dict[str, Any]

# The same block as in tests/docs/test_examples.py: cells of notebooks and plain blocks.
_BLOCK = re.compile(
    r"^(?P<left_out>% not run: [^\n]+\n)?```(?:python|\{code-cell\} ipython3)\n(?::tags:[^\n]*\n)?(?P<code>.*?)^```",
    flags=re.DOTALL | re.MULTILINE,
)
_SCRIPT = 'if __name__ == "__main__"'
#: Pages with sessions of the command line whose input files are prepared by `_prepare_session`.
_SESSIONS = ("README.md", "docs/howto/command_line.md")
# Times, addresses in memory and folders of a run differ from run to run.
_SECONDS = re.compile(r"\b\d[\d.,]*(?= ?(?:s|ms|seconds?|minutes?)\b)|(?<=\"seconds\": )[\d.e-]+")
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_MOST_TEXT = 2000
_MOST_SPLITS = 3000
_MOST_ITEMS = 200
#: Values of the paper's cells that are times, or say where they were measured.
_TIMES = ("seconds", "preparing", "took", "machine")


def parts(root: Path, within: float) -> list[str]:
    """Return the names of what is run: pages, sessions, and experiments of the paper."""
    found = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    pages = {
        path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
        for path in found
        if path.is_file() and "_build" not in path.parts
    }
    names = [page for page, text in pages.items() if _BLOCK.search(text)]
    names += [f"session {page}" for page in _SESSIONS if page in pages]
    if within > 0 and (root / "paper" / "cells").is_dir():
        names += [f"paper {path.stem}" for path in sorted((root / "paper" / "cells").glob("*.json"))]
    return names


def store(folder: Path, root: Path, within: float, only: list[str]) -> int:
    """Run every part in a new process and a new folder; return the number of parts that failed."""
    folder.mkdir(parents=True, exist_ok=True)
    known = parts(root, within)
    unknown = sorted(set(only) - set(known))
    if unknown:
        raise SystemExit(f"no part is named {unknown[0]!r}; choose from: {', '.join(known)}")
    failed = 0
    for name in only or known:
        start = _child_seconds()
        target = folder / f"{re.sub(r'[^a-zA-Z0-9_.]+', '-', name)}.json"
        with tempfile.TemporaryDirectory(prefix="baseline-") as place:
            words = [sys.executable, str(HERE), "run", name, str(root), str(target.resolve()), str(within)]
            done = subprocess.run(words, cwd=place, env=_environment(root, place), check=False)
        seconds = _child_seconds() - start
        errors = 0
        if done.returncode == 0:
            record = json.loads(target.read_text(encoding="utf-8"))
            errors = sum("error" in one for one in record["statements"])
        failed += bool(done.returncode or errors)
        told = f"ended with exit code {done.returncode}" if done.returncode else f"{errors} errors"
        print(
            f"{name}: {seconds:.1f} s of CPU time{f', {told}' if done.returncode or errors else ''}",
            flush=True,
        )
    print(f"{len(only or known)} parts in {_child_seconds():.0f} s of CPU time; {failed} with errors")
    return failed


def _child_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _environment(root: Path, place: str) -> dict[str, str]:
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH", str(root / "src")), str(root)]))
    data = os.environ.get("TREEREP_DATA", str(root.parent / "shared" / "data"))
    return {
        **os.environ,
        "PYTHONPATH": path,
        "TREEREP_DATA": data,
        "PYTHONHASHSEED": "0",
        "SOURCE_DATE_EPOCH": "0",  # of figures in files
        "MPLBACKEND": "Agg",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "BASELINE_FOLDER": place,
    }


def run_part(name: str, root: Path, target: Path, within: float) -> None:
    """Run one part in this process and this folder, and write its record."""
    kind, _, rest = name.partition(" ")
    if kind == "paper":
        statements = list(_paper_cells(rest, root, within))
    elif kind == "session":
        statements = list(_session((root / rest).read_text(encoding="utf-8"), Path()))
    else:
        statements = list(_page((root / name).read_text(encoding="utf-8"), Path()))
    text = json.dumps({"name": name, "statements": statements}, indent=1, sort_keys=True)
    target.write_text(text + "\n", encoding="utf-8")


def _page(text: str, folder: Path) -> Iterator[Record]:
    """Yield the records of a page's statements."""
    namespace: dict[str, Any] = {"__name__": "page"}
    variables: Record = {}
    before: Record = {}
    seen: list[Any] = []
    for match in _BLOCK.finditer(text):
        if match["left_out"]:
            continue
        code = match["code"]
        if _SCRIPT in code:
            yield _script(code, folder)
            continue
        for statement in ast.parse(code).body:
            yield _statement(statement, namespace, variables)
        record: Record = {"code": f"# the end of: {ast.unparse(ast.parse(code))[:60]}"}
        record |= {"figures": shown} if (shown := _new_figures(seen)) else {}
        now = fingerprints(folder)
        record |= {"files": found} if (found := _changed(before, now)) else {}
        if len(record) > 1:
            yield record
        before = now


def _statement(statement: ast.stmt, namespace: dict[str, Any], variables: Record) -> Record:
    """Run a statement and record its value, what it prints, and the variables that it mentions."""
    record: Record = {"code": ast.unparse(statement)}
    printed = io.StringIO()
    value = None
    if "torch" in sys.modules:  # the examples do not set its seed
        sys.modules["torch"].manual_seed(0)
    try:
        with contextlib.redirect_stdout(printed):
            if isinstance(statement, ast.Expr):
                value = eval(compile(ast.Expression(statement.value), "page", "eval"), namespace)
            else:
                exec(compile(ast.Module([statement], []), "page", "exec"), namespace)  # noqa: S102
    except Exception as error:
        record["error"] = _normal(f"{type(error).__name__}: {error}")
    if printed.getvalue():
        record["printed"] = _text(printed.getvalue())
    if value is not None:
        record["value"] = fingerprint(value)
        shown = getattr(value, "_repr_html_", None)  # a notebook's name, not ours
        if shown is not None and type(value).__module__.startswith("treerep"):
            record["shown"] = _html(shown())
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    changed = {}
    for name in sorted(names & namespace.keys()):
        now = fingerprint(namespace[name])
        if now is not None and now != variables.get(name):
            changed[name] = variables[name] = now
    if changed:
        record["variables"] = changed
    return record


def _script(code: str, folder: Path) -> Record:
    """Run a block as a program, since it starts processes."""
    (folder / "script.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "script.py"], capture_output=True, text=True, cwd=folder, check=False
    )
    (folder / "script.py").unlink()
    record: Record = {"code": ast.unparse(ast.parse(code)), "printed": _text(done.stdout)}
    if done.returncode:
        record["error"] = _normal(done.stderr)[-500:]
    return record


def _prepare_session(folder: Path) -> None:
    """Write the files that the sessions of the documentation read."""
    tr: Any = importlib.import_module("treerep")
    data = Path(os.environ["TREEREP_DATA"])
    shutil.copy(data / "sarich.csv", folder / "mammals.csv")
    shutil.copy(data / "graphs" / "celegan.edges.gz", folder / "celegan.edges.gz")
    mammals = tr.datasets.sarich()
    names = list(mammals.labels)
    orders = {"cat": "Feliformia", "monkey": "Primates"}
    rows = "".join(f"{name},{orders.get(name, 'Caniformia')}\n" for name in reversed(names))
    (folder / "orders.csv").write_text(f"species,order\n{rows}", encoding="utf-8")
    seal = mammals.block([names.index("seal")], range(len(names)))[0]
    cells = ",".join(str(distance + 4) for distance in seal)
    (folder / "new.csv").write_text(f"species,{','.join(names)}\nwalrus,{cells}\n", encoding="utf-8")


def _session(text: str, folder: Path) -> Iterator[Record]:
    """Run the commands of a page and yield what they print and write."""
    _prepare_session(folder)
    before = fingerprints(folder)
    for block in re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command = part.splitlines()[0]
            piped = re.fullmatch(r"cat (\S+) \| (.*)", command)
            words = shlex.split(piped[2] if piped else command)
            if words[0] != "treerep":
                continue
            stdin = (folder / piped[1]).read_bytes() if piped else b""
            done = subprocess.run(
                [sys.executable, "-m", "treerep", *words[1:]],
                input=stdin,
                capture_output=True,
                cwd=folder,
                check=False,
            )
            record: Record = {"code": command, "printed": _text(_rows(done.stdout) + _rows(done.stderr))}
            if done.returncode:
                record["error"] = f"exit code {done.returncode}"
            now = fingerprints(folder)
            yield record | ({"files": found} if (found := _changed(before, now)) else {})
            before = now


def _rows(output: bytes) -> str:
    """Return text with the column of seconds left out of printed tables, and without rulers."""
    kept = []
    timed: int | None = None  # the place of this column
    for line in output.decode(errors="replace").splitlines():
        if line[:1] and line[0] in "┏┡└╭╰├":
            continue
        if line[:1] and line[0] in "┃│":
            cells = [
                " ".join(cell.split()) for cell in line.strip("┃│").split("┃" if line[0] == "┃" else "│")
            ]
            if line[0] == "┃":
                timed = cells.index("seconds") if "seconds" in cells else None
            line = " | ".join(cell for place, cell in enumerate(cells) if place != timed)
        kept.append(line)
    return "\n".join(kept) + "\n" if kept else ""


def _paper_cells(experiment: str, root: Path, within: float) -> Iterator[Record]:
    """Compute the cells of an experiment that took at most `within` seconds when they were stored."""
    cells = json.loads((root / "paper" / "cells" / f"{experiment}.json").read_text(encoding="utf-8"))
    module = importlib.import_module(f"paper.{experiment}")
    for key in module.keys():  # noqa: SIM118 (a module, not a dict)
        stored = cells.get(f"{key[0]}/{key[1]}", {})
        if "NVIDIA" in stored.get("machine", "NVIDIA") or not stored.get("took", math.inf) <= within:
            continue
        record: Record = {"code": f"{key[0]}/{key[1]}"}
        try:
            record["value"] = fingerprint(_without_times(module.measure(*key)))
        except Exception as error:
            record["error"] = _normal(f"{type(error).__name__}: {error}")
        yield record


def _without_times(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_times(one) for name, one in value.items() if name not in _TIMES}
    return [_without_times(one) for one in value] if isinstance(value, list) else value


# What is recorded of a value.


def fingerprint(value: Any, depth: int = 0) -> Any:
    """Return a description of a value in JSON, or None if nothing about the value can be compared.

    >>> fingerprint({"a": (1, 0.5), "b": "text"})
    {'a': [1, 0.5], 'b': 'text'}
    """
    if (
        isinstance(value, types.ModuleType | types.FunctionType | types.BuiltinFunctionType | type)
        or value is None
    ):
        return None
    kind = type(value)
    if isinstance(value, str):
        return _text(value)
    if kind in (bool, int):
        return value
    if kind is float:
        return _number(value)
    if depth > 6:
        return kind.__name__
    about = _of_library(value, depth)
    return f"a {kind.__name__}" if about is None else about


def _of_library(value: Any, depth: int) -> Any:
    """Describe an object of this package or of another one, or a container; None for unknown objects."""
    home, _, _ = type(value).__module__.partition(".")
    name = type(value).__name__
    if home == "treerep":
        is_metric = hasattr(value, "pairs") and hasattr(value, "__len__")
        return _metric(value) if is_metric else _attributes(value, depth)
    if isinstance(value, float):
        return _number(value)
    if home == "torch" and hasattr(value, "detach"):
        return _array(value.detach().cpu())
    if name in {"AnnData", "TreeData"}:
        return _annotated(value, depth)
    if name == "DataFrame":
        return {str(column): _array(value[column].to_numpy()) for column in value.columns}
    if home == "pandas" and hasattr(value, "to_numpy"):
        return _array(value.to_numpy())
    if hasattr(value, "dtype") and hasattr(value, "ravel"):
        return _array(value)
    if home == "scipy" and hasattr(value, "tocsr"):
        return _sparse(value)
    if home == "networkx" and hasattr(value, "edges"):
        return _graph(value)
    if hasattr(value, "items") and hasattr(value, "keys"):
        return {str(key): fingerprint(one, depth + 1) for key, one in list(value.items())[:_MOST_ITEMS]}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))[:_MOST_ITEMS]
    if isinstance(value, list | tuple):
        found = [fingerprint(one, depth + 1) for one in value[:_MOST_ITEMS]]
        return found if len(value) <= _MOST_ITEMS else {"items": len(value), "first": found}
    return None


def _number(value: float) -> float | str:
    return float(f"{value:.10g}") if math.isfinite(value) else str(value)


def _normal(text: str) -> str:
    """Replace what differs from run to run.

    >>> _normal("fitted in 1.25 s")
    'fitted in … s'
    """
    folder = os.environ.get("BASELINE_FOLDER")
    text = text.replace(folder, "FOLDER") if folder else text
    text = text.replace(dt.date.today().isoformat(), "TODAY")
    return _ADDRESS.sub("0x…", _SECONDS.sub("…", text))


def _text(text: str) -> str:
    text = _normal(text)
    digest = hashlib.sha1(text.encode()).hexdigest()[:12]
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}… ({len(text)} characters, {digest})"


def _array(value: Any) -> Record:
    import numpy as np

    value = np.asarray(value)
    about: Record = {"array": f"{value.dtype.kind} {'x'.join(map(str, value.shape))}"}
    if value.dtype.kind not in "biuf":
        digest = hashlib.sha1("\0".join(map(str, value.ravel().tolist())).encode()).hexdigest()[:12]
        return {**about, "hash": digest}
    numbers = value.astype(float).ravel()
    known = np.isfinite(numbers)
    mixed = np.where(known, numbers, 0.0) @ np.cos(np.arange(numbers.size, dtype=float))
    if not known.all():
        about["not finite"] = int((~known).sum())
    if known.any():
        about["mean"] = _number(float(numbers[known].mean()))
        about["mixed"] = _number(float(mixed / numbers.size))  # changes if numbers change or swap places
    return about


def _metric(value: Any) -> Record:
    import numpy as np

    n = len(value)
    about: Record = {"type": type(value).__name__, "points": n}
    if hasattr(value, "edges") and hasattr(value, "weights"):
        about["tree"] = _tree(value)
        return about
    if getattr(value, "trees", None):
        about["trees"] = [_tree(one) for one in value.trees]
    if n > 1:
        rng = np.random.default_rng(0)
        i = rng.integers(0, n, 200)
        j = (i + rng.integers(1, n, 200)) % n
        try:
            about["distances"] = _array(value.pairs(i, j))
        except Exception as error:
            about["distances"] = _normal(f"{type(error).__name__}: {error}")
    return about


def _tree(tree: Any) -> Record:
    """Describe a tree by its splits and their lengths, whatever the numbers of its nodes.

    The key of a set of points is the exclusive or of the keys of its points; a split has the key of the side without
    the point of the smallest key. Lengths of equal splits are added, and splits of length 0 left out, so that two
    trees with the same distances have the same splits.
    """
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    n = int(tree.n_points)
    edges = np.asarray(tree.edges).reshape(-1, 2)
    lengths = np.asarray(tree.weights, dtype=float)
    names = list(map(str, tree.labels)) if tree.labels is not None else list(map(str, range(n)))
    nodes = max(n, int(edges.max(initial=0)) + 1)
    keys = [0] * nodes
    for point, name in enumerate(names):
        keys[point] = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest())
    about: Record = {"nodes": nodes, "length": _number(float(lengths.sum()))}
    if not len(edges):
        return about
    about["mean edge"] = _number(float(lengths.mean()))
    root = min(range(n), key=keys.__getitem__)
    links = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(nodes, nodes)).tocsr()
    order, parents = breadth_first_order(links, root, directed=False)
    length_of = {
        frozenset(ends): length for ends, length in zip(edges.tolist(), lengths.tolist(), strict=True)
    }
    splits: dict[int, float] = {}
    for node in order[:0:-1].tolist():
        parent = int(parents[node])
        keys[parent] ^= keys[node]
        length = length_of[frozenset((node, parent))]
        if length != 0:
            splits[keys[node]] = splits.get(keys[node], 0.0) + length
    # A sum in which each split has its own factor between -1 and 1.
    about["mixed"] = _number(math.fsum(length * (key / 2.0**63 - 1) for key, length in splits.items()))
    if len(splits) <= _MOST_SPLITS:
        about["splits"] = {f"{key:016x}": _number(length) for key, length in sorted(splits.items())}
    else:
        about["number of splits"] = len(splits)
    if tree.support is not None:
        support = np.asarray(tree.support, dtype=float)
        about["support"] = _number(float(np.nansum(support)))
    return about


def _attributes(value: Any, depth: int) -> Record:
    """Describe one of our results by its public attributes."""
    names: list[str] = [*getattr(value, "_fields", ()), *getattr(value, "__dict__", ())]
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        names += [slots] if isinstance(slots, str) else list(slots)
    about: Record = {"type": type(value).__name__}
    if isinstance(value, float):
        about["number"] = _number(float(value))
    for name in sorted({one for one in names if not one.startswith("_")}):
        found = getattr(value, name, None)
        about[name] = _html(str(found)) if name == "html" else fingerprint(found, depth + 1)
    return about


def _annotated(value: Any, depth: int) -> Record:
    """Describe the slots of an AnnData object."""
    about: Record = {"type": type(value).__name__, "shape": list(value.shape)}
    for slot in ("X", "obs", "var", "obsm", "obsp", "varm", "layers", "uns", "obst"):
        found = getattr(value, slot, None)
        if found is not None:
            about[slot] = fingerprint(found, depth + 1)
    return about


def _graph(value: Any) -> Record:
    def total(rows: Iterable[tuple[Any, ...]]) -> float:
        values = [one for row in rows for one in row[-1].values() if isinstance(one, int | float)]
        return math.fsum(values)

    edges, nodes = list(value.edges(data=True)), list(value.nodes(data=True))
    return {
        "type": type(value).__name__,
        "nodes": len(nodes),
        "edges": len(edges),
        "sum of edges": _number(total(edges)),
        "sum of nodes": _number(total(nodes)),
    }


def _sparse(value: Any) -> Record:
    found = value.tocsr().copy()
    found.sort_indices()
    return {"data": _array(found.data), "columns": _array(found.indices), "rows": _array(found.indptr)}


def _html(text: str) -> Record:
    """Describe a page by the data in it, without its program and styles."""
    if "srcdoc=" in text:  # the frame of a notebook
        import html

        text = html.unescape(text)
    about: Record = {}
    for data in re.findall(r"<script[^>]*application/json[^>]*>(.*?)</script>", text, flags=re.DOTALL):
        found = json.loads(data)
        for name, value in found.items() if isinstance(found, dict) else [("data", found)]:
            short = json.dumps(value, sort_keys=True)
            digest = hashlib.sha1(short.encode()).hexdigest()[:12]
            about[str(name)] = short if len(short) <= 60 else f"{len(short)} characters, {digest}"
    rest = re.sub(r"<(script|style|svg).*?</\1>", "", text, flags=re.DOTALL)
    rest = _without_seconds(rest)
    about["text"] = " ".join(re.sub(r"<[^>]*>", " ", rest).split())[:_MOST_TEXT] if about else _text(rest)
    return about


def _without_seconds(text: str) -> str:
    """Leave out the column of seconds of a table in HTML."""
    titles = re.findall(r"<th[^>]*>(.*?)</th>", text, flags=re.DOTALL)
    if "seconds" not in titles:
        return text
    place = titles.index("seconds")

    def shortened(row: re.Match[str]) -> str:
        cells = re.findall(r"<t[hd][^>]*>.*?</t[hd]>", row[0], flags=re.DOTALL)
        return "".join(cell for k, cell in enumerate(cells) if k != place)

    return re.sub(r"<tr[^>]*>.*?</tr>", shortened, text, flags=re.DOTALL)


def _new_figures(seen: list[Any]) -> list[Any]:
    """Describe the open figures that are not in `seen` by their pixels, and add them to `seen`."""
    plt: Any = sys.modules.get("matplotlib.pyplot")
    shown: list[Any] = []
    for number in plt.get_fignums() if plt else ():
        figure = plt.figure(number)
        if figure in seen:
            continue
        seen.append(figure)
        try:
            figure.canvas.draw()
            shown.append(_array(figure.canvas.buffer_rgba()))
        except Exception as error:
            shown.append(_normal(f"{type(error).__name__}: {error}"))
    return shown


def _changed(before: Record, now: Record) -> Record:
    return {name: value for name, value in now.items() if before.get(name) != value}


def fingerprints(folder: Path) -> Record:
    """Describe the files below a folder. Stores of many files are described by their number and size."""
    found: Record = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() or "__pycache__" in name:
            continue
        outer = next(
            (part for part in Path(name).parts[:-1] if part.endswith((".zarr", "-worker-space"))), None
        )
        if outer is None:
            found[name] = _file(path)
        elif outer.endswith(".zarr"):
            about = found.setdefault(outer, {"files": 0, "bytes": 0})
            about["files"] += 1
            about["bytes"] += path.stat().st_size
    return found


def _file(path: Path) -> Any:
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    if path.suffix == ".npz":
        with zipfile.ZipFile(path) as archive:
            return {name: hashlib.sha1(archive.read(name)).hexdigest()[:12] for name in archive.namelist()}
    if path.suffix in {".h5ad", ".h5", ".pkl", ".joblib"}:  # with times inside
        return {"bytes": len(content)}
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return {"bytes": len(content), "hash": hashlib.sha1(content).hexdigest()[:12]}
    return _html(text) if path.suffix == ".html" else _text(text)


# Comparison.


def compare(before: Path, now: Path, tolerance: float) -> int:
    """Print the differences between two stores. Return the number of parts that differ or are in one store only."""
    old = {path.name: path for path in before.glob("*.json")}
    new = {path.name: path for path in now.glob("*.json")}
    if not old or not new:
        raise SystemExit(f"no stored results in {now if old else before}")
    differing = alone = 0
    for name in sorted(old.keys() | new.keys()):
        if name not in new or name not in old:
            print(f"{name}: only {'before' if name in old else 'now'}")
            alone += 1
            continue
        one, two = (json.loads(path.read_text(encoding="utf-8")) for path in (old[name], new[name]))
        lines = list(differences(one["statements"], two["statements"], tolerance))
        if lines:
            print(f"{one['name']}:")
            print("".join(f"    {line}\n" for line in lines), end="")
        differing += bool(lines)
    print(f"{len(old.keys() & new.keys())} parts compared, {differing} differ; {alone} in one store only")
    return differing + alone


def differences(old: list[Record], new: list[Record], tolerance: float = 1e-9) -> Iterator[str]:
    """Yield the differences of two lists of statements, in words.

    >>> old = [{"code": "x = fit()", "variables": {"x": 0.5}}, {"code": "print(x)", "printed": "0.5"}]
    >>> new = [{"code": "x = fit()", "variables": {"x": 0.6}}]
    >>> list(differences(old, new))
    ['x = fit(): variables: x: 0.5 -> 0.6', 'removed: print(x)']
    """
    matcher = difflib.SequenceMatcher(a=[s["code"] for s in old], b=[s["code"] for s in new], autojunk=False)
    for action, a, b, c, d in matcher.get_opcodes():
        if action == "equal":
            for one, two in zip(old[a:b], new[c:d], strict=True):
                for line in _changes(one, two, tolerance):
                    yield f"{_short(one['code'])}: {line}"
        else:
            yield from (f"removed: {_short(one['code'])}" for one in old[a:b])
            yield from (f"added: {_short(one['code'])}" for one in new[c:d])


def _changes(old: Any, new: Any, tolerance: float) -> Iterator[str]:
    """Yield the differences of two descriptions."""
    if isinstance(old, dict) and isinstance(new, dict):
        if "splits" in old and "splits" in new:
            yield from _tree_changes(old, new, tolerance)
            return
        for name in [*old, *(name for name in new if name not in old)]:
            if name not in new:
                yield f"{name}: removed (was {_short(old[name])})"
            elif name not in old:
                yield f"{name}: added ({_short(new[name])})"
            else:
                yield from (f"{name}: {line}" for line in _changes(old[name], new[name], tolerance))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, two) in enumerate(zip(old, new, strict=True)):
            yield from (f"[{index}] {line}" for line in _changes(one, two, tolerance))
    elif not _same(old, new, tolerance):
        yield _pair(old, new)


def _tree_changes(old: Record, new: Record, tolerance: float) -> Iterator[str]:
    """Yield the difference of two trees in one line."""
    one, two = old["splits"], new["splits"]
    common = one.keys() & two.keys()
    moved = [key for key in common if not _same(one[key], two[key], tolerance)]
    if len(common) < max(len(one), len(two)) or moved:
        largest = max((abs(one[key] - two[key]) for key in moved), default=0.0)
        yield (
            f"tree changed: {len(one) - len(common)} of {len(one)} splits are gone, {len(two) - len(common)} are new, "
            f"{len(moved)} have another length (by at most {largest:.3g}); "
            f"mean edge {old['mean edge']:.6g} -> {new['mean edge']:.6g}"
        )
    left = {"splits", "mean edge", "length", "mixed"}
    rest = [{name: value for name, value in tree.items() if name not in left} for tree in (old, new)]
    yield from _changes(rest[0], rest[1], tolerance)


def _same(old: Any, new: Any, tolerance: float) -> bool:
    if isinstance(old, int | float) and isinstance(new, int | float) and not isinstance(old, bool):
        return math.isclose(old, new, rel_tol=tolerance, abs_tol=tolerance)
    return bool(old == new)


def _pair(old: Any, new: Any) -> str:
    """Return both values, of texts only the first line that differs."""
    if isinstance(old, str) and isinstance(new, str) and ("\n" in old or "\n" in new):
        rows = [old.splitlines(), new.splitlines()]
        longest = max(map(len, rows))
        padded = [[*one, *[""] * (longest - len(one))] for one in rows]
        differing = [(one, two) for one, two in zip(*padded, strict=True) if one != two]
        if differing:
            more = f" (and {len(differing) - 1} more lines)" if len(differing) > 1 else ""
            return f"{_short(differing[0][0])} -> {_short(differing[0][1])}{more}"
    return f"{_short(old)} -> {_short(new)}"


def _short(value: Any, most: int = 100) -> str:
    text = " ".join((value if isinstance(value, str) else json.dumps(value)).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m release.baseline", description=(__doc__ or "").split("\n")[0]
    )
    commands = parser.add_subparsers(dest="command", required=True)
    storing = commands.add_parser("store", help="run all examples and store their results")
    storing.add_argument("folder", type=Path)
    storing.add_argument(
        "--root", type=Path, default=ROOT, help="checkout with the examples (default: this one)"
    )
    storing.add_argument(
        "--only", nargs="+", default=[], metavar="PART", help="pages, as printed by a full run"
    )
    storing.add_argument(
        "--within",
        type=float,
        default=1.0,
        metavar="SECONDS",
        help="compute cells of the paper that took at most this (default 1)",
    )
    comparing = commands.add_parser("compare", help="list the differences of two stores")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("now", type=Path)
    comparing.add_argument(
        "--tolerance", type=float, default=1e-9, help="of numbers, relative (default 1e-9)"
    )
    running = commands.add_parser("run")  # what `store` starts
    running.add_argument("name")
    running.add_argument("root", type=Path)
    running.add_argument("target", type=Path)
    running.add_argument("within", type=float)
    given = parser.parse_args(arguments)
    if given.command == "run":
        run_part(given.name, given.root.resolve(), given.target, given.within)
        return 0
    if given.command == "store":
        return int(store(given.folder, given.root.resolve(), given.within, given.only) > 0)
    return int(compare(given.before, given.now, given.tolerance) > 0)


if __name__ == "__main__":
    sys.exit(main())
