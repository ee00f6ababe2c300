"""What runs an engine's workers, by what a user chose: an engine, or an environment of theirs."""

from __future__ import annotations

from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.environments import named, state
from fusescope.collectors.environments.catalogue import OWN, engine_of, is_named, kind_of

_KINDS = {"CUDA": "cuda", "ROCm": "rocm", "XPU": "xpu"}  # as builds of PyTorch begin
_APPLE = "mps"


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


def settings_of(runtime: str) -> dict[str, str]:
    """What the settings of a variant say of an environment of the user's; nothing of others."""
    if not is_named(runtime):
        return {}
    made = named.ready(runtime)
    told = {"environment": runtime, "python": made.python_version, "build": made.build}
    return {name: value for name, value in told.items() if value}


def is_ready(runtime: str) -> bool:
    """Whether it is there, as it was seen; starts nothing."""
    if not is_named(runtime):
        return runtime == OWN or state.state_of(engine_of(runtime)).kind == "ready"
    try:
        named.ready(runtime)
    except FuseScopeError:
        return False
    return True


def devices_of(runtime: str) -> dict[str, str]:
    """Return the devices that PyTorch saw in an environment of the user's when it was looked at, as
    a recording names them ('cuda:1'), with what their makers call them; {} for all others."""
    if not is_named(runtime) or kind_of(runtime) != "torch":
        return {}
    seen = named.ready(runtime)
    kind = _KINDS.get(seen.build.partition(" ")[0], "")
    names = [name for name in seen.devices if name != _APPLE]
    found = {f"{kind}:{number}": name for number, name in enumerate(names)} if kind else {}
    return {**found, **({_APPLE: _APPLE} if _APPLE in seen.devices else {})}


def environments_of(kind: str) -> tuple[str, ...]:
    """The environments of the user's that have this engine, by what they are called."""
    return tuple(one.runtime for one in named.listed(kind))
