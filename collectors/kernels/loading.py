"""The groups of a graph that a kernel can run, by the module that knows its kind."""

from __future__ import annotations

import importlib
from typing import Any

from fusescope.analysis.graph import Graph
from fusescope.collectors.kernels import Kernel
from fusescope.collectors.kernels.group import Group


def groups_of(graph: Graph, kernel: Kernel) -> list[Group]:
    """In graph order; no node is in two of them."""
    module: Any = importlib.import_module(kernel.module)
    found: list[Group] = module.groups(graph, kernel)
    return found
