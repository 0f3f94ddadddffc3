"""Errors of readers: one line that names the file, and blames it only if it is damaged."""

import errno
import gzip
import os

import pytest

from treerep.formats._errors import errors_named


@pytest.mark.parametrize(
    "number", [errno.ENOSPC, errno.EACCES, errno.EIO, errno.EMFILE, errno.EDQUOT, errno.EROFS]
)
def test_errors_of_the_machine_are_not_called_damage(number: int) -> None:
    said = rf"{os.strerror(number)} \(while reading\): 'd.csv'$"
    with pytest.raises(OSError, match=said) as error, errors_named("d.csv"):
        raise OSError(number, os.strerror(number))
    assert error.value.errno == number


@pytest.mark.parametrize(
    "error",
    [
        OSError("not a gzip file"),
        gzip.BadGzipFile("CRC check failed"),
        OSError(errno.EINVAL, "seek"),
        EOFError(),
    ],
)
def test_damage_is_called_damage(error: Exception) -> None:
    with (
        pytest.raises(ValueError, match=r"^d.csv is damaged.*: download or export it again$"),
        errors_named("d.csv"),
    ):
        raise error


def test_errors_that_name_a_file_stay_as_they_are() -> None:
    with pytest.raises(FileNotFoundError, match="'other'$"), errors_named("d.csv"):
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", "other")
