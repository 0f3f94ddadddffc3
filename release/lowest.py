"""The lowest versions that pyproject.toml allows, as constraints for pip: `python -m release.lowest > lowest.txt`."""

import re
import tomllib
from pathlib import Path
from typing import Any

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
#: `all` repeats other extras. Old builds of torch for processors alone are not on PyPI.
NOT_THESE = frozenset({"all", "embed"})
#: One tool of the tests is pinned as well: the lowest anndata does not support pandas 3.
BESIDE = "pandas>="
_BOUND = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?\s*>=\s*(?P<version>[\w.]+)$")


def lowest(pyproject: dict[str, Any]) -> list[str]:
    """Return `name==version` for each dependency and for the dependencies of extras.

    >>> project = {
    ...     "dependencies": ["numpy>=2.0"],
    ...     "optional-dependencies": {"dask": ["dask[array]>=2024.8"], "all": ["x[dask]"]},
    ... }
    >>> lowest({"project": project, "dependency-groups": {"test": ["pytest>=9", "pandas>=2.2"]}})
    ['numpy==2.0', 'dask==2024.8', 'pandas==2.2']
    """
    project = pyproject["project"]
    extras = project["optional-dependencies"]
    needed = [
        *project["dependencies"],
        *(line for name in extras if name not in NOT_THESE for line in extras[name]),
    ]
    tools = pyproject["dependency-groups"]["test"]
    needed += [line for line in tools if isinstance(line, str) and line.startswith(BESIDE)]
    found = [_BOUND.match(line) for line in needed]
    without = [line for line, bound in zip(needed, found, strict=True) if bound is None]
    if without:
        raise ValueError(
            f"{without[0]!r} in pyproject.toml has no lower bound that can be tested: write name>=version"
        )
    return [f"{bound['name']}=={bound['version']}" for bound in found if bound]


if __name__ == "__main__":
    print(*lowest(tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))), sep="\n")
