"""What runs an engine's workers, by what a user chose: an engine, or an environment of theirs."""

from __future__ import annotations

from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.environments import named, state
from fusescope.collectors.environments.catalogue import OWN, engine_of, is_named


def python_of(runtime: str) -> Path:
    """The Python of its workers. Raises FuseScopeError where there is none that works, with the
    next step."""
    return Path(named.ready(runtime).python) if is_named(runtime) else state.python_of(runtime)


def brought_to(runtime: str) -> tuple[str, ...]:
    """The packages that its workers get from FuseScope's own installation."""
    return named.ready(runtime).brought if is_named(runtime) else ()


def version_of(runtime: str) -> str:
    """The version of the engine there, '' where it is not ready; not of FuseScope's own."""
    if is_named(runtime):
        return named.ready(runtime).version
    return state.state_of(engine_of(runtime)).version or ""


def is_ready(runtime: str) -> bool:
    """Whether it is there, as it was seen; starts nothing."""
    if not is_named(runtime):
        return runtime == OWN or state.state_of(engine_of(runtime)).kind == "ready"
    try:
        named.ready(runtime)
    except FuseScopeError:
        return False
    return True


def environments_of(kind: str) -> tuple[str, ...]:
    """The environments of the user's that have this engine, by what they are called."""
    return tuple(one.runtime for one in named.listed(kind))
