"""Lowest allowed versions of all dependencies, as constraints for pip.

Usage: `python -m release.lowest > lowest.txt`.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
#: Development tools are not restricted, nor is torch: PyPI has no CPU builds of old versions.
NOT_THESE = frozenset({"test", "rivals", "docs", "browser", "embed"})
#: Except for pandas: the lowest anndata does not support pandas 3.
BESIDE = "pandas>="
_BOUND = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?\s*>=\s*(?P<version>[\w.]+)$")


def lowest(project: dict[str, Any]) -> list[str]:
    """Return `name==version` of each dependency, including the extras that users install.

    >>> lowest(
    ...     {
    ...         "dependencies": ["numpy>=2.0"],
    ...         "optional-dependencies": {"dask": ["dask[array]>=2024.8"], "test": ["x"]},
    ...     }
    ... )
    ['numpy==2.0', 'dask==2024.8']
    """
    extras = project["optional-dependencies"]
    needed = [
        *project["dependencies"],
        *(line for name in extras if name not in NOT_THESE for line in extras[name]),
    ]
    needed += [line for line in extras.get("test", ()) if line.startswith(BESIDE)]
    found = [_BOUND.match(line) for line in needed]
    without = [line for line, bound in zip(needed, found, strict=True) if bound is None]
    if without:
        raise ValueError(
            f"{without[0]!r} in pyproject.toml has no lower bound that can be tested: write name>=version"
        )
    return [f"{bound['name']}=={bound['version']}" for bound in found if bound]


if __name__ == "__main__":
    print(*lowest(tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]), sep="\n")
