"""Coverage-guided fuzzing of the readers, run alone: `python -m tests.formats.fuzz_readers -max_total_time=60`.

Needs atheris, which is no part of the test environment; without it, test_fuzz.py does what it can. What the readers may
do is what `check` there says.
"""

import sys


def main() -> None:
    """Fuzz until told to stop; the first byte of the data chooses the kind that is asked for."""
    import atheris

    with atheris.instrument_imports():
        from treerep.formats.data import table  # noqa: F401
    from tests.formats.test_fuzz import KINDS, check

    def fuzz_one(data: bytes) -> None:
        if data:
            check(data[1:], kind=KINDS[data[0] % len(KINDS)])

    atheris.Setup(sys.argv, fuzz_one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
