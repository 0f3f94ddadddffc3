"""Validation of the metadata of a zarr array.

The metadata name the codecs that decompress chunks, and some codecs, such as `pickle`, run
code. Only the codecs and data types listed below are accepted. The check runs before zarr uses
the metadata or a chunk.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

# Compressors, filters and checksums that only turn bytes into bytes or numbers into numbers.
_CODECS = frozenset(
    {
        "bytes",
        "endian",
        "transpose",
        "blosc",
        "zstd",
        "gzip",
        "zlib",
        "bz2",
        "lzma",
        "lz4",
        "shuffle",
        "delta",
    }
    | {
        "bitround",
        "quantize",
        "fixedscaleoffset",
        "astype",
        "crc32",
        "crc32c",
        "adler32",
        "fletcher32",
    }
)
_TEXT_CODEC = "vlen-utf8"  # variable-length strings; decodes to nothing but strings
_SHARDING = "sharding_indexed"
_DTYPE_OPTIONS = ("dtype", "astype", "encode_dtype", "decode_dtype")

_NUMBERS = re.compile(r"[<>|=]?[biufc][0-9]{1,2}")  # in the notation of version 2: <f8
_TEXT = re.compile(r"[<>|=]?U[0-9]{1,9}")
# in the notation of version 3: float64
_NAMED_NUMBERS = re.compile(r"bool|u?int(8|16|32|64)|float(16|32|64)|complex(64|128)")
_NAMED_TEXT = ("string", "fixed_length_utf32")


def check_zarr_metadata(metadata: Mapping[str, Any]) -> None:
    """Raise a ValueError unless the metadata of an array, in version 2 or 3, are known to be safe.

    >>> check_zarr_metadata(
    ...     {"zarr_format": 2, "dtype": "<f8", "filters": None, "compressor": {"id": "pickle"}}
    ... )
    Traceback (most recent call last):
      ...
    ValueError: codec 'pickle' is unknown or may run code: save the array with zarr's default compressor
    """
    if metadata.get("zarr_format") == 3:
        _check_named_dtype(metadata.get("data_type"))
        _check_codecs(metadata.get("codecs"), "name")
        if metadata.get("storage_transformers"):
            raise ValueError(
                "the chunks use storage transformers, which are not supported: save the array without them"
            )
        return
    filters = metadata.get("filters") or []
    codecs = [
        *_codec_list(filters),
        *([metadata["compressor"]] if metadata.get("compressor") else []),
    ]
    _check_codecs(codecs, "id")
    # Version 2 stores variable-length strings as objects with this one filter. Other objects
    # raise an error.
    strings = metadata.get("dtype") == "|O" and [_codec_name(codec, "id") for codec in filters] == [
        _TEXT_CODEC
    ]
    if not strings:
        _check_dtype(metadata.get("dtype"))


def _check_named_dtype(dtype: object) -> None:
    name = dtype.get("name") if isinstance(dtype, Mapping) else dtype
    if not isinstance(name, str) or not (_NAMED_NUMBERS.fullmatch(name) or name in _NAMED_TEXT):
        raise _not_numbers(dtype)


def _check_dtype(dtype: object) -> None:
    if not isinstance(dtype, str) or not (_NUMBERS.fullmatch(dtype) or _TEXT.fullmatch(dtype)):
        raise _not_numbers(dtype)


def _not_numbers(dtype: object) -> ValueError:
    return ValueError(
        f"the array has items of type {str(dtype)[:60]!r}, not numbers or text: save it as numbers"
    )


def _check_codecs(codecs: object, key: str) -> None:
    for codec in _codec_list(codecs):
        name = _codec_name(codec, key)
        options = codec.get("configuration") if key == "name" and isinstance(codec, Mapping) else codec
        options = options if isinstance(options, Mapping) else {}
        if name == _SHARDING:  # chunks within chunks have codecs for the data and for the index
            _check_codecs(options.get("codecs"), key)
            _check_codecs(options.get("index_codecs"), key)
        elif name.removeprefix("numcodecs.") not in _CODECS | {_TEXT_CODEC}:
            raise ValueError(
                f"codec {name[:60]!r} is unknown or may run code: save the array with "
                "zarr's default compressor"
            )
        for option in _DTYPE_OPTIONS:
            dtype = options.get(option)
            if dtype is not None and not (
                isinstance(dtype, str) and (_NUMBERS.fullmatch(dtype) or _NAMED_NUMBERS.fullmatch(dtype))
            ):
                raise _not_numbers(dtype)


def _codec_list(codecs: object) -> Sequence[object]:
    if not isinstance(codecs, list | tuple):
        raise ValueError("the metadata do not list the codecs of the chunks: save the array again")
    return codecs


def _codec_name(codec: object, key: str) -> str:
    return str(codec.get(key)) if isinstance(codec, Mapping) else str(codec)
