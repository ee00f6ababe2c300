"""Kinds of groups, how they are known, and how much of the model they cover."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import Fusion, Kind, KnownBy
from fusescope.analysis.messages import Message, listed, paragraph, say
from fusescope.analysis.text import clean_text

KINDS: Mapping[Kind, Message] = {
    "kept": Message("kept"),
    "fused": Message("fused"),
    "replaced": Message("replaced"),
    "split": Message("split"),
    "folded": Message("folded into weights"),
    "removed": Message("removed"),
    "loaded": Message("loaded as a weight"),
}
KNOWN_BY: Mapping[KnownBy, Message] = {
    "name": Message("tensor names"),
    "value": Message("tensor values"),
    "structure": Message("graph structure"),
    "merged": Message("merged neighbours"),
    "members": Message("names in the trace"),
    "compiler": Message("the compiler's map"),
    "inferred": Message("inferred"),
    "launched_by": Message("launched by"),
    "listed": Message("names of kernels"),
    "op_class": Message("operator class"),
}
KNOWN_BY_HELP = Message(
    "How it is known that these operators became those. Tensor names: both graphs carry "
    "the boundary by name. Tensor values: on the same input a tensor of both graphs held "
    "the same values, and no other came near. Graph structure: the engine's node names "
    "and the shape of the graphs. Merged neighbours: a boundary could not be proven, so "
    "groups were joined. Names in the trace: the profiler lists the original operators. "
    "The compiler's map: torch.compile wrote down which operators are in which call of a kernel. "
    "Inferred: same type, shapes and order in two traces without graphs, which nothing "
    "proves. Launched by: the kernels have other names on either side, and the same "
    "operator of the framework launched them. Names of kernels: a generated kernel stands with "
    "what launched the op types that its name lists, which is a claim and proves nothing. "
    "Operator class: kernels of one class that "
    "nothing else ties together."
)
MODULES_HELP = Message(
    "Fusion groups by the module of the model that their operators belong to, from its graph, "
    "whatever an engine calls its operators. A group of several modules stands with the one that "
    "holds all of them. Operators in no group, idle time and profiler bias are in no module."
)
NO_MODULE = Message("no module in common")
LEDGER_HELP = Message(
    "A fusion group is the smallest set of operators with the same boundary tensors on "
    "both sides. Before and after are profiled times, {mean}, which add, without what "
    "slow executions took beyond their medians: single ones of more than three times the "
    "operator's median, which are a line of their own. Change is after - before, negative "
    "when the candidate takes less. Share is the change / that of the run which the verdict "
    "compares. "
    "Hurts: the 95 % interval of the change, corrected for the number of groups, lies above "
    "zero."
)
_INFERRED = Message(
    "{n:count} group, inferred from the order of operators in two traces without graphs and what "
    "both say of them. No graph confirms it.",
    "{n:count} groups, inferred from the order of operators in two traces without graphs and what "
    "both say of them. No graph confirms them.",
)
_PARTLY_INFERRED = Message(
    "{n:count} group in two traces without graphs. No graph confirms it.",
    "{n:count} groups in two traces without graphs. No graph confirms them.",
)
_ALL_COVERED = Message(
    "All original operators are accounted for: {mapped:count} of {original:count}."
)
_COVERED = Message(
    "{mapped:count} of {original:count} original operators are accounted for, {n:count} is in no "
    "group.",
    "{mapped:count} of {original:count} original operators are accounted for, {n:count} are in no "
    "group.",
)
_ALL_NAMED_COVERED = Message(
    "All original operators that the trace names are accounted for: {mapped:count} of "
    "{original:count}."
)
_OUTSIDE = Message(
    "{n:count} operator that ran is in no group.", "{n:count} operators that ran are in no group."
)
_AS_NAMED = Message("Groups are as the trace names them.")
_AS_MAPPED = Message("Groups are as the compiler's map has them.")
_MISMATCHES = Message("{n:count} boundary mismatch.", "{n:count} boundary mismatches.")
_LARGEST = Message("The largest group has {operators:operators}.")
_JOINED = Message(
    "{n:count} group joins several of either side, as the two divide the model at different "
    "places.",
    "{n:count} groups join several of either side, as the two divide the model at different "
    "places.",
)
_INSERTED = Message(
    "{n:count} operator was inserted between groups.",
    "{n:count} operators were inserted between groups.",
)

_COMPILED = Message(
    "{side:name} is {n:count} compiled graph.",
    "{side:name} is {n:count} compiled graphs.",
)
_BETWEEN = Message(
    "{n:count} operator runs outside, as in eager mode.",
    "{n:count} operators run outside, as in eager mode.",
)
_GRADIENTS = Message(
    "{n:count} of them computes gradients. The compiler writes no map of it: what it computes "
    "twice is not counted, none of its fusions can be left out, and it is not checked that "
    "unfused runs each of its operators alone.",
    "{n:count} of them compute gradients. The compiler writes no map of them: what they compute "
    "twice is not counted, none of their fusions can be left out, and it is not checked that "
    "unfused runs each of their operators alone.",
)
_GRAPHS, _BACKWARD = "graphs", "backward_graphs"  # settings of a variant that was compiled


def coverage_sentence(comparison: Comparison) -> str:
    """How many original operators are accounted for, and how the groups are known; without groups
    why, and what to do."""
    fusion = comparison.fusion
    if comparison.verdict.reason == "different_phases":
        return say("Compare two recordings of one phase to see what fusion bought.")
    if comparison.verdict.reason == "capture_and_replay":
        return say("Compare two files that run the graph to see what fusion bought.")
    if comparison.verdict.reason == "different_ranks":
        return say("Compare two recordings of one rank to see what fusion bought.")
    if comparison.is_of_other_work:
        return say("Compare two recordings of one model to see what fusion bought.")
    if not fusion.groups:
        return _no_groups(comparison)
    groups = len(fusion.groups)
    if fusion.source == "inferred":
        if any(group.known_by != "inferred" for group in fusion.groups):
            return paragraph(_PARTLY_INFERRED.text(n=groups), known_by_sentence(fusion))
        return _INFERRED.text(n=groups)
    counts = {"mapped": fusion.mapped_nodes, "original": fusion.original_nodes}
    lost, inserted = fusion.original_nodes - fusion.mapped_nodes, len(fusion.inserted[1])
    reasons = comparison.ledger.ungrouped["reason"]
    outside = int((~reasons.isin(["inserted", "communication"])).sum())
    all_covered = _ALL_NAMED_COVERED if fusion.source == "members" else _ALL_COVERED
    return paragraph(
        _COVERED.text(n=lost, **counts) if lost else all_covered.text(**counts),
        _OUTSIDE.text(n=outside) if outside and outside != lost else "",
        _as_known(fusion),
        _LARGEST.text(operators=fusion.largest),
        _JOINED.text(n=len(fusion.joined)) if fusion.joined else "",
        _INSERTED.text(n=inserted) if inserted else "",
        _graphs_sentence(comparison),
        known_by_sentence(fusion),
    )


def _graphs_sentence(comparison: Comparison) -> str:
    """Of how many graphs the candidate was compiled, else the baseline; '' where neither was."""
    for side in (comparison.candidate, comparison.baseline):
        graphs = side.variant.settings.get(_GRAPHS) if side.variant is not None else None
        if not isinstance(graphs, int) or graphs < 1:
            continue
        nodes = side.graph.nodes if side.graph is not None else ()
        between = sum("between" in node.attributes for node in nodes)
        name = clean_text(side.label)
        made = _COMPILED.text(side=name, n=graphs)
        backward = side.variant.settings.get(_BACKWARD) if side.variant is not None else None
        is_told = isinstance(backward, int) and backward > 0
        return paragraph(
            made,
            _GRADIENTS.text(n=backward) if is_told else "",
            _BETWEEN.text(n=between) if between else "",
        )
    return ""


_WITHOUT_GRAPHS = Message("No groups are known: the files have no graphs of the model.")
_NOT_SHOWN = Message("No groups are known, as the engine did not show its graph: {reason:name}.")
_ONE_GRAPH = Message("No groups are known: one side has no graph.")
_ODD_GRAPHS = Message("No groups are known: the graphs cannot be compared with each other.")
_DISAGREE = Message("No operators of the two sides agree in type, shapes and count.")
_DISAGREE_BARE = Message("No operators of the two sides agree in type and count.")
_COLLECT = Message(
    "To see what became of them, record both variants with fusescope collect MODEL, which keeps "
    "the graphs."
)
_OWN_PROGRAMS = Message(
    "Each operator of JAX's eager run is a program of its own, with a name of its own. For groups, "
    "compare unfused with fused."
)
# By the sides that have no shapes.
_OR_SHAPES: Mapping[tuple[bool, bool], Message] = {
    (True, True): Message(
        "To see what became of them, record both sides with shapes of tensors, or record both "
        "variants with fusescope collect MODEL, which keeps the graphs."
    ),
    (True, False): Message(
        "To see what became of them, record the baseline with shapes of tensors, or record both "
        "variants with fusescope collect MODEL, which keeps the graphs."
    ),
    (False, True): Message(
        "To see what became of them, record the candidate with shapes of tensors, or record both "
        "variants with fusescope collect MODEL, which keeps the graphs."
    ),
    (False, False): _COLLECT,
}


def _no_groups(comparison: Comparison) -> str:
    """Why no operator is known to have become another, and the next step."""
    sides = (comparison.baseline, comparison.candidate)
    graphs = sum(side.graph is not None for side in sides)
    if all(side.engine is not None and side.engine.name == "jax" for side in sides):
        return _OWN_PROGRAMS.text()
    before, after = (bool(s.trace.operators["inputs"].isna().all()) for s in sides)
    shown = (side.variant.why_no_graph for side in sides if side.variant is not None)
    if why := next(filter(None, shown), ""):  # recording it again would give the same
        return paragraph(
            _NOT_SHOWN.text(reason=clean_text(why)),
            (_DISAGREE_BARE if before or after else _DISAGREE).text(),
        )
    return paragraph(
        (_WITHOUT_GRAPHS, _ONE_GRAPH, _ODD_GRAPHS)[graphs].text(),
        (_DISAGREE_BARE if before or after else _DISAGREE).text(),
        _OR_SHAPES[before, after].text(),
    )


def _as_known(fusion: Fusion) -> str:
    if fusion.source != "members":
        return _MISMATCHES.text(n=fusion.boundary_mismatches)
    is_mapped = any(group.known_by == "compiler" for group in fusion.groups)
    return (_AS_MAPPED if is_mapped else _AS_NAMED).text()


def known_by_sentence(fusion: Fusion) -> str:
    """'How groups are known: tensor names (50) and tensor values (6).'; '' without groups."""
    counts = Counter(group.known_by for group in fusion.groups)
    if not counts:
        return ""
    ways = [
        say("{known_by} ({n:count})", known_by=KNOWN_BY[code], n=count)
        for code, count in counts.most_common()
    ]
    return say("How groups are known: {ways}.", ways=listed(ways))
