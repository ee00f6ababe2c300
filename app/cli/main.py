"""`fusescope`: one file a verb. Verb modules import only typer; the rest when they run."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import re
import sys
from typing import Annotated

import typer

from analysis.errors import FuseScopeError
from analysis.messages import say
from app.cli import interruption, language, memory, streams
from app.cli.advise import advise
from app.cli.collect import collect
from app.cli.compare import compare
from app.cli.fleet.fleet import fleet
from app.cli.fleet.ingest import ingest
from app.cli.fuse import fuse
from app.cli.gating.gate import gate
from app.cli.given.sides import SidesCommand
from app.cli.help import command_of
from app.cli.inspect import inspect
from app.cli.library.library import library
from app.cli.library.sql import sql
from app.cli.limits import HELP, METAVAR, set_limits
from app.cli.multiple.scaling import scaling
from app.cli.recipe import recipe
from app.cli.releases.bisect import bisect
from app.cli.runtimes import runtimes
from app.cli.serve import serve
from app.cli.zoo import zoo

_MAX_CHARS = 1000  # of an error: names in it come from files
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
_NO_MEMORY = re.compile(
    r"cannot allocate memory|failed to map segment|unable to allocate", re.IGNORECASE
)

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    help="What operator fusion bought, where, and whether the answer can be trusted.",
)


def _version(is_asked: bool) -> None:
    if is_asked:
        from importlib import metadata

        try:
            print(f"fusescope {metadata.version('fusescope')}")
        except metadata.PackageNotFoundError:
            print("fusescope, from source")
        raise typer.Exit


@app.callback()
def settings(
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar=METAVAR, help=HELP),
    ] = None,
    lang: Annotated[
        str | None, typer.Option("--lang", metavar=language.METAVAR, help=language.HELP)
    ] = None,  # spoken by now
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Settings of every verb."""
    memory.check()
    set_limits(limit or ())


app.command(help="Record a model's variants and write one experiment file.")(collect)
app.command(help="List the published fusion recipes, or record one and print its table.")(recipe)
app.command(help="Fuse operators of a model, verify the result, and say what was not fused.")(fuse)
app.command(help="Say what a trace or experiment contains, what was dropped, what it can answer.")(
    inspect
)
app.command(cls=SidesCommand, help="Compare two traces, or two variants of an experiment.")(compare)
app.command(help="Say what limits a trace or variant now, what to try, and what that would bring.")(
    advise
)
app.command(help="Fail where a condition on two variants is true, for CI.")(gate)
app.command(help="Find the release of ONNX Runtime that lost a fusion of a model.")(bisect)
app.command(help="Show how a model scales with the batch size and the number of threads.")(scaling)
app.command(help="Answer a question in SQL about everything in the library.")(sql)
app.command(help="Read the traces of all ranks of a job into a store, each once.")(ingest)
app.command(help="Say which rank is slow and why, which link, whose kernels differ.")(fleet)
app.command(help="Start the dashboard and print its address; Ctrl-C ends it.")(serve)
app.add_typer(library, name="library")
app.add_typer(zoo, name="zoo")
app.add_typer(runtimes, name="runtimes")


def main() -> None:
    """Run the command line. Exit code 0: fine; 1: a gate failed; 2: bad usage, unreadable input,
    or no place for the output. Who stops reading (`| head`) has had enough, which is fine."""
    streams.prepare()
    _keep_log_quiet()
    code = _run()
    if streams.is_stuck() and code == 0:
        code = 2
    interruption.finish()
    sys.exit(code)


def _keep_log_quiet() -> None:
    """What is logged is for the log of a server; a verb has said its sentence by then."""
    if "serve" not in sys.argv[1:4] and not os.environ.get("FUSESCOPE_DEBUG"):
        logging.getLogger("fusescope").addHandler(logging.NullHandler())


def _run() -> int:
    try:
        try:
            asked, sys.argv[1:] = language.taken(sys.argv[1:])
            language.speak(asked)
            command_of(app)(prog_name="fusescope")
        except SystemExit as ended:
            # click and rich make a code of their own out of a reader that is gone
            if isinstance(ended.__context__, BrokenPipeError):
                raise ended.__context__ from None
            if isinstance(ended.code, int) and ended.code:
                return ended.code
        sys.stdout.flush()
    except memory.LittleMemoryError as error:
        streams.tell(error.text)
        return 2
    except FuseScopeError as error:
        from analysis.text import clean_text

        streams.tell(clean_text(error.text, _MAX_CHARS))
        if "--json" in sys.argv:
            from analysis.report.exports.error_json import error_json

            with contextlib.suppress(OSError):
                streams.write_json(error_json(error))
        return 2
    except BrokenPipeError:
        streams.is_stuck()
    except Exception as error:
        if os.environ.get("FUSESCOPE_DEBUG"):
            raise
        streams.tell(_said_of(error))
        return 2
    return 0


def _said_of(error: Exception) -> str:
    if isinstance(error, MemoryError) or _NO_MEMORY.search(str(error)):
        return memory.too_little()
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        from analysis.units import middle_cut

        path = middle_cut(ascii(error.filename), 60)
        return say("A path is too long ({path:name}). Shorten it.", path=path)
    # Files that a verb writes have a sentence of their own: what is left is what we print.
    if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
        return say(
            "The output cannot be written: {reason:name}. Send it elsewhere.",
            reason=(error.strerror or type(error).__name__).lower(),
        )
    return say(
        "Something went wrong inside FuseScope ({kind:name}). Set FUSESCOPE_DEBUG=1 to see where, "
        "and report it.",
        kind=type(error).__name__,
    )


if __name__ == "__main__":
    main()
