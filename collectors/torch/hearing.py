"""What inductor says while it schedules a graph: which pairs it refuses to fuse, and which of its
operations each kernel holds."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fusescope.collectors.torch import internals
from fusescope.collectors.torch.reasons import Operation, Refusal, Told

_NOTE = "set_kernel_post_grad_provenance_tracing"


@contextlib.contextmanager
def hearing(graph: Callable[[], int], told: dict[int, Told]) -> Iterator[None]:
    """Fills `told` by the number of the graph that is being compiled, which `graph` answers. Where
    code comes from a cache nothing is scheduled, and another release may say it elsewhere: then
    nothing is told."""
    if not internals.has("said"):
        yield
        return
    scheduler, debug = (internals.found(f"torch._inductor.{one}") for one in ("scheduler", "debug"))
    generators = [internals.found(f"torch._inductor.codegen.{one}") for one in ("cpp", "triton")]
    noted = [module for module in (debug, *generators) if hasattr(module, _NOTE)]
    refuse, note = scheduler.WhyNoFuse.__call__, getattr(debug, _NOTE)

    def refusing(self: Any, reason: str, *args: Any) -> None:
        refuse(self, reason, *args)
        names = frozenset(self.name1.split("_")), frozenset(self.name2.split("_"))
        said = reason % args if args else reason
        told.setdefault(graph(), Told()).refusals.append(Refusal(*names, said))

    def noting(held: Any, kernel: str, is_extern: bool = False, **more: Any) -> Any:
        number = note(held, kernel, is_extern, **more)
        operations = [_library(held)] if is_extern else _generated(held)
        told.setdefault(graph(), Told()).kernels[f"{kernel}:{number}"] = operations
        return number

    scheduler.WhyNoFuse.__call__ = refusing
    for module in noted:
        setattr(module, _NOTE, noting)
    try:
        yield
    finally:
        scheduler.WhyNoFuse.__call__ = refuse
        for module in noted:
            setattr(module, _NOTE, note)


def _library(kernel: Any) -> Operation:
    """Its reads as the scheduler sees them name only what it writes, so its operands are asked."""
    writes = {kernel.get_name(), *(output.get_name() for output in kernel.get_outputs())}
    reads = {one.get_name() for one in _flat(kernel.inputs) if hasattr(one, "get_name")}
    return Operation(
        name=kernel.get_operation_name(),
        reads=frozenset(reads - writes),
        writes=frozenset(writes),
        is_library=True,
    )


def _flat(operands: Sequence[Any]) -> Iterator[Any]:
    for one in operands:
        if isinstance(one, list | tuple):
            yield from _flat(one)
        else:
            yield one


def _generated(nodes: Sequence[Any]) -> list[Operation]:
    return [_operation(node) for node in nodes if hasattr(node, "read_writes")]


def _operation(node: Any) -> Operation:
    loops, reduced = node.group[1] if node.group else ((), ())
    return Operation(
        name=node.get_name(),
        reads=frozenset(dep.name for dep in node.read_writes.reads),
        writes=frozenset(node.get_buffer_names()),
        loops=_extents(loops),
        reduced=_extents(reduced),
    )


def _extents(told: Any) -> tuple[str, ...]:
    """Of each loop for C++; for Triton one number of all, which is 1 where there is no loop."""
    if isinstance(told, list | tuple):
        return tuple(map(str, told))
    return () if told == 1 else (str(told),)
