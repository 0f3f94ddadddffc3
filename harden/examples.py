"""Pytest plugin of the stress test `twins` that sets and counts the examples of each property.

HARDEN_EXAMPLES holds the number of examples, and HARDEN_REPORT the file for the report.
"""

import json
import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from hypothesis import Phase, settings

# 8-bit integers overflow in Python but not in compiled code, so shrinking is not useful.
_UNCOMPILED = "NUMBA_DISABLE_JIT" in os.environ
_PHASES = [Phase.explicit, Phase.generate, *([] if _UNCOMPILED else [Phase.shrink])]
_counted: set[int] = set()
_examples = 0


def _counting(test: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(test)
    def counted(*arguments: Any, **named: Any) -> Any:
        global _examples
        _examples += 1
        return test(*arguments, **named)

    return counted


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Set the number of examples of every property and count them."""
    for item in items:
        test = item.obj
        if not hasattr(test, "hypothesis") or id(test) in _counted:
            continue
        _counted.add(id(test))
        # Hypothesis has no public way to change the settings of a test. Its plugin reads these.
        now = getattr(test, "_hypothesis_internal_use_settings", settings.default)
        number = int(os.environ["HARDEN_EXAMPLES"])
        test._hypothesis_internal_use_settings = settings(
            now,
            max_examples=number,
            deadline=None,
            database=None,
            derandomize=False,
            phases=_PHASES,
        )
        test.hypothesis.inner_test = _counting(test.hypothesis.inner_test)


def pytest_runtest_call(item: Any) -> None:
    """Count a test without examples as one."""
    global _examples
    _examples += not hasattr(item.obj, "hypothesis")


def pytest_sessionfinish() -> None:
    """Report the number of examples and the kernels that were never called."""
    from .twins import kernels

    report = {
        "examples": _examples,
        "unused": [name for name, kernel in kernels().items() if not called(kernel)],
    }
    Path(os.environ["HARDEN_REPORT"]).write_text(json.dumps(report))


def called(kernel: Any) -> bool:
    """Return whether a compiled function has been called in this process."""
    return bool(getattr(kernel, "signatures", True))
