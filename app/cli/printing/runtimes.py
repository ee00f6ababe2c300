"""What `fusescope runtimes` prints: engines as a table, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fusescope.analysis import units
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import paragraph, say
from fusescope.app.cli import streams
from fusescope.collectors.environments import adding, needs, state
from fusescope.collectors.environments.catalogue import ENGINES, OWN

if TYPE_CHECKING:
    from fusescope.collectors.environments.catalogue import Engine
    from fusescope.collectors.environments.state import State

SCHEMA_VERSION = 1


def print_table() -> None:
    """Every engine: its version, its size, and its state in a sentence."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(say("Engine"), no_wrap=True)
    table.add_column(say("Version"), no_wrap=True)
    table.add_column(say("To fetch"), justify="right", no_wrap=True)
    table.add_column(say("On the disk"), justify="right", no_wrap=True)
    table.add_column(say("State"))
    mine = own()
    problem = mine["error"]
    table.add_row(
        OWN,
        mine["version"] or units.MISSING,
        units.MISSING,
        units.MISSING,
        say("ready") if problem is None else _without_place(problem),
    )
    for engine in ENGINES.values():
        found = state.state_of(engine)
        is_ready = found.kind == "ready"
        build = engine.builds[0]
        table.add_row(
            engine.name,
            found.version or engine.version,
            units.MISSING if is_ready else _about(build.download_bytes),
            units.capacity(found.disk_bytes or 0) if is_ready else _about(build.disk_bytes),
            _state_told(engine, found),
        )
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(table)
    console.print(
        say(
            "ONNX Runtime comes with FuseScope. Each other engine has a Python environment of its "
            "own below {folder:name}.",
            folder=str(state.root()),
        ),
        style="dim",
    )


def print_json(values: dict[str, Any]) -> None:
    """An object with these values; an error among them as the object that `error` has elsewhere."""
    import msgspec

    from fusescope.analysis.report.exports.error_json import error_values

    def plain(value: object) -> object:
        if isinstance(value, FuseScopeError):
            return error_values(value)["error"]
        raise TypeError(type(value).__name__)

    whole = {"schema_version": SCHEMA_VERSION, **values}
    streams.write_json(msgspec.json.format(msgspec.json.encode(whole, enc_hook=plain), indent=2))


def own() -> dict[str, Any]:
    """ONNX Runtime, which runs in the Python that runs this. It is not loaded for that."""
    from importlib import metadata

    try:
        version, error = metadata.version(OWN), None
    except metadata.PackageNotFoundError:
        version, error = None, FuseScopeError("package_missing", package=OWN, extra="collect")
    return {
        "engine": OWN,
        "state": "absent" if version is None else "ready",
        "version": version,
        "disk_bytes": None,
        "download_bytes": None,
        "folder": None,
        "error": error,
    }


def row(engine: Engine, found: State | None = None) -> dict[str, Any]:
    """An engine as JSON has it."""
    found = found or state.state_of(engine)
    is_ready = found.kind == "ready"
    return {
        "engine": engine.name,
        "state": found.kind,
        "version": found.version if is_ready else engine.version,
        "disk_bytes": found.disk_bytes if is_ready else engine.builds[0].disk_bytes,
        "download_bytes": None if is_ready else engine.builds[0].download_bytes,
        "folder": str(found.folder),
        "error": _problem(engine, found),
    }


def _state_told(engine: Engine, found: State) -> str:
    """Ready, or what makes it so, or why it cannot be."""
    problem = _problem(engine, found)
    if problem is not None:
        return _without_place(problem)
    if found.kind == "ready":
        return say("ready")
    return say("not installed: fusescope runtimes add {engine:name}", engine=engine.name)


def _without_place(problem: FuseScopeError) -> str:
    """What is wrong and the next step, for a column that paths would fill."""
    return paragraph(say("{what}.", what=problem.what), problem.hint)


def _about(size: int) -> str:
    """A size that differs with the machine."""
    return f"~{units.capacity(size)}"


def _problem(engine: Engine, found: State) -> FuseScopeError | None:
    """What keeps the engine from being used or added; None for one that is ready or only absent."""
    if found.kind == "ready":
        return needs.missing_need(engine)
    if (reason := adding.hindrance(engine)) is not None or found.kind == "absent":
        return reason
    try:
        state.python_of(engine.name)
    except FuseScopeError as error:
        return error
    return None
