"""Read the cells of an h5ad file of AnnData as points: `obsm["X_pca"]` or another table, or X.

h5py, which anndata requires, reads only the requested array, after its size is checked. The HDF5
library may hang on a damaged file; the readers of other formats do not hang.

An HDF5 file may refer to other files by external links, external storage or virtual data sets.
Such a file could present any file of this machine as coordinates. The data must therefore be in
the file itself.
"""

from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import require
from ..._core.memory import check_memory
from ...metric.base import Metric
from .._request import Request
from .._source import Source

if TYPE_CHECKING:
    import h5py

_MOST_LINKS = 20  # maximum number of soft links to follow, in case they form a cycle
_NAME_BYTES = 100  # of memory, per name of a cell
_REMEDY = "use coordinates with fewer dimensions, such as use_rep='X_pca'"


def read(source: Source, request: Request) -> Metric:
    """Read the cells of an h5ad file as points. Cell names are the labels."""
    if request.kind not in (None, "points"):
        raise request.not_a("an h5ad file")
    require("h5py", "scverse")
    # HDF5 reads a path directly, which is faster than a stream.
    by_path = source.path is not None and not source.packed
    with source.open() as stream, _open_hdf5(source.path if by_path else stream) as file:
        try:
            values = _values(file, request.use_rep)
            names = _names(file)
        except (TypeError, AttributeError, RuntimeError) as error:  # from h5py
            raise ValueError(f"the file is not an h5ad file or is damaged ({error})") from error
    return request.points(values, names)


def _open_hdf5(file: "Path | IO[bytes] | None") -> "h5py.File":
    import h5py

    try:
        return h5py.File(file, "r")
    except (OSError, RuntimeError) as error:
        raise ValueError(f"the file is not an HDF5 file or is truncated ({error})") from error


def _values(file: "h5py.File", use_rep: str | None) -> NDArray[Any]:
    import h5py

    if use_rep is None:  # the same rule as for an AnnData in memory
        use_rep = "X_pca" if "X_pca" in _embeddings(file) else "X"
    if use_rep == "X":
        if "X" not in file.keys():  # noqa: SIM118 - `in` of a group follows links
            raise ValueError(f"the file has no X: choose a table with use_rep=, one of {_known(file)}")
        return _dense(_item(file, "X"), "X")
    if use_rep not in _embeddings(file):
        raise ValueError(f"the file has no obsm[{use_rep!r}]: use_rep must be one of {_known(file)}")
    obsm = _item(file, "obsm")
    if not isinstance(obsm, h5py.Group):  # before anndata 0.7: one table for all embeddings
        check_memory(obsm.size * obsm.dtype.itemsize, "obsm", _REMEDY)
        return np.asarray(obsm[use_rep])
    return _dense(_item(obsm, str(use_rep)), f"obsm[{use_rep!r}]")


def _item(group: "h5py.Group", path: str) -> "h5py.Group | h5py.Dataset":
    """Return the group or data set at a path, if all of its data is in this file.

    Links are checked before they are followed, because opening another file may do harm.
    """
    import h5py

    item = group.file if path.startswith("/") else group
    steps = path.split("/")[::-1]
    links = 0
    while steps:
        step = steps.pop()
        if step in ("", "."):
            continue
        link = item.get(step, getlink=True)
        if isinstance(link, h5py.ExternalLink):
            raise ValueError(f"{path} is a link to the file {link.filename!r}: copy the data into this file")
        if isinstance(link, h5py.SoftLink):
            links += 1
            if links > _MOST_LINKS:
                raise ValueError(f"{path} is a cycle of links: remove them")
            item = item.file if link.path.startswith("/") else item
            steps += link.path.split("/")[::-1]
            continue
        item = item[step]
    if isinstance(item, h5py.Dataset) and (item.external or item.is_virtual):
        raise ValueError(f"the data of {path} is in another file: copy it into this file")
    return item


def check_links(path: "str | Path") -> None:
    """Raise an error unless all data of an HDF5 file is in the file itself."""
    import h5py

    with _open_hdf5(Path(path)) as file:
        groups: list[h5py.Group] = [file]
        while groups:
            group = groups.pop()
            links = {name: group.get(name, getlink=True) for name in group}
            # Soft links are not followed here. Their targets are visited in any case.
            hard = [name for name, link in links.items() if not isinstance(link, h5py.SoftLink)]
            items = [_item(group, name) for name in hard]
            groups += [item for item in items if isinstance(item, h5py.Group)]


def _embeddings(file: "h5py.File") -> list[str]:
    obsm = _item(file, "obsm") if "obsm" in file.keys() else {}  # noqa: SIM118
    return list(obsm.dtype.names or ()) if hasattr(obsm, "dtype") else list(obsm)


def _known(file: "h5py.File") -> str:
    return ", ".join(["X", *_embeddings(file)])


def _dense(item: "h5py.Group | h5py.Dataset", name: str) -> NDArray[Any]:
    """Return a dense array, converted from a sparse array if necessary."""
    import h5py

    if isinstance(item, h5py.Dataset):
        if item.ndim != 2 or item.dtype.kind not in "iufb":
            raise ValueError(
                f"{name} has shape {item.shape} and dtype {item.dtype}: choose a table of numbers with use_rep="
            )
        check_memory(item.size * item.dtype.itemsize, f"{name} of {item.shape}", _REMEDY)
        return np.asarray(item[:])
    return _from_sparse(item, name)


def _from_sparse(group: "h5py.Group", name: str) -> NDArray[Any]:
    from scipy.sparse import csc_array, csr_array

    encoding = _text(group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", "")))
    make = {
        "csr_matrix": csr_array,
        "csr": csr_array,
        "csc_matrix": csc_array,
        "csc": csc_array,
    }.get(encoding)
    if make is None:
        raise ValueError(f"{name} has the unknown encoding {encoding!r}: choose another table with use_rep=")
    shape = group.attrs.get("shape", group.attrs.get("h5sparse_shape"))
    rows, columns = (int(length) for length in shape)
    parts = [_item(group, part) for part in ("data", "indices", "indptr")]
    dense_bytes = rows * columns * parts[0].dtype.itemsize
    check_memory(2 * dense_bytes, f"{name} of {rows:,} x {columns:,}", _REMEDY)
    sparse_bytes = sum(part.size * part.dtype.itemsize for part in parts)
    check_memory(sparse_bytes, f"the parts of {name}", _REMEDY)
    matrix = make(tuple(part[:] for part in parts), shape=(rows, columns))
    matrix.check_format(full_check=True)
    return np.ascontiguousarray(matrix.toarray())


def _names(file: "h5py.File") -> list[str] | None:
    """Return the names of the cells, if there are any."""
    import h5py

    if "obs" not in file.keys():  # noqa: SIM118
        return None
    obs = _item(file, "obs")
    if isinstance(obs, h5py.Group):
        index = _item(obs, _text(obs.attrs.get("_index", "_index")))
        if isinstance(index, h5py.Group):  # anndata 0.13: pandas 3 strings, with a mask
            index = _item(index, "values")
        check_memory(_NAME_BYTES * index.size, f"{index.size:,} names of cells", "use fewer cells")
        names = index[:]
    else:  # before anndata 0.7: one table
        check_memory(obs.size * (obs.dtype.itemsize + _NAME_BYTES), "obs", "use fewer cells")
        names = obs[obs.dtype.names[0]]
    return [_text(name) for name in names]


def _text(value: object) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)
