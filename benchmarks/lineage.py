"""Time to explain what fusion did to a graph of 2,000 nodes."""

from __future__ import annotations

import statistics
import time

from benchmarks.row import Row
from fusescope.analysis.compare.groups.lineage import lineage
from fusescope.analysis.graph import Graph, Node, Tensor, graph_json, parse_graph

BLOCKS = 250  # of 8 nodes: two convolutions, normalised, one residual sum
_ROUNDS = 9


def measure() -> list[Row]:
    """One row: lineage with all names kept, against reading both graphs from JSON."""
    model, fused = _residual_network(BLOCKS)
    files = [graph_json(graph) for graph in (model, fused)]
    times: dict[str, list[float]] = {"lineage": [], "read": []}
    for _ in range(_ROUNDS):  # read anew: a graph keeps the indices that lineage asks for
        started = time.perf_counter()
        graphs = [parse_graph(file, "") for file in files]
        times["read"].append(time.perf_counter() - started)
        started = time.perf_counter()
        lineage(*graphs)
        times["lineage"].append(time.perf_counter() - started)
    took, read = (statistics.median(times[name]) for name in ("lineage", "read"))
    found = lineage(model, fused)
    return [
        Row(
            f"lineage of {found.original_nodes:,} nodes, {len(found.groups)} groups",
            f"{took * 1e3:.0f} ms",
            "< 1 s",
            f"{took / read:.1f}x reading both graphs",
        )
    ]


def _residual_network(blocks: int) -> tuple[Graph, Graph]:
    """A chain of residual blocks, and the same with every convolution fused."""
    old: list[Node] = []
    new: list[Node] = []
    names = ["x0"]
    for b in range(blocks):
        x, y = f"x{b}", f"x{b + 1}"
        c, n, r, d, m, a = (f"{kind}{b}" for kind in "cnrdma")
        old += [
            Node(c, "Conv", (x, f"w{b}"), (c,)),
            Node(n, "BatchNormalization", (c, f"s{b}", f"o{b}"), (n,)),
            Node(r, "Relu", (n,), (r,)),
            Node(d, "Conv", (r, f"v{b}"), (d,)),
            Node(m, "BatchNormalization", (d, f"s{b}", f"o{b}"), (m,)),
            Node(f"i{b}", "Identity", (x,), (f"i{b}",)),
            Node(a, "Add", (m, f"i{b}"), (a,)),
            Node(f"y{b}", "Relu", (a,), (y,)),
        ]
        new += [
            Node(c, "FusedConv", (x, f"w{b}"), (r,)),
            Node(d, "FusedConv", (r, f"v{b}", "", x), (y,)),
        ]
        names += [c, n, r, d, m, f"i{b}", a, y]
    weights = [f"{kind}{b}" for b in range(blocks) for kind in "wsov"]
    shape = (1, 8, 8, 8)
    tensors = (
        *(Tensor(name, "float32", shape) for name in names),
        *(Tensor(name, "float32", (8,), constant=True) for name in weights),
    )
    outputs = (f"x{blocks}",)
    return Graph(tuple(old), tensors, ("x0",), outputs), Graph(
        tuple(new), tensors, ("x0",), outputs
    )
