"""Translate error messages of the library into the terms of the command line.

The library names arguments as in Python: `kind='points'`, `largest_component=True`. Here they
become options of the running command. A fix that needs an argument without an option is removed.
"""

import re
from typing import NamedTuple

import typer

from .._core.io.printing import printable

# Arguments whose options have other names.
_RENAMED = {"n_jobs": "jobs", "rng": "seed"}
# `tr.as_metric(D, symmetrize='mean')`: only the arguments of a call are kept.
_CALL = re.compile(r"\btr\.\w+\(\w+, ([^()]*)\)")
# One of several fixes that is a call: `load('yeast', download=True), or `, ` (A.eliminate_zeros())`,
# `, e.g. D.astype('float32')`, `, or remove the node with tree.contracted()`,
# `; A.maximum(A.T) keeps every edge`.
_CODE = r"\w+\.\w+\([^()]*\)"
_CALLED_REMEDY = re.compile(
    rf"\bload\([^()]*\), or | \({_CODE}\)|, e\.g\. {_CODE}|, or [\w ]+ with {_CODE}|; {_CODE}[\w ]*"
    r"| with scipy\.[\w.]+ first"
)
_VALUE = r"(?:'[^']*'|\"[^\"]*\"|[\w.+-]*\w)"
_ARGUMENT = re.compile(rf"\b(?P<name>[a-z_]+)=(?P<value>{_VALUE}?)")
# One of several fixes, together with the words that join it to the others.
_REMEDY_BEFORE = re.compile(rf"(?:pass )?\b(?P<name>[a-z_]+)={_VALUE},? or ")
_REMEDY_AFTER = re.compile(
    rf"[,;]? (?:or,? |and )?(?:if [^:]*, )?pass (?P<name>[a-z_]+)={_VALUE}?(?: for all)?$"
)
# An argument that does not look like an English word: `time_limit`.
_BARE_NAME = re.compile(r"(?<![-\w])[a-z]+(?:_[a-z]+)+\b(?!=)")


def one_line(error: Exception, command: str = "fit") -> str:
    r"""Return the message of an error on one line, in the terms of a command.

    >>> one_line(ValueError("pass kind='points',\n or pass largest_component=True"))
    'pass --kind points, or pass --largest-component'
    >>> one_line(ValueError("no length: add one, or pass default_length=1.0 for all"))
    'no length: add one'
    """
    if isinstance(error, typer.TyperException):  # already in the terms of the command line
        return printable(" ".join(error.format_message().split()).replace("Value error, ", ""))
    text = _translate(" ".join(_message(error).split()), _options(command))
    return printable(text.strip()) or f"{type(error).__name__} (run again with --debug)"


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    message = str(error)
    if isinstance(error, MemoryError) and ":" not in message:  # from NumPy, without a fix
        details = f" ({message})" if message else ""
        return f"out of memory{details}: use fewer points or a machine with more memory"
    return message


class _Option(NamedTuple):
    """The option for an argument, and the option that sets the argument to False."""

    name: str
    negated: str


def _options(command: str) -> dict[str, _Option]:
    """Return the options of a command by argument, as the command declares them."""
    from .app import app

    commands = getattr(typer.main.get_command(app), "commands", {})
    parameters = commands[command].params if command in commands else []
    options = {
        parameter.name: _Option(parameter.opts[0], (parameter.secondary_opts or parameter.opts)[0])
        for parameter in parameters
        if parameter.param_type_name == "option"
    }
    if "unweighted" in options:  # the option for weight=False
        options["weight"] = _Option(options["weight"].name, options["unweighted"].name)
    return options


def _translate(text: str, options: dict[str, _Option]) -> str:
    def option_of(argument: str) -> _Option | None:
        return options.get(_RENAMED.get(argument, argument))

    def drop_if_unknown(found: re.Match[str]) -> str:
        return "" if option_of(found["name"]) is None else found[0]

    def as_option(found: re.Match[str]) -> str:
        option = option_of(found["name"])
        value = found["value"].strip("'\"")
        if option is None:  # no option: use plain words
            return f"{found['name']} {value}"
        if value in ("True", "False"):
            return option.name if value == "True" else option.negated
        return f"{option.name} {value}".rstrip()

    def as_bare_option(found: re.Match[str]) -> str:
        option = option_of(found[0])
        return found[0] if option is None else option.name

    text = _CALL.sub(r"\1", text)
    text = _CALLED_REMEDY.sub("", text)
    text = _REMEDY_BEFORE.sub(drop_if_unknown, text)
    text = _REMEDY_AFTER.sub(drop_if_unknown, text)
    text = _ARGUMENT.sub(as_option, text)
    return _BARE_NAME.sub(as_bare_option, text)
