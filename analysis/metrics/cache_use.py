"""What a cache would have to move: a model on tensors, since no counter tells it on a CPU.

Never mix these figures with a profiler's cache counters: they are a different quantity.
"""

from __future__ import annotations

from collections import OrderedDict

import msgspec

from fusescope.analysis.graph import COMPILED_DOMAIN, Graph
from fusescope.analysis.quantity import ratio

DEFAULT_CACHE_BYTES = 32 * 1024 * 1024
_WITH_BODY = {"If", "Loop", "Scan", "SequenceMap"}


class CacheUse(msgspec.Struct, frozen=True):
    """Modelled, per run. Sizes in bytes, ratios as fractions.

    `touched_bytes`: inputs, parameters and outputs of every operator, once per operator;
    `missed_bytes`: those that miss the cache; `utilisation` = bytes that must move once (weights,
    model inputs and outputs) / missed_bytes, 100 % when every byte enters once (more when some
    stay from the run before); `hit_ratio` = bytes that hit / bytes touched, which has no better
    or worse; `intermediate_bytes`: bytes of tensors between operators, written once and read
    once per consumer. Tensors of unknown size and bodies of Loop, If, Scan are left out.
    """

    cache_bytes: int
    touched_bytes: int
    missed_bytes: int
    compulsory_bytes: int
    utilisation: float | None
    hit_ratio: float | None
    intermediate_bytes: int


def cache_use(graph: Graph, cache_bytes: int = DEFAULT_CACHE_BYTES) -> CacheUse:
    """Tensor-granular LRU over the graph in its order, figures of the second pass.

    Each operator reads its inputs, then writes its outputs; a write allocates, so it misses like
    a read. A tensor larger than the cache never hits, and on its way through pushes out all
    others. docs/cache-model.md holds the model against a simulated cache.
    """
    sizes = {tensor.name: tensor.bytes for tensor in graph.tensors}
    cache: OrderedDict[str, int] = OrderedDict()
    held = touched = missed = 0
    for second in (False, True):
        for node in graph.nodes:
            for name in (*dict.fromkeys(node.inputs), *node.outputs):
                size = sizes.get(name) if name else None
                if not size:
                    continue
                hit = name in cache
                if hit:
                    cache.move_to_end(name)
                elif size > cache_bytes:
                    cache.clear()
                    held = 0
                else:
                    cache[name] = size
                    held += size
                    while held > cache_bytes:
                        held -= cache.popitem(last=False)[1]
                if second:
                    touched += size
                    missed += 0 if hit else size
    compulsory = _compulsory_bytes(graph, sizes)
    return CacheUse(
        cache_bytes=cache_bytes,
        touched_bytes=touched,
        missed_bytes=missed,
        compulsory_bytes=compulsory,
        utilisation=ratio(compulsory, missed),
        hit_ratio=ratio(touched - missed, touched),
        intermediate_bytes=_intermediate_bytes(graph, sizes),
    )


def unsized_tensors(graph: Graph) -> int:
    """Tensors that nodes touch and whose size is not known: the model leaves them out."""
    names = {name for node in graph.nodes for name in (*node.inputs, *node.outputs) if name}
    return sum(graph.bytes_of(name) is None for name in names)


def subgraph_nodes(graph: Graph) -> int:
    """Nodes with a body of their own, which the model leaves out."""
    return sum(node.op_type in _WITH_BODY for node in graph.nodes)


def compiled_nodes(graph: Graph) -> int:
    """Nodes that a provider compiled as a whole: what moves inside them is not known."""
    return sum(node.domain == COMPILED_DOMAIN for node in graph.nodes)


def _compulsory_bytes(graph: Graph, sizes: dict[str, int | None]) -> int:
    """Weights that are read, model inputs that are read, model outputs."""
    names = {
        name
        for node in graph.nodes
        for name in node.inputs
        if name in graph.inputs or (name in graph.tensor and graph.tensor[name].constant)
    }
    return sum(sizes.get(name) or 0 for name in names | set(graph.outputs))


def _intermediate_bytes(graph: Graph, sizes: dict[str, int | None]) -> int:
    """Bytes written and read again between operators: written once, read once per consumer."""
    total = 0
    for name in graph.producer:
        size = sizes.get(name) or 0
        readers = len(graph.consumers.get(name, []))
        written = 0 if name in graph.returned else 1
        total += size * (written + readers)
    return total
