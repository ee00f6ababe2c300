"""Kernels that only one side runs, as sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusescope.analysis.compare.explanation.explanation import Change, KernelTime, UnitTimes
from fusescope.analysis.messages import Message, Shown, listed
from fusescope.analysis.operators.classes import LABELS
from fusescope.analysis.wording.explanation.kernels import kernel_text, kinds_of, names_text

_FEW = 2  # kernels that are told by name
_LEAST = 0.03  # of their time, below which a class is not told
_CLASS = Message("{op_class} {ns:duration}")
_KINDS = Message("{n:count} kinds: {kernels}")


def added(change: Change, unit: UnitTimes) -> tuple[Message, Mapping[str, Shown]]:
    """Return the sentence on kernels that only the candidate runs, with its values."""
    return _alone(change, change.after, unit, (_ADDED_HEAD, _ADDED_SIZE, _ADDED, _ADDED_BEFORE))


def removed(change: Change, unit: UnitTimes) -> tuple[Message, Mapping[str, Shown]]:
    """Return the sentence on kernels that only the baseline runs, with its values."""
    return _alone(
        change, change.before, unit, (_REMOVED_HEAD, _REMOVED_SIZE, _REMOVED, _REMOVED_BEFORE)
    )


def _alone(
    change: Change,
    kernels: Sequence[KernelTime],
    unit: UnitTimes,
    messages: Sequence[Mapping[bool, Message]],
) -> tuple[Message, Mapping[str, Shown]]:
    """Return the one of four messages that says most of where the kernels stand: over tensors as
    large as the vocabulary, or of one size, nothing, or before what they prepare."""
    if "by_class" in change.values and change.values["op_class"] != "unknown":
        op_class = LABELS[str(change.values["op_class"])]
        message = _CLASS_ONLY[messages[0] is _ADDED_HEAD]
        return message, {"operator": op_class, "kernels": names_text(kernels)}
    of_head, of_size, anywhere, before_each = (message[unit.on_device] for message in messages)
    count, each = _counts(change, kernels)
    count = int(change.values.get("executions", count))  # in a unit that runs them
    values: dict[str, Shown] = {"kernels": _of_kinds(kernels, each or count), "n": count}
    if "size" in change.values:
        message = of_head if "head" in change.values else of_size
        return message, {**values, "kernels": _by_class(kernels), "size": change.values["size"]}
    copies = sum(kernel.is_copy for kernel in kernels)
    if copies and unit.on_device:  # the figures count them apart from kernels
        beside = _WITH_COPIES[messages[0] is _ADDED_HEAD, copies == len(kernels)]
        anywhere, before_each = beside
    if each is None or change.where[-1] in {kernel.name for kernel in kernels}:
        return anywhere, values  # what they stand before is one of them
    place: dict[str, Shown] = {"places": change.repeats, "next": _next(change), "n": each}
    return before_each, {**values, **place}


def _of_kinds(kernels: Sequence[KernelTime], count: int) -> Shown:
    """Return so many kernels by name; where they are of fewer names, of more than two, with how
    many these are, so that nobody adds up the two that are named and the others."""
    kinds = kinds_of(kernels)
    text = kernel_text(kernels)
    return _KINDS.of(n=kinds, kernels=text) if _FEW < kinds < count else text


def _by_class(kernels: Sequence[KernelTime]) -> Shown:
    """Return kernels of several classes by class with the time of each, of more than two names;
    else by name."""
    times: dict[str, int] = {}
    for each in kernels:
        times[each.op_class] = times.get(each.op_class, 0) + each.ns
    if len(kernels) <= _FEW or len(times) < 2 or "unknown" in times:
        return kernel_text(kernels)
    least_ns = _LEAST * sum(times.values())
    ranked = sorted(times.items(), key=lambda item: -item[1])
    return listed(
        [str(_CLASS.of(op_class=LABELS[name], ns=ns)) for name, ns in ranked if ns >= least_ns]
    )


def _counts(change: Change, kernels: Sequence[KernelTime]) -> tuple[int, int | None]:
    """Return how many kernels came or went in a unit, and how many in each of several equal
    places; None where the places are not equal, or nothing is known to follow them."""
    each = change.values.get("kernels")
    is_each = change.repeats > 1 and bool(change.where) and each is not None
    is_each = is_each and float(each or 0) == int(each or 0)
    return round(sum(kernel.count for kernel in kernels)), int(each or 0) if is_each else None


def _next(change: Change) -> Shown:
    """Return what the kernels stand before, its class in front where that says more."""
    op_class = str(change.values.get("next_class", "unknown"))
    return kernel_text([KernelTime(change.where[-1], 1, 0, op_class)])


# Of one model whose operators have other names on each side; True of the candidate.
_CLASS_ONLY = {
    True: Message(
        "Operators of the class {operator} ({kernels}) run only in the candidate: "
        "**{ns:signed_duration}** {per}."
    ),
    False: Message(
        "Operators of the class {operator} ({kernels}) run only in the baseline: "
        "**{ns:signed_duration}** {per}."
    ),
}
# Of kernels of a device (True), and of operators of the host (False).
_ADDED_BEFORE = {
    True: Message(
        "{n:count} new kernel runs before each of {places:count} executions of {next}: "
        "**{ns:signed_duration}** {per} ({kernels}).",
        "{n:count} new kernels run before each of {places:count} executions of {next}: "
        "**{ns:signed_duration}** {per} ({kernels}).",
    ),
    False: Message(
        "{n:count} new operator runs before each of {places:count} executions of {next}: "
        "**{ns:signed_duration}** {per} ({kernels}).",
        "{n:count} new operators run before each of {places:count} executions of {next}: "
        "**{ns:signed_duration}** {per} ({kernels}).",
    ),
}
_ADDED = {
    True: Message(
        "{n:count} kernel runs only in the candidate: **{ns:signed_duration}** {per} ({kernels}).",
        "{n:count} kernels run only in the candidate: **{ns:signed_duration}** {per} ({kernels}).",
    ),
    False: Message(
        "{n:count} operator runs only in the candidate: **{ns:signed_duration}** {per} "
        "({kernels}).",
        "{n:count} operators run only in the candidate: **{ns:signed_duration}** {per} "
        "({kernels}).",
    ),
}
_ADDED_SIZE = {
    True: Message(
        "{n:count} kernel over tensors with a dimension of {size:count} runs only in the "
        "candidate: **{ns:signed_duration}** {per} ({kernels}).",
        "{n:count} kernels over tensors with a dimension of {size:count} run only in the "
        "candidate: **{ns:signed_duration}** {per} ({kernels}).",
    ),
    False: Message(
        "{n:count} operator over tensors with a dimension of {size:count} runs only in the "
        "candidate: **{ns:signed_duration}** {per} ({kernels}).",
        "{n:count} operators over tensors with a dimension of {size:count} run only in the "
        "candidate: **{ns:signed_duration}** {per} ({kernels}).",
    ),
}
_REMOVED_BEFORE = {
    True: Message(
        "{n:count} kernel before each of {places:count} executions of {next} is gone: "
        "**{ns:signed_duration}** {per} ({kernels}).",
        "{n:count} kernels before each of {places:count} executions of {next} are gone: "
        "**{ns:signed_duration}** {per} ({kernels}).",
    ),
    False: Message(
        "{n:count} operator before each of {places:count} executions of {next} is gone: "
        "**{ns:signed_duration}** {per} ({kernels}).",
        "{n:count} operators before each of {places:count} executions of {next} are gone: "
        "**{ns:signed_duration}** {per} ({kernels}).",
    ),
}
_REMOVED = {
    True: Message(
        "{n:count} kernel runs only in the baseline: **{ns:signed_duration}** {per} ({kernels}).",
        "{n:count} kernels run only in the baseline: **{ns:signed_duration}** {per} ({kernels}).",
    ),
    False: Message(
        "{n:count} operator runs only in the baseline: **{ns:signed_duration}** {per} ({kernels}).",
        "{n:count} operators run only in the baseline: **{ns:signed_duration}** {per} ({kernels}).",
    ),
}
_REMOVED_SIZE = {
    True: Message(
        "{n:count} kernel over tensors with a dimension of {size:count} runs only in the "
        "baseline: **{ns:signed_duration}** {per} ({kernels}).",
        "{n:count} kernels over tensors with a dimension of {size:count} run only in the "
        "baseline: **{ns:signed_duration}** {per} ({kernels}).",
    ),
    False: Message(
        "{n:count} operator over tensors with a dimension of {size:count} runs only in the "
        "baseline: **{ns:signed_duration}** {per} ({kernels}).",
        "{n:count} operators over tensors with a dimension of {size:count} run only in the "
        "baseline: **{ns:signed_duration}** {per} ({kernels}).",
    ),
}
# The same of kernels with copies and fills of memory among them, or of these alone: by whether the
# candidate runs them, and whether they are alone; anywhere, and before each of several places.
_WITH_COPIES: Mapping[tuple[bool, bool], tuple[Message, Message]] = {
    (True, False): (
        Message(
            "{n:count} kernels, copies and fills run only in the candidate: "
            "**{ns:signed_duration}** {per} ({kernels})."
        ),
        Message(
            "{n:count} new kernels, copies and fills run before each of {places:count} executions "
            "of {next}: **{ns:signed_duration}** {per} ({kernels})."
        ),
    ),
    (True, True): (
        Message(
            "{n:count} copy or fill runs only in the candidate: **{ns:signed_duration}** {per} "
            "({kernels}).",
            "{n:count} copies or fills run only in the candidate: **{ns:signed_duration}** {per} "
            "({kernels}).",
        ),
        Message(
            "{n:count} new copy or fill runs before each of {places:count} executions of {next}: "
            "**{ns:signed_duration}** {per} ({kernels}).",
            "{n:count} new copies or fills run before each of {places:count} executions of "
            "{next}: **{ns:signed_duration}** {per} ({kernels}).",
        ),
    ),
    (False, False): (
        Message(
            "{n:count} kernels, copies and fills run only in the baseline: "
            "**{ns:signed_duration}** {per} ({kernels})."
        ),
        Message(
            "{n:count} kernels, copies and fills before each of {places:count} executions of "
            "{next} are gone: **{ns:signed_duration}** {per} ({kernels})."
        ),
    ),
    (False, True): (
        Message(
            "{n:count} copy or fill runs only in the baseline: **{ns:signed_duration}** {per} "
            "({kernels}).",
            "{n:count} copies or fills run only in the baseline: **{ns:signed_duration}** {per} "
            "({kernels}).",
        ),
        Message(
            "{n:count} copy or fill before each of {places:count} executions of {next} is gone: "
            "**{ns:signed_duration}** {per} ({kernels}).",
            "{n:count} copies or fills before each of {places:count} executions of {next} are "
            "gone: **{ns:signed_duration}** {per} ({kernels}).",
        ),
    ),
}
_ADDED_HEAD = {
    True: Message(
        "{n:count} kernel over tensors with a dimension of {size:count}, as of a vocabulary, "
        "runs only in the candidate, so probably the LM head: "
        "**{ns:signed_duration}** {per} ({kernels}).",
        "{n:count} kernels over tensors with a dimension of {size:count}, as of a vocabulary, "
        "run only in the candidate, so probably the LM head and the loss: "
        "**{ns:signed_duration}** {per} ({kernels}).",
    ),
    False: Message(
        "{n:count} operator over tensors with a dimension of {size:count}, as of a vocabulary, "
        "runs only in the candidate, so probably the LM head: "
        "**{ns:signed_duration}** {per} ({kernels}).",
        "{n:count} operators over tensors with a dimension of {size:count}, as of a vocabulary, "
        "run only in the candidate, so probably the LM head and the loss: "
        "**{ns:signed_duration}** {per} ({kernels}).",
    ),
}
_REMOVED_HEAD = {
    True: Message(
        "{n:count} kernel over tensors with a dimension of {size:count}, as of a vocabulary, "
        "runs only in the baseline, so probably the LM head: "
        "**{ns:signed_duration}** {per} ({kernels}).",
        "{n:count} kernels over tensors with a dimension of {size:count}, as of a vocabulary, "
        "run only in the baseline, so probably the LM head and the loss: "
        "**{ns:signed_duration}** {per} ({kernels}).",
    ),
    False: Message(
        "{n:count} operator over tensors with a dimension of {size:count}, as of a vocabulary, "
        "runs only in the baseline, so probably the LM head: "
        "**{ns:signed_duration}** {per} ({kernels}).",
        "{n:count} operators over tensors with a dimension of {size:count}, as of a vocabulary, "
        "run only in the baseline, so probably the LM head and the loss: "
        "**{ns:signed_duration}** {per} ({kernels}).",
    ),
}
