"""The operators of one eager run: every primitive that JAX runs by itself, with its tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import jax

from fusescope.analysis.graph import Tensor
from fusescope.collectors.jax import internals
from fusescope.collectors.jax.equations import line_of, products_of, tensor_of
from fusescope.collectors.jax.followed import Followed, Ran
from fusescope.collectors.jax.models import Loaded
from fusescope.collectors.jax.originals import array_of

_MOVES = frozenset(
    (
        "copy", "copy_p", "reshape", "transpose", "squeeze", "expand_dims", "stop_gradient",
        "convert_element_type", "stage", "device_put", "broadcast_in_dim", "reduce_precision",
        "optimization_barrier",
    )
)  # fmt: skip


def follow_eager(loaded: Loaded, followed: Followed) -> list[str]:
    """Runs the model once, operator by operator; what it returns. Raises whatever it raises."""
    watch = _Watch(followed, loaded.file)
    for name, leaf in loaded.leaves():
        followed.given(tensor_of(name, leaf))
        watch.names[id(leaf)] = name
    with jax.disable_jit(), _watched(watch):
        made = loaded.call(*loaded.inputs)
    return [watch.name_of(leaf) for leaf in jax.tree.leaves(made)]


@dataclass
class _Watch:
    """Follows arrays by their identity: all of them stay alive."""

    followed: Followed
    file: str
    names: dict[int, str] = field(default_factory=dict)
    programs: list[str] = field(default_factory=list)
    inside: bool = False
    _known: dict[str, dict[Any, int]] = field(default_factory=dict)
    _alive: list[Any] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def name_of(self, value: Any) -> str:
        """The name of a tensor; one that no operator made is a constant."""
        known = self.names.get(id(value))
        if known is None:
            known = self.names[id(value)] = f"%constant.{len(self.names)}"
            self._alive.append(value)
            made = tensor_of(known, jax.typeof(value))
            self.followed.tensors[known] = Tensor(known, made.dtype, made.shape, constant=True)
        return known

    def start(self, primitive: Any, program: Any, args: Sequence[Any]) -> None:
        """A program runs: 'mul:2' is the third that multiplies, one each for other parameters,
        shapes and dtypes."""
        avals = [jax.typeof(arg) for arg in args]
        key = (id(program), *((str(aval), getattr(aval, "weak_type", False)) for aval in avals))
        known = self._known.setdefault(primitive.name, {})
        self._alive.append(program)
        self.programs.append(f"{primitive.name}:{known.setdefault(key, len(known))}")

    def note(self, primitive: Any, args: Sequence[Any], params: dict[str, Any], made: Any) -> None:
        """One operator, and the programs that were started for it."""
        results = list(made) if primitive.multiple_results else [made]
        # What hands an array on as it is, is not an operator.
        if not self.programs and all(id(result) in self.names for result in results):
            return
        reads = [self.name_of(arg) for arg in args]
        number = self._numbers[primitive.name] = self._numbers.get(primitive.name, -1) + 1
        name = f"{primitive.name}.{number}"
        several = len(results) > 1
        writes = []
        for place, result in enumerate(results):
            own = f"%{name}:{place}" if several else f"%{name}"
            self.names[id(result)] = own
            self._alive.append(result)
            writes.append(tensor_of(own, result))
        attributes = {**products_of(primitive, params), "event": primitive.name}
        if self.programs:
            attributes["programs"] = list(self.programs)
        else:
            attributes["view"] = 1
        current = internals.current_source()
        if current is not None and (place_text := line_of(current.traceback, self.file)):
            attributes["source"] = place_text
        moves = primitive.name in _MOVES
        scope = str(current.name_stack) if current is not None else ""
        ran = Ran(name, primitive.name, reads, writes, moves, attributes, scope)
        self.followed.ran(ran, [array_of(result) for result in results])


@contextmanager
def _watched(watch: _Watch) -> Iterator[None]:
    """Operators that run in here are noted, those inside another one as part of that."""
    trace_of, dispatch = internals.eager_trace(), internals.dispatching()
    process, callable_of = trace_of.process_primitive, dispatch.xla_primitive_callable

    def processing(trace: Any, primitive: Any, args: Any, params: Any, /) -> Any:
        if watch.inside:
            return process(trace, primitive, args, params)
        watch.inside, watch.programs = True, []
        given = list(args)
        try:
            made = process(trace, primitive, given, params)
        finally:
            watch.inside = False
        watch.note(primitive, given, params, made)
        return made

    def starting(primitive: Any, **params: Any) -> Any:
        program = callable_of(primitive, **params)

        def started(*args: Any) -> Any:
            watch.start(primitive, program, args)
            return program(*args)

        return started

    trace_of.process_primitive = processing
    dispatch.xla_primitive_callable = starting
    try:
        yield
    finally:
        trace_of.process_primitive = process
        dispatch.xla_primitive_callable = callable_of
