"""The graph of one variant: its kernels by handle, with tensors named as in the model's graph."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import NotFused
from fusescope.collectors.torch import internals, models
from fusescope.collectors.torch.between import has_breaks, watching_between
from fusescope.collectors.torch.calls import BETWEEN, Call, Watch, handles, watching
from fusescope.collectors.torch.compiling import Compiled
from fusescope.collectors.torch.eager import watch_eager
from fusescope.collectors.torch.kernel_map import check, several
from fusescope.collectors.torch.names import CUDA_GRAPH
from fusescope.collectors.torch.naming import Named, model_graph, named, node_name
from fusescope.collectors.torch.reasons import not_fused
from fusescope.collectors.torch.session import TorchSession
from fusescope.collectors.workers.jobs import Denied, SessionSettings

_IS_VIEW = re.compile(
    r"(?:view|reshape|permute|transpose|t|expand|slice|select|split|unbind|(?:un)?squeeze"
    r"|as_strided|alias|detach|getitem|(?:arg|primals)\d*)(?:_(?:copy|default|int|tensor))*(?:_\d+)*"
).fullmatch
FUSED = ("fused", "freezing")  # variants of which it is asked why they did not fuse more


@dataclass(frozen=True)
class VariantGraph:
    """`settings` are what else is told of it in the experiment file. `not_fused` are pairs of its
    operators with why the compiler left them apart, None where it was not asked, or its code came
    from a cache."""

    named: Named
    settings: dict[str, int]
    not_fused: tuple[NotFused, ...] | None = None


def graph_of(settings: SessionSettings, variant: str, folder: Path) -> VariantGraph:
    """Runs the model eagerly and as the variant, and names the tensors of the one after those of
    the other. Raises RuntimeError where this release does not show what it generates, and
    FuseScopeError where `unfused` still has a kernel of several operators, or a variant without one
    kernel is something else than that."""
    if variant == CUDA_GRAPH:
        raise ValueError("its kernels are launched by a CUDA graph, which the host does not see")
    loaded = models.of(settings)
    loaded.vary_weights()
    model = Watch(loaded.named_tensors())
    watch_eager(model, loaded, folder)
    original = model.run
    if loaded.network is not None:
        original = loaded.network.run()
        if variant == "eager":
            names = [node_name(call.name) for call in model.run.calls]
            return VariantGraph(named(model.run, original, names), {})
    if variant == "eager":
        return VariantGraph(Named(model_graph(model.run), ()), {})
    if problem := internals.why_no_code():
        raise RuntimeError(problem)
    session = TorchSession(settings, variant, profiled=True, vary_weights=True)
    made = session.compiled
    assert made is not None
    session.restore()
    watch = Watch(session.loaded.named_tensors())
    with contextlib.ExitStack() as stack:
        stack.enter_context(watching(made.modules, made.sources, watch))
        if has_breaks(session.graphs):
            file = session.loaded.file
            stack.enter_context(watching_between(watch, made.modules, file, folder))
        session.run()
    watch.returns(session.result())
    if session.device.rounds_to_tf32(call.name for call in model.run.calls):
        watch.run.rounded.add("tf32")
    names = _handles(watch.run.calls, made.sources)
    if variant == "unfused":
        _check_unfused(made)
    if variant in settings.denied:
        _check_denied(made, settings.denied[variant], variant)
    told = {} if variant == "unfused" else _told(made)
    graph = named(watch.run, original, names)
    return VariantGraph(graph, told, _not_fused(made) if variant in FUSED else None)


def _not_fused(made: Compiled) -> tuple[NotFused, ...] | None:
    """Of every graph, with the names that the variant's graph has for kernels; None where one was
    not scheduled here."""
    if any(graph not in made.told for graph in range(len(made.modules))):
        return None
    found: list[NotFused] = []
    for graph, source in enumerate(made.sources):
        place = f"{graph}:" if len(made.sources) > 1 else ""
        names = {
            f"{name}:{number}": f"{place}{_short(name)}:{number}"
            for name, number in handles(source)
        }
        found += not_fused(made.told[graph], names)
    return tuple(found)


def _handles(calls: Sequence[Call], sources: Sequence[str]) -> list[str]:
    """The compiler's own handle of each call ('cpp_fused_gelu_1:3'); of several graphs with the
    number of the graph in front. Calls without one, such as copies, keep their name; those between
    compiled parts are counted through: 'cumsum@1'."""
    waiting = [handles(source) for source in sources]
    names: list[str] = []
    between = 0
    for call in calls:
        if call.graph == BETWEEN:
            between += 1
            names.append(f"{_short(call.name.rpartition('::')[2])}@{between}")
            continue
        known = waiting[call.graph]
        place = f"{call.graph}:" if len(sources) > 1 else ""
        if known and _is_same(known[0][0], call.name):
            name, number = known.pop(0)
            names.append(f"{place}{_short(name)}:{number}")
        else:
            names.append(f"{place}{_short(call.name)}")
    return names


def _is_same(handle: str, call: str) -> bool:
    return handle == call or handle.split(".")[-2:] == call.split(".")[-2:]


def _short(name: str) -> str:
    """Library calls without where they are found: 'addmm', 'convolution'."""
    for before in ("extern_kernels.", "torch.ops.aten.", "aten."):
        name = name.removeprefix(before)
    return name.removesuffix(".default")


def _check_unfused(made: Compiled) -> None:
    """Every handle must stand for one node of the graph, or for views."""
    for graph, held in made.provenance.items():
        for handle, nodes in several(held, made.computed.get(graph, ())):
            raise FuseScopeError(
                "torch_still_fused",
                kernel=handle[:80],
                n=len(nodes),
                operators=", ".join(sorted(nodes))[:200],
            )


def _check_denied(made: Compiled, denied: Denied, variant: str) -> None:
    """The kernel is taken apart, and the others, of every graph, are as they were."""
    if denied.graph not in made.provenance or denied.graph not in made.computed:
        raise FuseScopeError("torch_no_map", variant=variant)
    held, computed = made.provenance[denied.graph], made.computed[denied.graph]
    check(denied, held, computed, variant)


def _told(made: Compiled) -> dict[str, int]:
    """Nodes that several kernels compute, each for itself; views are computed by none."""
    recomputed = 0
    for held in made.provenance.values():
        counts = Counter(node for nodes in held.values() for node in set(nodes))
        recomputed += sum(n > 1 and not _IS_VIEW(node) for node, n in counts.items())
    return {"recomputed_operators": recomputed} if recomputed else {}
