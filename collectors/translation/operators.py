"""The table of ONNX's operators, and a whole program by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import clean_text
from fusescope.collectors.models.array import Array
from fusescope.collectors.translation import elementwise, layers, shaping
from fusescope.collectors.translation.backend import Backend, Untranslated, Value
from fusescope.collectors.translation.elementwise import Translate
from fusescope.collectors.translation.folding import Folding
from fusescope.collectors.translation.node import Known, Node
from fusescope.collectors.translation.program import Program, Step

TABLE: Mapping[str, Translate] = {**elementwise.TABLE, **layers.TABLE, **shaping.TABLE}
_MOST_NAMED = 8


def check(program: Program, engine: str) -> None:
    """Raises FuseScopeError that names the operators which the table does not have."""
    missing = dict.fromkeys(
        step.operator
        for step in program.steps
        if step.domain or step.graphs or step.op_type not in TABLE
    )
    if missing:
        named = ", ".join(clean_text(one, 80) for one in [*missing][:_MOST_NAMED])
        raise FuseScopeError(
            "operator_not_translated", n=len(missing), operators=named, engine=engine
        )


def translated(
    program: Program,
    weights: Mapping[str, Array],
    held: Sequence[Array],
    inputs: Mapping[str, Value],
    backend: Backend,
    engine: str,
) -> dict[str, Known | Value]:
    """Every tensor that a step makes, by name, as `steps` has them."""
    found: dict[str, Known | Value] = {name: Known(name, one) for name, one in weights.items()}
    made = steps(program, weights, held, inputs, backend, engine)
    for step, values in zip(program.steps, made, strict=True):
        found.update(zip(step.outputs, values, strict=False))
    return found


def steps(
    program: Program,
    weights: Mapping[str, Array],
    held: Sequence[Array],
    inputs: Mapping[str, Value],
    backend: Backend,
    engine: str,
) -> Iterator[tuple[Known | Value, ...]]:
    """What each step makes, one after the other: the engine's values, or what is known of them.
    `inputs` are the engine's values. Raises FuseScopeError for a form of an operator that is not in
    the table, with the name of its node."""
    found: dict[str, Known | Value] = {name: Known(name, one) for name, one in weights.items()}
    found |= inputs
    for step in program.steps:
        given = [found[name] if name else None for name in step.inputs]
        try:
            made = _folded(step, given, held, program.opset)
            if made is None:
                made = TABLE[step.op_type](Node(step, given, held, backend, program.opset))
        except Untranslated as error:
            raise FuseScopeError(
                "operator_not_translated",
                where=clean_text(step.name, 80),
                n=1,
                operators=clean_text(str(error) or step.operator, 160),
                engine=engine,
            ) from error
        parts = made if isinstance(made, tuple) else (made,)
        named = tuple(
            Known(name, one.array) if isinstance(one, Known) else one
            for name, one in zip(step.outputs, parts, strict=False)
        )
        found.update(zip(step.outputs, named, strict=False))
        yield named


def _folded(
    step: Step, given: Sequence[Known | Value | None], held: Sequence[Array], opset: int
) -> Known | tuple[Known, ...] | None:
    """What the step makes of known tensors alone; None where the engine has to compute it."""
    if not given or not all(one is None or isinstance(one, Known) for one in given):
        return None
    try:
        node = Node(step, given, held, cast("Backend", Folding()), opset)
        with np.errstate(all="ignore"):  # as the engines, who compute log(0) in silence
            made = TABLE[step.op_type](node)
    except (Untranslated, TypeError):  # numpy has no such function, or not for these types
        return None
    parts = [_known(one) for one in (made if isinstance(made, tuple) else (made,))]
    return tuple(parts) if isinstance(made, tuple) else parts[0]


def _known(one: Any) -> Known:
    return one if isinstance(one, Known) else Known("", np.asarray(one))
