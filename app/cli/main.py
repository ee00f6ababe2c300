"""`fusescope`: one file a verb. Verb modules import only typer; the rest when they run."""

from __future__ import annotations

import errno
import os
import sys
from typing import Annotated

import typer

from analysis.errors import FuseScopeError
from app.cli.collect import collect
from app.cli.compare import compare
from app.cli.fuse import fuse
from app.cli.inspect import inspect
from app.cli.recipe import recipe
from app.cli.serve import serve
from app.cli.zoo import zoo

_MOST_CHARS = 1000  # of an error: names in it come from files

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="What operator fusion bought, where, and whether the answer can be trusted.",
)


@app.callback()
def settings(
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=N", help="Set a limit of reading (docs/limits.md). Repeatable."),
    ] = None,
) -> None:
    """Settings of every verb."""
    from app import places

    # The pages of the dashboard read them from the environment of this process.
    told = [os.environ.get(places.LIMITS_VARIABLE, ""), *(limit or ())]
    os.environ[places.LIMITS_VARIABLE] = ",".join(filter(None, told))
    places.limits()


for verb in (collect, recipe, fuse, inspect, compare, serve):
    app.command()(verb)
app.add_typer(zoo, name="zoo")


def main() -> None:
    """Run the command line. Exit code 0: fine; 2: bad usage or unreadable input."""
    try:
        app(prog_name="fusescope")
    except FuseScopeError as error:
        from analysis.readers.source import clean_text

        print(f"fusescope: {clean_text(error.text, _MOST_CHARS)}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output (head, less) is gone: nothing is left to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if os.environ.get("FUSESCOPE_DEBUG"):
            raise
        print(f"fusescope: {_said_of(error)}", file=sys.stderr)
        sys.exit(2)


def _said_of(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        from analysis.units import middle_cut

        return f"A path is too long ({middle_cut(ascii(error.filename), 60)}). Shorten it."
    return (
        f"Something went wrong inside FuseScope ({type(error).__name__}). "
        "Set FUSESCOPE_DEBUG=1 to see where, and report it."
    )


if __name__ == "__main__":
    main()
