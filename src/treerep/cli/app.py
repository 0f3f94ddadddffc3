"""The command `treerep`: its commands and options, and how it ends."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from .. import __version__

app = typer.Typer(
    name="treerep",
    help="The tree behind your distances.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)

data = typer.Typer(name="data")
app.add_typer(data)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and exit: 0, or 2 with one line on stderr for bad usage or input, or 130 when interrupted."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    try:
        # Outside typer's standalone mode, so that every error takes the same way out.
        code = app([word for word in given if word != "--debug"], prog_name="treerep", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except Exception as error:
        if debug:
            raise
        code = 2
        typer.echo(f"treerep: error: {_one_line(error)}", err=True)
    sys.exit(code or 0)


def _one_line(error: Exception) -> str:
    message = error.format_message() if isinstance(error, typer.TyperException) else str(error)
    return " ".join(message.split()) or f"{type(error).__name__} (run it again with --debug)"


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"treerep {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 (its callback does the work)
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[  # noqa: ARG001 (main takes it from wherever it stands)
        bool, typer.Option("--debug", help="Show the traceback of an error; may stand anywhere.")
    ] = False,
) -> None:
    """Options of all commands; without a command, the help."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the trees.")] = Path("demo-output"),
) -> None:
    """Fit the distances of eight mammals and 2,000 generated cells; show the tree and the scores."""
    from .demo import show_demo

    show_demo(output)


@app.command("warm-up")
def warm_up() -> None:
    """Compile everything once, so that later runs start at full speed."""
    from .warm_up import compile_everything

    compile_everything()


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
    names: Annotated[list[str], typer.Argument(help="Names of data sets; `treerep data list` shows them.")],
) -> None:
    """Obtain data sets from the network, where they are not on this machine."""
    from .data import fetch_all

    fetch_all(names)


@data.command("path")
def path_of_data(
    name: Annotated[str | None, typer.Argument(help="Name of a data set; without it, the folder of the cache.")] = None,
) -> None:
    """Print where a data set is on this machine, or where fetched ones are kept."""
    from .data import show_path

    show_path(name)
