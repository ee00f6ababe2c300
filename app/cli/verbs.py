"""The verbs of `fusescope`, one file each. Only the one that is asked for is imported, and of it
only typer and its options; the rest when it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from fusescope.app.cli import language, memory
from fusescope.app.cli.limits import HELP, METAVAR, set_limits

_LIMIT = "--limit"


def command_line(words: Sequence[str]) -> typer.Typer:
    """Return the command line with the verb that `words` ask for; with all verbs where they ask for
    none, or for help with all."""
    app = typer.Typer(
        add_completion=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        help="What operator fusion bought, where, and whether the answer can be trusted.",
    )
    app.callback()(settings)
    asked = _asked(words)
    for add in (_VERBS[asked],) if asked in _VERBS else _VERBS.values():
        add(app)
    return app


def _asked(words: Sequence[str]) -> str | None:
    """Return the first word that is neither a limit nor an option; None behind other options."""
    at = 0
    while at < len(words) and words[at].startswith(_LIMIT):
        at += 2 if words[at] == _LIMIT else 1
    return words[at] if at < len(words) and not words[at].startswith("-") else None


def _version(is_asked: bool) -> None:
    if is_asked:
        from importlib import metadata

        try:
            print(f"fusescope {metadata.version('fusescope')}")
        except metadata.PackageNotFoundError:
            print("fusescope, from source")
        raise typer.Exit


def settings(
    limit: Annotated[
        list[str] | None,
        typer.Option(_LIMIT, metavar=METAVAR, help=HELP),
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


def _collect(app: typer.Typer) -> None:
    from fusescope.app.cli.collect import collect

    app.command(help="Record a model's variants and write one experiment file.")(collect)


def _recipe(app: typer.Typer) -> None:
    from fusescope.app.cli.recipe import recipe

    app.command(help="List the published fusion recipes, or record one and print its table.")(
        recipe
    )


def _fuse(app: typer.Typer) -> None:
    from fusescope.app.cli.fuse import fuse

    app.command(help="Fuse operators of a model, verify the result, and say what was not fused.")(
        fuse
    )


def _inspect(app: typer.Typer) -> None:
    from fusescope.app.cli.inspect import inspect

    app.command(
        help="Say what a trace or experiment contains, what was dropped, what it can answer."
    )(inspect)


def _compare(app: typer.Typer) -> None:
    from fusescope.app.cli.compare import compare
    from fusescope.app.cli.given.sides import SidesCommand

    app.command(cls=SidesCommand, help="Compare two traces, or two variants of an experiment.")(
        compare
    )


def _advise(app: typer.Typer) -> None:
    from fusescope.app.cli.advise import advise

    app.command(
        help="Say what limits a trace or variant now, what to try, and what that would bring."
    )(advise)


def _gate(app: typer.Typer) -> None:
    from fusescope.app.cli.gating.gate import gate

    app.command(help="Fail where a condition on two variants is true, for CI.")(gate)


def _bisect(app: typer.Typer) -> None:
    from fusescope.app.cli.releases.bisect import bisect

    app.command(help="Find the release of ONNX Runtime that lost a fusion of a model.")(bisect)


def _scaling(app: typer.Typer) -> None:
    from fusescope.app.cli.multiple.scaling import scaling

    app.command(help="Show how a model scales with the batch size and the number of threads.")(
        scaling
    )


def _sql(app: typer.Typer) -> None:
    from fusescope.app.cli.library.sql import sql

    app.command(help="Answer a question in SQL about everything in the library.")(sql)


def _ingest(app: typer.Typer) -> None:
    from fusescope.app.cli.fleet.ingest import ingest

    app.command(help="Read the traces of all ranks of a job into a store, each once.")(ingest)


def _fleet(app: typer.Typer) -> None:
    from fusescope.app.cli.fleet.fleet import fleet

    app.command(help="Say which rank is slow and why, which link, whose kernels differ.")(fleet)


def _mcp(app: typer.Typer) -> None:
    from fusescope.app.cli.mcp import mcp

    app.command(help="Answer questions of an agent about traces, on stdin and stdout (MCP).")(mcp)


def _serve(app: typer.Typer) -> None:
    from fusescope.app.cli.serve import serve

    app.command(help="Start the dashboard and print its address; Ctrl-C ends it.")(serve)


def _library(app: typer.Typer) -> None:
    from fusescope.app.cli.library.library import library

    app.add_typer(library, name="library")


def _baseline(app: typer.Typer) -> None:
    from fusescope.app.cli.library.baseline import baseline

    app.add_typer(baseline, name="baseline")


def _zoo(app: typer.Typer) -> None:
    from fusescope.app.cli.zoo import zoo

    app.add_typer(zoo, name="zoo")


def _runtimes(app: typer.Typer) -> None:
    from fusescope.app.cli.runtimes import runtimes

    app.add_typer(runtimes, name="runtimes")


# In the order in which help lists them.
_VERBS: dict[str, Callable[[typer.Typer], None]] = {
    "collect": _collect,
    "recipe": _recipe,
    "fuse": _fuse,
    "inspect": _inspect,
    "compare": _compare,
    "advise": _advise,
    "gate": _gate,
    "bisect": _bisect,
    "scaling": _scaling,
    "sql": _sql,
    "ingest": _ingest,
    "fleet": _fleet,
    "serve": _serve,
    "mcp": _mcp,
    "library": _library,
    "baseline": _baseline,
    "zoo": _zoo,
    "runtimes": _runtimes,
}
