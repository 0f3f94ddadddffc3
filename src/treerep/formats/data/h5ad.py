"""h5ad, the files of AnnData: the cells as points, by X or by an embedding of `obsm`.

Read by h5py, which anndata brings: only the one array that is asked for, whose size is known
before it is read. Damage inside a file is for the HDF5 library to notice, which may hang on it;
all other formats are read by code that does not.

An HDF5 file may refer to other files: by external links, external storage and virtual data
sets. Such a file could pass off any file of this machine as coordinates, so what is read must
lie in the file itself.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import require
from ..._core.memory import check_memory
from ...metric.base import Metric
from .._request import Request
from .._source import Source

_MOST_LINKS = 20  # soft links that are followed, so that a circle of them ends
_NAME_BYTES = 100  # of the name of a cell in memory
_REMEDY = "name coordinates of fewer dimensions, as with use_rep='X_pca'"


def read(source: Source, request: Request) -> Metric:
    """Read the cells of an h5ad file as points; the names of the cells are their labels."""
    if request.kind not in (None, "points"):
        raise request.not_a("an h5ad file")
    h5py = require("h5py", "scverse")
    # By its path HDF5 reads a file itself, and faster.
    by_path = source.path is not None and not source.packed
    with source.open() as stream, _opened(h5py, source.path if by_path else stream) as file:
        try:
            values = _values(h5py, file, request.use_rep)
            names = _names(h5py, file)
        except (
            TypeError,
            AttributeError,
            RuntimeError,
        ) as error:  # what h5py makes of a damaged or foreign file
            raise ValueError(f"it is no h5ad file, or it is damaged ({error})") from error
    return request.points(values, names)


def _opened(h5py: Any, file: Any) -> Any:
    try:
        return h5py.File(file, "r")
    except (OSError, RuntimeError) as error:
        raise ValueError(
            f"it cannot be opened as HDF5, or it is cut short ({error})"
        ) from error


def _values(h5py: Any, file: Any, use_rep: str | None) -> NDArray[Any]:
    if use_rep in (None, "X"):
        if "X" not in file.keys():  # noqa: SIM118 - of a group, `in` follows links
            known = _known(h5py, file)
            raise ValueError(
                f"it has no X: name the coordinates to take with use_rep=, one of {known}"
            )
        return _dense(h5py, _item(h5py, file, "X"), "X")
    if use_rep not in _embeddings(h5py, file):
        raise ValueError(f"it has no obsm[{use_rep!r}]: use_rep is one of {_known(h5py, file)}")
    obsm = _item(h5py, file, "obsm")
    if not isinstance(
        obsm, h5py.Group
    ):  # written before anndata 0.7: one table of all embeddings
        check_memory(obsm.size * obsm.dtype.itemsize, "obsm", _REMEDY)
        return np.asarray(obsm[use_rep])
    return _dense(h5py, _item(h5py, obsm, str(use_rep)), f"obsm[{use_rep!r}]")


def _item(h5py: Any, group: Any, path: str) -> Any:
    """Return a group or data set at a path, if it lies in this file with all its data.

    Links are looked at before they are followed: to open another file may already do harm.
    """
    item = group.file if path.startswith("/") else group
    steps = path.split("/")[::-1]
    links = 0
    while steps:
        step = steps.pop()
        if step in ("", "."):
            continue
        link = item.get(step, getlink=True)
        if isinstance(link, h5py.ExternalLink):
            raise ValueError(
                f"{path} is a link to the file {link.filename!r}: copy the data into this file"
            )
        if isinstance(link, h5py.SoftLink):
            links += 1
            if links > _MOST_LINKS:
                raise ValueError(f"{path} is a circle of links: remove them")
            item = item.file if link.path.startswith("/") else item
            steps += link.path.split("/")[::-1]
            continue
        item = item[step]
    if isinstance(item, h5py.Dataset) and (item.external or item.is_virtual):
        raise ValueError(f"the data of {path} lie in another file: copy them into this file")
    return item


def _embeddings(h5py: Any, file: Any) -> list[str]:
    obsm = _item(h5py, file, "obsm") if "obsm" in file.keys() else {}  # noqa: SIM118
    return list(obsm.dtype.names or ()) if hasattr(obsm, "dtype") else list(obsm)


def _known(h5py: Any, file: Any) -> str:
    return ", ".join(["X", *_embeddings(h5py, file)])


def _dense(h5py: Any, item: Any, name: str) -> NDArray[Any]:
    """Return a dense array, or a sparse one made dense."""
    if isinstance(item, h5py.Dataset):
        if item.ndim != 2 or item.dtype.kind not in "iufb":
            raise ValueError(
                f"{name} is of shape {item.shape} and dtype {item.dtype}, which is no table of numbers"
            )
        check_memory(item.size * item.dtype.itemsize, f"{name} of {item.shape}", _REMEDY)
        return np.asarray(item[:])
    return _from_sparse(h5py, item, name)


def _from_sparse(h5py: Any, group: Any, name: str) -> NDArray[Any]:
    from scipy.sparse import csc_array, csr_array

    encoding = _text(group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", "")))
    make = {
        "csr_matrix": csr_array,
        "csr": csr_array,
        "csc_matrix": csc_array,
        "csc": csc_array,
    }.get(encoding)
    if make is None:
        raise ValueError(
            f"{name} is stored as {encoding or 'something unknown'!r}: name coordinates with use_rep="
        )
    rows, columns = (
        int(length) for length in group.attrs.get("shape", group.attrs.get("h5sparse_shape"))
    )
    data, indices, indptr = (_item(h5py, group, part) for part in ("data", "indices", "indptr"))
    check_memory(
        2 * rows * columns * data.dtype.itemsize, f"{name} of {rows:,} x {columns:,}", _REMEDY
    )
    check_memory(
        sum(part.size * part.dtype.itemsize for part in (data, indices, indptr)),
        f"the parts of {name}",
        _REMEDY,
    )
    matrix = make((data[:], indices[:], indptr[:]), shape=(rows, columns))
    matrix.check_format(full_check=True)
    return np.ascontiguousarray(matrix.toarray())


def _names(h5py: Any, file: Any) -> list[str] | None:
    """Return the names of the cells, if there are any."""
    if "obs" not in file.keys():  # noqa: SIM118
        return None
    obs = _item(h5py, file, "obs")
    if isinstance(obs, h5py.Group):
        index = _item(h5py, obs, _text(obs.attrs.get("_index", "_index")))
        # anndata 0.13 stores the strings of pandas 3 with a mask beside them; an index has none
        # missing.
        index = _item(h5py, index, "values") if isinstance(index, h5py.Group) else index
        check_memory(
            _NAME_BYTES * index.size, f"{index.size:,} names of cells", "use fewer cells"
        )
        names = index[:]
    else:  # written before anndata 0.7: one table
        check_memory(obs.size * (obs.dtype.itemsize + _NAME_BYTES), "obs", "use fewer cells")
        names = obs[obs.dtype.names[0]]
    return [_text(name) for name in names]


def _text(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)
