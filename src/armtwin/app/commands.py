"""The command `armtwin`."""

from __future__ import annotations

import typer

from armtwin import __version__

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__)


@app.callback()
def _root() -> None:
    """The dynamic twin of an industrial robot arm."""


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(f"armtwin {__version__}")


def main() -> None:
    """Run the command line."""
    app()
