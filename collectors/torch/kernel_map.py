"""The compiler's own map, read: which kernel computes which nodes of a graph. Needs no torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.workers.jobs import Denied, Fusion

Held = Mapping[str, Iterable[str]]  # handle of a kernel -> nodes of the graph that it computes


def fusions(graph: int, held: Held, computed: Mapping[str, int]) -> list[Fusion]:
    """Kernels of that graph that compute several nodes which no other kernel computes too, in
    order. `computed` are its nodes that are not views, with their bytes."""
    sets = {handle: set(nodes).intersection(computed) for handle, nodes in held.items()}
    counts = Counter(node for nodes in sets.values() for node in nodes)
    found = []
    for handle, nodes in sets.items():
        own = sorted(node for node in nodes if counts[node] == 1)
        if len(own) < 2:
            continue
        others = tuple(
            tuple(sorted(other)) for name, other in sets.items() if name != handle and other
        )
        shared = tuple(sorted(nodes.difference(own)))
        written = sum(computed[node] for node in own)
        found.append(Fusion(handle, Denied(graph, tuple(own), shared, others), written))
    return found


def several(held: Held, computed: Iterable[str]) -> Iterator[tuple[str, set[str]]]:
    """Kernels that compute more than one node, with those."""
    for handle, nodes in held.items():
        together = set(nodes).intersection(computed)
        if len(together) > 1:
            yield handle, together


def check(denied: Denied, held: Held, computed: Iterable[str], variant: str) -> None:
    """Raises FuseScopeError where the kernel was not taken apart, or another one changed."""
    own, shared = set(denied.nodes), set(denied.shared)
    sets = [set(computed).intersection(nodes) for nodes in held.values()]
    whole = next((nodes for _, nodes in several(held, own)), None)
    if whole is not None:
        together = ", ".join(sorted(whole))
        raise FuseScopeError("torch_fusion_stays", variant=variant, operators=together[:200])
    before = Counter(denied.others)
    after = Counter(tuple(sorted(nodes)) for nodes in sets if nodes and not nodes & own)
    changed = {node for nodes in before - after for node in nodes}
    changed |= {node for nodes in after - before for node in nodes} - shared
    changed |= {node for nodes in sets if nodes & own for node in nodes} - own - shared
    if changed:
        raise FuseScopeError(
            "torch_fusion_not_alone", variant=variant, operators=", ".join(sorted(changed))[:200]
        )
