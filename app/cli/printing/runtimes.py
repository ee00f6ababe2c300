"""What `fusescope runtimes` prints: engines as a table, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fusescope.analysis import units
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message, paragraph, say
from fusescope.app.cli import streams
from fusescope.collectors.environments import adding, named, needs, state
from fusescope.collectors.environments.catalogue import ENGINES, OWN

if TYPE_CHECKING:
    from fusescope.collectors.environments.catalogue import Engine
    from fusescope.collectors.environments.named import Listed, Named
    from fusescope.collectors.environments.state import State

SCHEMA_VERSION = 1
_NAMED = Message(
    "{runtime:name} is ready: {engine:name} {version:name} for Python {python:name}. Nothing was "
    "installed."
)
_NAMED_AGAIN = Message(
    "{runtime:name} was looked at anew and is ready: {engine:name} {version:name} for Python "
    "{python:name}. Nothing was installed."
)


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
    for one in named.listed():
        version = units.MISSING if one.named is None else one.named.version
        table.add_row(one.runtime, version, units.MISSING, units.MISSING, _named_told(one))
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
        "environment": None,
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
        "environment": None,
    }


def named_row(one: Listed) -> dict[str, Any]:
    """An environment of the user's as JSON has it, with what was seen of it."""
    seen = one.named
    return {
        "engine": one.runtime,
        "state": "ready" if one.problem is None else "broken",
        "version": None if seen is None else seen.version,
        "disk_bytes": None,
        "download_bytes": None,
        "folder": None,
        "error": one.problem,
        "environment": None
        if seen is None
        else {
            "python": seen.python,
            "python_version": seen.python_version,
            "build": seen.build or None,
            "compiler": seen.compiler or None,
            "devices": list(seen.devices),
            "brought": list(seen.brought),
            "looked": seen.looked,
        },
    }


def print_named(made: Named, *, was_there: bool) -> None:
    """What was seen of an environment of the user's, and how it is chosen."""
    told = _NAMED_AGAIN if was_there else _NAMED
    first = told.text(
        runtime=made.runtime,
        engine=made.engine,
        version=made.version,
        python=made.python_version,
    )
    print(paragraph(first, *_seen_told(made)))
    print(say("Record with it: --runtime {runtime:name}", runtime=made.runtime))


def _seen_told(made: Named) -> list[str]:
    """What was seen, a sentence each."""
    devices, packages = ", ".join(made.devices), ", ".join(made.brought)
    return [
        say("Its build: {build:name}.", build=made.build) if made.build else "",
        say("Its compiler: {compiler:name}.", compiler=made.compiler) if made.compiler else "",
        say("Devices that it sees beside the CPU: {devices:name}.", devices=devices)
        if devices
        else say("It sees no device beside the CPU."),
        say("It lacks {packages:name}, which FuseScope brings along.", packages=packages)
        if packages
        else "",
    ]


def _named_told(one: Listed) -> str:
    """Ready, with what was seen, or why it cannot be used and the next step."""
    if one.problem is not None:
        return _without_place(one.problem)
    assert one.named is not None
    ready = say(
        "ready: Python {version:name} ({path:name}).",
        version=one.named.python_version,
        path=one.named.python,
    )
    return paragraph(ready, *_seen_told(one.named))


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
