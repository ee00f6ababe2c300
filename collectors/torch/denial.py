"""One fused kernel whose operators run as in `unfused`, while every other kernel stays as it is.

Values that the compiler would inline are stored, no two operators of the kernel are fused, nor one
of them with any other, and each gets a function of its own. Whether nothing else changed is seen
on the compiler's own map of kernels (kernel_map.py).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from fusescope.collectors.torch import internals
from fusescope.collectors.workers.jobs import Denied


class Denial(internals.InductorChoices):  # type: ignore[misc]
    """Denies the fusions of one kernel. `compiled` is the list of modules that this compilation has
    made so far: names of nodes are those of one graph."""

    def __init__(self, denied: Denied, compiled: Sequence[Any]) -> None:
        super().__init__()
        self._nodes = frozenset(denied.nodes)
        self._graph = denied.graph
        self._compiled = compiled

    def uuid(self) -> str:
        """What cached code depends on."""
        if not self._is_here():
            return "fusescope: nothing denied"
        return f"fusescope: denied {','.join(sorted(self._nodes))}"

    def stores(self, node: torch.fx.Node) -> bool:
        """Whether the value of this node is to be stored."""
        return self._is_here() and node.name in self._nodes

    def can_fuse(self, scheduler: Any, node1: Any, node2: Any, shared_data_score: int) -> bool:
        """As inductor would, except for operators of the kernel."""
        if self.holds(node1) or self.holds(node2):
            return False
        return bool(internals.InductorChoices.can_fuse(scheduler, node1, node2, shared_data_score))

    def holds(self, node: Any) -> bool:
        """Whether something of the kernel is in that node of the scheduler."""
        return self._is_here() and any(
            origin.name in self._nodes
            for part in node.get_nodes()
            if part.node is not None
            for origin in part.node.get_origins()
        )

    @contextlib.contextmanager
    def denying(self) -> Iterator[None]:
        """What is compiled in here is compiled so; settings have to name this object too, since
        they are what cached code is found by."""
        cpp = internals.found("torch._inductor.codegen.cpp:CppScheduling")
        handlers = internals.found("torch._inductor.virtualized:V")
        generate = cpp.codegen_node

        def alone(scheduling: Any, node: Any) -> None:
            is_alone = self.holds(node)
            if is_alone:
                scheduling.flush()
            generate(scheduling, node)
            if is_alone:
                scheduling.flush()

        cpp.codegen_node = alone
        try:
            with handlers.set_choices_handler(self):
                yield
        finally:
            cpp.codegen_node = generate

    def _is_here(self) -> bool:
        return len(self._compiled) == self._graph
