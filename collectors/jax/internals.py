"""What FuseScope uses of JAX and XLA beyond their public interfaces, where each release has it.

Other releases than those of TESTED may have it elsewhere or not at all. What is not there raises
Lacking where it is used: a variant is then recorded without its graph, or the model without what
follows tensors, and the recording says what is missing.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import jax

from fusescope.analysis.text import clean_text

TESTED = ("0.8.3", "0.9.2", "0.10.2")


class Lacking(RuntimeError):
    """This release does not have what is needed."""


def found(*places: str) -> Any:
    """What lies at the first of these places that there is ('module:name.name'). Raises Lacking."""
    for place in places:
        module, _, names = place.partition(":")
        try:
            at: Any = importlib.import_module(module)
            for name in names.split("."):
                at = getattr(at, name)
        except (ImportError, AttributeError):
            continue
        return at
    raise Lacking(
        f"JAX {jax.__version__} has no {places[0].replace(':', '.')}; "
        f"tested were {', '.join(TESTED)}"
    )


def hlo(name: str) -> Any:
    """A class or function of XLA's programs: since 0.10 they lie in a module of their own."""
    return found(f"jax._src.lib:xla_client.hlo.{name}", f"jax._src.lib:xla_client._xla.{name}")


def xla(name: str) -> Any:
    """One of XLA's client."""
    return found(f"jax._src.lib:xla_client.{name}", f"jax._src.lib:xla_client._xla.{name}")


def eager_trace() -> Any:
    """The class that runs primitives one by one."""
    found("jax._src.core:EvalTrace.process_primitive")
    return found("jax._src.core:EvalTrace")


def dispatching() -> Any:
    """The module whose `xla_primitive_callable` makes the program of a primitive."""
    found("jax._src.dispatch:xla_primitive_callable")
    return found("jax._src:dispatch")


def user_frames(traceback: Any) -> list[Any]:
    """The frames that are not JAX's own; none where this release does not say."""
    try:
        return list(found("jax._src.source_info_util:user_frames")(traceback))
    except (Lacking, TypeError, AttributeError):
        return []


def current_source() -> Any | None:
    """Where the operator that runs now was called; None where this release does not say."""
    try:
        return found("jax._src.source_info_util:current")()
    except Lacking:
        return None


def bound(primitive: Any, params: dict[str, Any], values: Sequence[Any]) -> Any:
    """What a primitive makes of these values. Up to 0.8 functions among its parameters are values
    in front of them."""
    given = primitive.get_bind_params(params)
    functions, given = given if isinstance(given, tuple) else ((), given)
    return primitive.bind(*functions, *values, **given)


def held_and_kept(compiled: Any) -> tuple[Sequence[Any], Any]:
    """The arrays that a compiled function holds, which it passes first, and the places of what it
    passes at all. Raises Lacking."""
    try:
        return compiled._params.const_args, compiled._executable._kept_var_idx
    except AttributeError as error:
        name = clean_text(str(error.name), 60)
        raise Lacking(
            f"JAX {jax.__version__} has no {name} of a compiled function; tested were "
            f"{', '.join(TESTED)}"
        ) from None


def settings() -> dict[str, str]:
    """What the settings of a variant say of a release that was not tested."""
    if jax.__version__ in TESTED:
        return {}
    return {"release_untested": f"tested were {', '.join(TESTED)}"}
