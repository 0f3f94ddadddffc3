"""The commands of `treerep data`."""

from typing import Annotated

import typer

data = typer.Typer(name="data")


@data.callback(invoke_without_command=True)
def data_help(context: typer.Context) -> None:
    """Data sets: what there is, where it is, and how to obtain it."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@data.command("list")
def list_data() -> None:
    """Show all data sets: their size and kind, where they are found, and whom to cite."""
    from .data import show_list

    show_list()


@data.command("fetch")
def fetch_data(
    names: Annotated[
        list[str], typer.Argument(help="Names of data sets; `treerep data list` shows them.")
    ],
) -> None:
    """Obtain data sets from the network, where they are not on this machine."""
    from .data import fetch_all

    fetch_all(names)


@data.command("path")
def path_of_data(
    name: Annotated[
        str | None,
        typer.Argument(help="Name of a data set; without it, the folder of the cache."),
    ] = None,
) -> None:
    """Print where a data set is on this machine, or where fetched ones are kept."""
    from .data import show_path

    show_path(name)
