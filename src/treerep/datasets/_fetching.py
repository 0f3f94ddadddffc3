"""Fetch data sets from the network on request, and verify them."""

from pathlib import Path

from .._core.extras import require
from .._core.io.files import atomic_write
from ._catalog import Address, entry
from ._finding import absence, cache_folder, locate
from ._readers import sha256

_TIMEOUT = 30  # seconds without an answer


def fetch(name: str) -> Path:
    """Download a data set, unless it is on this machine, and return its path.

    Graphs are downloaded from a pinned public address with pooch (``pip install
    'treerep[data]'``). Data sets of cells are part of other packages, and the error names the
    command that installs them.

    Parameters
    ----------
    name : str
        Name of the data set.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        If the name is unknown, or the download has a wrong checksum.
    ConnectionError
        If the download fails.
    FileNotFoundError
        If the data set cannot be downloaded. The message names other sources.

    See Also
    --------
    datasets.load : Load a data set.

    Notes
    -----
    A data set is downloaded once and kept in the cache folder (``treerep/data`` in
    XDG_CACHE_HOME, by default ~/.cache). Files are checked against a SHA-256 in the package. A
    damaged file in the cache is downloaded again.

    Examples
    --------
    >>> fetch("sarich").name  # part of the package
    'sarich.csv'
    """
    origin = entry(name).origin
    found = locate(name)
    if found is not None and found.place != "cache":
        return found.path
    if origin is None:
        raise FileNotFoundError(absence(name))
    target = cache_folder() / origin.path
    if not (target.is_file() and sha256(target) == origin.sha256):
        target.parent.mkdir(parents=True, exist_ok=True)
        _download(name, origin, target)
    return target


def _download(name: str, origin: Address, target: Path) -> None:
    pooch = require("pooch", "data")
    requests = require("requests", "data")
    download = pooch.HTTPDownloader(timeout=_TIMEOUT)
    with atomic_write(target, "wb") as file:
        try:
            download(origin.url, file, None)
        except requests.RequestException as error:
            answer = getattr(error, "response", None)
            reason = type(error).__name__ if answer is None else f"HTTP status {answer.status_code}"
            raise ConnectionError(
                f"{name} did not come from {origin.url} ({reason}): "
                f"check the network, or put the file at {target}"
            ) from error
        file.flush()
        _check(name, origin.url, Path(file.name), origin.sha256)


def _check(name: str, source: str, path: Path, expected: str) -> None:
    found = sha256(path)
    if found != expected:
        raise ValueError(
            f"{name} from {source} has the checksum {found[:12]}... and not "
            f"{expected[:12]}..., so it was changed or damaged on the way and is not kept: "
            "try again, or on another network"
        )
