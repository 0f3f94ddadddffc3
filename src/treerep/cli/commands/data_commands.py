"""The commands of `treerep data`."""

from typing import Annotated

import typer

data = typer.Typer(name="data")


@data.callback(invoke_without_command=True)
def data_help(context: typer.Context) -> None:
    """List, locate and fetch data sets."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@data.command("list")
def list_data() -> None:
    """List all data sets with their size, kind, location and citation."""
    from .data import show_list

    show_list()


@data.command("fetch")
def fetch_data(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME...", help="Names of data sets, as in `treerep data list`."),
    ],
) -> None:
    """Download data sets to the cache folder."""
    from .data import fetch_all

    fetch_all(names)


@data.command("path")
def path_of_data(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Name of a data set. Prints the cache folder if omitted."),
    ] = None,
) -> None:
    """Print the path of a data set, or of the cache folder."""
    from .data import show_path

    show_path(name)
