"""`treerep data`: list, locate and fetch data sets."""

import typer
from rich.table import Table

from ...datasets._catalog import CATALOG, Entry, entry
from ...datasets._fetching import fetch
from ...datasets._finding import absence, cache_folder, locate
from .._outputs import console


def show_list() -> None:
    """Print the table of all data sets."""
    table = Table()
    for heading in ("name", "points", "kind", "found in", "citation"):
        table.add_column(heading, overflow="fold")
    for name, row in CATALOG.items():
        table.add_row(name, f"{row.points:,}", _kind(row), _place(name, row), row.citation)
    console().print(table)


def _kind(row: Entry) -> str:
    unit = {"graph": "edges", "cells": "coordinates"}
    return row.kind if row.size is None else f"{row.kind}, {row.size:,} {unit[row.kind]}"


def _place(name: str, row: Entry) -> str:
    found = locate(name)
    if found is not None:
        return found.place
    if row.origin is not None:
        return "- (can be fetched)"
    return "- (TREEREP_DATA)" if row.package is None else f"- (part of {row.package[0]})"


def fetch_all(names: list[str]) -> None:
    """Fetch data sets and print their paths. Check all names before the first fetch."""
    for name in names:
        entry(name)
    for name in names:
        typer.echo(f"{name}: {fetch(name)}")


def show_path(name: str | None) -> None:
    """Print the path of a data set, or of the cache folder."""
    if name is None:
        typer.echo(cache_folder())
        return
    found = locate(name)
    if found is None:
        raise FileNotFoundError(absence(name))
    typer.echo(found.path)
