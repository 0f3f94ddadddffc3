"""Run a command as if this machine had the simplest CPU of its kind: `python -m tests.generic_cpu pytest tests/cli`.

Libraries choose faster code for newer CPUs, and that code rounds differently in the last digits. A test that passes
here and fails under this command compares digits that belong to one machine.
"""

import os
import platform
import sys

from numpy._core._multiarray_umath import (
    __cpu_dispatch__,
    __cpu_features__,
)  # NumPy has no public name for these

#: OpenBLAS's name for the oldest CPU that the wheels of NumPy and SciPy support.
_OLDEST_CORE = {"x86_64": "Nehalem", "AMD64": "Nehalem", "aarch64": "ARMV8", "arm64": "ARMV8"}
#: Names since glibc 2.33, then the names before. glibc ignores those that it does not know.
_WITHOUT = (
    "AVX2",
    "FMA",
    "FMA4",
    "AVX512F",
    "AVX2_Usable",
    "FMA_Usable",
    "FMA4_Usable",
    "AVX512F_Usable",
)


def settings() -> dict[str, str]:
    """Return the environment variables that reduce NumPy, numba, OpenBLAS and glibc to their common baseline."""
    # NumPy warns about features that this CPU lacks anyway, and refuses to disable the baseline.
    optional = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
    found = {
        "NPY_DISABLE_CPU_FEATURES": " ".join(optional),
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",  # no fused multiply-add, no wide vectors; numba caches such code apart
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=" + ",".join(f"-{name}" for name in _WITHOUT),
    }
    core = _OLDEST_CORE.get(platform.machine())
    return {**found, "OPENBLAS_CORETYPE": core} if core else found


def main(command: list[str]) -> None:
    """Replace this process by the command."""
    chosen = settings()
    for name, value in chosen.items():
        print(f"{name}={value!r}", flush=True)
    os.execvpe(command[0], command, {**os.environ, **chosen})


if __name__ == "__main__":
    main(sys.argv[1:])
