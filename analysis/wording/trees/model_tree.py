"""The words of the model tree: its title, what its times are, and the names of its parts."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.compare.explanation.explanation import OtherKernels
from fusescope.analysis.compare.model_tree import Levels, ModelTree, Node
from fusescope.analysis.compare.model_tree.costliest import Costliest
from fusescope.analysis.compare.model_tree.paths import NUMBERED, Source
from fusescope.analysis.compare.model_tree.repeat_name import RepeatName, repeat_name
from fusescope.analysis.messages import Message, Said, Shown, paragraph
from fusescope.analysis.operators.short_names import library_kernel
from fusescope.analysis.wording.explanation.blocks import are_layers, classes_text
from fusescope.analysis.wording.explanation.units import is_run, kernels_of_copies_said, per
from fusescope.analysis.work_units.units import UnitKind

TITLES: Mapping[Source | None, Message] = {
    "repeat": Message("What repeats, operators and shapes"),
    None: Message("Operators and shapes"),
}
_TITLE = Message("Modules, operators and shapes")
TREE_HELP = Message(
    "The time of all kernels or operators by module of the model, operator of the framework, and "
    "the shapes of its inputs. Modules of one type in one place count together. Where a module or "
    "operator has one part alone, both are in one row. What a row holds adds up to it."
)
KEYS_HELP = Message("Arrow keys go from row to row, open and close them.")
BASIS: Mapping[UnitKind, Message] = {
    "step": Message("Time per step, as profiled; {order}."),
    "annotation": Message("Time per step, as profiled; {order}."),
    "repeat": Message("Time per repetition, as profiled; {order}."),
    "file": Message("Time in the file, as profiled; {order}."),
}
_OF_RUN = Message("Time per run, as profiled; {order}.")
_CHANGES = Message("largest change first")
_TIMES = Message("no change is shown, because the two sides do different work; longest time first")
_TIMES_OF_ONE = Message("longest time first")
_MODULE = Message(
    "Of all modules {module:name} takes most, without modules inside it: **{ns:duration}** {per}, "
    "{share:percent} of the time of all operators."
)
_MODULES = Message(
    "Of all modules {module:name} takes most, without modules inside it: **{ns:duration}** {per} "
    "in {n:count} of them, on average {each:duration} each, {share:percent} of the time of all "
    "operators."
)
_LONGEST = Message(
    "The longest of them, {module:name}, takes {longest:duration}, the others {others:duration} "
    "(median)."
)
_BACKWARD_OF_IT = Message("Of this {ns:duration} is its backward pass.")
_CLASSES_OF_IT = Message("By class: {classes}.")
_RANGE = Message(
    "Of all ranges that the program marks {module:name} takes most, without ranges inside it: "
    "**{ns:duration}** {per}, {share:percent} of the time of all operators."
)
_RANGES = Message(
    "Of all ranges that the program marks {module:name} takes most, without ranges inside it: "
    "**{ns:duration}** {per} in {n:count} of them, on average {each:duration} each, "
    "{share:percent} of the time of all operators."
)
# By whether places are ranges, and whether communication is in none of them.
_OUTSIDE: Mapping[tuple[bool, bool], Message] = {
    (False, False): Message(
        "{share:percent} of the time of all operators is in no module that the file names."
    ),
    (False, True): Message(
        "{share:percent} of the time of all operators is in no module that the file names, "
        "{talking:percent} of it communication."
    ),
    (True, False): Message("{share:percent} of the time of all operators is in no range."),
    (True, True): Message(
        "{share:percent} of the time of all operators is in no range, {talking:percent} of it "
        "communication."
    ),
}
_OPERATOR = Message(
    "Of all operators {name:name} takes most: **{ns:duration}** {per}, {share:percent} of their "
    "time."
)
_LAYERS = Message(
    "The {n:count} layers of {kernels} take most of what repeats: **{ns:duration}** {per}, on "
    "average {each:duration} each, {share:percent} of the time of all operators."
)
_REPETITIONS = Message(
    "The {n:count} repetitions of {kernels} take most of what repeats: **{ns:duration}** {per}, on "
    "average {each:duration} each, {share:percent} of the time of all operators."
)
_LONGEST_LAYER = Message(
    "The longest of them, number {number:count}, takes {longest:duration}, the others "
    "{others:duration} (median)."
)
_ONE_CLASS = 0.9  # of a module's own time, from which on it is all of one class
_SHOWN = 2  # modules of a path that are told, the innermost ones
_MUCH = 0.1  # of the time, from which it is told that it runs in no module
# By whether communication is among the operators.
SHARES: Mapping[bool, Message] = {
    False: Message("Shares are of the change of all operators together, {ns:signed_duration}."),
    True: Message(
        "Shares are of the change of all operators together, communication included, "
        "{ns:signed_duration}."
    ),
}
_SHARES_OF_ONE: Mapping[bool, Message] = {
    False: Message(
        "Shares are of the time of all operators together, {ns:duration}, in which those that run "
        "at the same time count in full."
    ),
    True: Message(
        "Shares are of the time of all operators together, communication included, {ns:duration}, "
        "in which those that run at the same time count in full."
    ),
}
_BY_ORDER = (
    Message(
        "Of {n:count} kernel of the baseline, in a replayed graph, operator and module are known "
        "by its order.",
        "Of {n:count} kernels of the baseline, in replayed graphs, operators and modules are known "
        "by their order.",
    ),
    Message(
        "Of {n:count} kernel of the candidate, in a replayed graph, operator and module are known "
        "by its order.",
        "Of {n:count} kernels of the candidate, in replayed graphs, operators and modules are "
        "known by their order.",
    ),
)
_BY_ORDER_OF_ONE = Message(
    "Of {n:count} kernel, in a replayed graph, operator and module are known by its order.",
    "Of {n:count} kernels, in replayed graphs, operators and modules are known by their order.",
)
OUTSIDE = Message("outside all modules")
# By what a copy of it has; the file names no modules.
LAYER = Message("layer of {kernels}")
REPETITION = Message("repetition of {kernels}")
# Several of as many kernels, in the order in which they run.
_NUMBERED = Message("{kernels} (group {number:count})")
OUTSIDE_LAYERS = Message("in nothing that repeats")
BACKWARD = Message("backward pass")
UNPLACED = Message("place in the model not in the file")
NO_SHAPES = Message("shapes not in the file")
MORE = Message("{n:count} part with a smaller change", "{n:count} parts with smaller changes")
INSTANCES = Message("×{n:count}")
INSTANCES_DIFFER = Message("×{before:count} → ×{after:count}")


def basis(tree: ModelTree) -> str:
    """Return what the times of a tree are, and in which order its parts stand."""
    order = _CHANGES if tree.has_changes else _TIMES
    return _basis(tree).text(order=order.text())


def _basis(tree: ModelTree) -> Message:
    return _OF_RUN if is_run(tree.unit_kind, tree.unit_name) else BASIS[tree.unit_kind]


def basis_with_shares(tree: ModelTree) -> str:
    """Return the same, and what shares are of where the tree has them."""
    shares = SHARES[tree.communicates].text(ns=tree.whole_change_ns) if tree.has_shares else ""
    by_order = [
        message.text(n=count)
        for message, count in zip(_BY_ORDER, tree.by_order, strict=True)
        if count
    ]
    return paragraph(basis(tree), shares, *by_order)


def basis_of_one(tree: ModelTree) -> str:
    """Return what the times of the tree of one trace are, and in which order its parts stand."""
    count = tree.by_order[0]
    return paragraph(
        _basis(tree).text(order=_TIMES_OF_ONE.text()),
        _SHARES_OF_ONE[tree.communicates].text(ns=tree.total_ns[0] / max(1, tree.unit_counts[0])),
        _BY_ORDER_OF_ONE.text(n=count) if count else "",
    )


def costliest_said(found: Costliest, kind: UnitKind, unit_name: str) -> list[Said]:
    """Return which part of the model takes most of units of this kind and name, the longest of its
    instances, and how much runs in no module."""
    if found.is_repeat:
        return _layers_said(found, kind, per(kind, unit_name))
    named = [library_kernel(name) or name for name in found.names if name != NUMBERED]
    shown = " › ".join(named[-_SHOWN:])
    values: dict[str, Shown] = {"ns": found.ns, "per": per(kind, unit_name), "share": found.share}
    if not found.is_module:
        return [_OPERATOR.of(name=shown, **values)]
    n = found.instances
    messages = (_RANGE, _RANGES) if found.is_range else (_MODULE, _MODULES)
    message = messages[n > 1]
    said = [message.of(module=shown, n=n, each=found.ns / n, **values)]
    if found.backward_ns:
        said.append(_BACKWARD_OF_IT.of(ns=found.backward_ns))
    if found.classes and found.classes[0][1] < _ONE_CLASS * found.ns:
        classes = classes_text(found.classes)
        said.append(_CLASSES_OF_IT.of(classes=classes))
    if found.longest:
        numbers = found.names[-_SHOWN:].count(NUMBERED)
        longest = " › ".join(found.longest[-_SHOWN - numbers :])
        times = {"longest": found.longest_ns, "others": found.others_ns}
        said.append(_LONGEST.of(module=longest, **times))
    if found.outside >= _MUCH:
        talking = found.outside_talking / found.outside
        said.append(_OUTSIDE[found.is_range, talking > 0].of(share=found.outside, talking=talking))
    return said


def _layers_said(found: Costliest, kind: UnitKind, each_unit: Message) -> list[Said]:
    n, name = found.instances, repeat_name(found.names[-1])
    values: dict[str, Shown] = {"ns": found.ns, "per": each_unit, "share": found.share}
    message = _LAYERS if are_layers(n, name.copies, kind == "file") else _REPETITIONS
    said = [message.of(n=n, kernels=_kernels_said(name), each=found.ns / n, **values)]
    if found.longest:
        number = int(found.longest[-1].rpartition(NUMBERED)[2])
        times = {"longest": found.longest_ns, "others": found.others_ns}
        said.append(_LONGEST_LAYER.of(number=number, **times))
    return said


def title(levels: Levels) -> str:
    """Return what the tree of these levels is called."""
    return TITLES.get(levels.modules, _TITLE).text()


def step_texts(tree: ModelTree, node: Node) -> tuple[str, ...]:
    """Return the name of each step of a node; of those from a file as it has them, but for kernels
    of libraries whose names are codes."""
    short = tree.kernel_types
    return tuple(
        short.get(name, name) if kind == "op_type" else _step_text(tree, kind, name, node)
        for kind, name in node.steps
    )


def _step_text(tree: ModelTree, kind: str, name: str, node: Node) -> str:
    if kind == "repeat":
        return _repeat_text(tree, name, node.instances[0]) if name else OUTSIDE_LAYERS.text()
    return name or _unnamed(kind, node)


def _repeat_text(tree: ModelTree, text: str, copies: int) -> str:
    name = repeat_name(text)
    is_layer = are_layers(copies, name.copies, tree.unit_kind == "file")
    return (LAYER if is_layer else REPETITION).text(kernels=_kernels_said(name))


def _kernels_said(name: RepeatName) -> Said:
    """Return how many kernels what repeats has, and which of several such it is."""
    others: frozenset[OtherKernels] = frozenset(("copies",)) if name.copies else frozenset()
    kernels = kernels_of_copies_said((name.fewest, name.most), others)
    return _NUMBERED.of(kernels=kernels, number=name.number) if name.number else kernels


def _unnamed(kind: str, node: Node) -> str:
    if kind == "more":
        return MORE.text(n=node.instances[0])
    names = {"shapes": NO_SHAPES, "unplaced": UNPLACED, "backward": BACKWARD}
    return names.get(kind, OUTSIDE).text()


def instances_text(node: Node) -> str:
    """Return how many modules of its type a node stands for on each side, '' for one."""
    if node.kind == "more" or max(node.instances) < 2:
        return ""
    before, after = node.instances
    if before == after or not before or not after:
        return INSTANCES.text(n=max(node.instances))
    return INSTANCES_DIFFER.text(before=before, after=after)
