"""Launchers of Triton kernels in generated code: which of their arguments they read and write.

Names of pointers are inductor's own: `in_ptr0`, `out_ptr0`, `in_out_ptr0`, `ws_ptr` (scratch
memory), in templates also others, which are read; what is written beside `out_ptr…` the compiler
lists. Tested with torch 2.13.0.
"""

from __future__ import annotations

from typing import Any, Literal

Role = Literal["in", "out", "in_out", "scratch"]


def is_launcher(value: Any) -> bool:
    """Whether that is what generated code calls `run` of to launch a Triton kernel."""
    meta = getattr(value, "triton_meta", None)
    return callable(getattr(value, "run", None)) and isinstance(meta, dict) and "signature" in meta


def roles_of(launcher: Any) -> list[Role]:
    """Return the role of each argument of `run`, numbers among them as `in`. Raises KeyError and
    TypeError where this release of torch describes kernels otherwise."""
    signature: dict[str, str] = launcher.triton_meta["signature"]
    mutated = frozenset(launcher.mutated_arg_names)
    return [_role(name, mutated) for name, kind in signature.items() if kind != "constexpr"]


def _role(name: str, mutated: frozenset[str]) -> Role:
    if name.startswith("ws_ptr"):
        return "scratch"
    if name.startswith("in_out_ptr") or name in mutated:
        return "in_out"
    return "out" if name.startswith("out_ptr") else "in"
