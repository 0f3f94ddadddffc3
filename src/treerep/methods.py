"""Methods by name: records and functions.

>>> from treerep import methods
>>> methods.FIT["bfs"].option_names
('root', 'graph', 'k')
>>> methods.FIT["upgma"].exact
'ultrametrics'

`methods.bfs` is the function behind `fit(data, method="bfs")`. Call methods through `fit`,
`embed` and `hyperbolicity`, which validate the data, draw seeds and repeat trials.
"""

from typing import Any

from ._core.method import Method as Method
from .embedding.methods import METHODS as EMBED
from .fitting.methods import METHODS as FIT
from .treelikeness.methods import METHODS as DELTA

__all__ = ["DELTA", "EMBED", "FIT", *FIT, *EMBED]


def __getattr__(name: str) -> Any:
    record = FIT.get(name) or EMBED.get(name)
    if record is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return record.load()


def __dir__() -> list[str]:
    return sorted(__all__)
