"""The commands of `treerep data`."""

from typing import Annotated

import typer

data = typer.Typer(name="data")


@data.callback(invoke_without_command=True)
def data_help(context: typer.Context) -> None:
    """List, find and fetch data sets."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@data.command("list")
def list_data() -> None:
    """List all data sets with size, kind, place and citation."""
    from .data import show_list

    show_list()


@data.command("fetch")
def fetch_data(
    names: Annotated[
        list[str], typer.Argument(help="Names of data sets; `treerep data list` shows them.")
    ],
) -> None:
    """Fetch data sets that are not on this machine."""
    from .data import fetch_all

    fetch_all(names)


@data.command("path")
def path_of_data(
    name: Annotated[
        str | None,
        typer.Argument(help="Name of a data set. Without it: the folder of the cache."),
    ] = None,
) -> None:
    """Print the path of a data set, or of the cache."""
    from .data import show_path

    show_path(name)
