"""What need not be in one trace, as sentences: idle time, communication, work done twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fusescope.analysis.advice.explanation.explanation import Saving, SavingCode, TracedUnit
from fusescope.analysis.compare.explanation.explanation import KernelTime
from fusescope.analysis.host_activity import is_python
from fusescope.analysis.messages import Message, Said, Shown
from fusescope.analysis.units import duration
from fusescope.analysis.wording.explanation.blocks import is_whole
from fusescope.analysis.wording.explanation.kernels import kernel_text
from fusescope.analysis.wording.explanation.products import NAMES
from fusescope.analysis.wording.explanation.some_units import with_longest_gap, with_some_units
from fusescope.analysis.wording.explanation.uncached import UNCACHED, uncached_values
from fusescope.analysis.wording.explanation.units import per, word

Sentence = tuple[Message, Mapping[str, Shown]]


def saving_said(saving: Saving, unit: TracedUnit) -> Said:
    """Return what need not be as a sentence, with its time in each unit and as a part of it."""
    message, values = _SENTENCES[saving.code](saving, unit)
    share = saving.ns / unit.wall_ns
    said = message.of(ns=saving.ns, per=per(unit.kind, unit.name), share=share, **values)
    which = word(unit.kind, unit.name)
    return with_longest_gap(with_some_units(said, saving.values, which), saving.values, unit)


def _idle(saving: Saving, unit: TracedUnit) -> Sentence:
    values = saving.values
    kind = values.get("kind")
    if kind is None:
        return _IDLE[unit.on_device], {}
    cause = {"cause": values.get("cause"), "part": values.get("cause_ns"), "n": values.get("calls")}
    uncached = uncached_values(values, word(unit.kind, unit.name))
    if uncached:
        return UNCACHED, {**cause, **uncached}
    calls = _IDLE_CALLS.get(str(kind))
    if calls is not None and values.get("calls") and not values.get("some_units"):
        return calls, cause
    if kind == "python" and not is_python(str(values.get("cause"))):
        kind = "code"  # of a program in another language, or a range that it marked
    whole, part = _IDLE_ALL.get(str(kind)), values.get("cause_ns")
    if whole is not None and isinstance(part, int) and part >= _ALL * saving.ns:
        return whole, cause
    return _IDLE_BY[str(kind)], {**cause, "n": saving.repeats}


_ALL = 0.995  # of the idle time of one kind, which one cause has
_IDLE = {
    True: Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time; the file "
        "does not show what the host did then."
    ),
    False: Message("No operator runs for **{ns:duration}** {per}, {share:percent} of the time."),
}
_IDLE_CALLS = {
    "allocation": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host allocates or frees memory: {part:duration} of it in {n:count} call of {cause:name}.",
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host allocates or frees memory: {part:duration} of it in {n:count} calls of {cause:name}.",
    ),
    "synchronisation": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host is in a call that waits for it: {part:duration} of it in {n:count} call of "
        "{cause:name}.",
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host is in a call that waits for it: {part:duration} of it in {n:count} calls of "
        "{cause:name}.",
    ),
    "copy_waits": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host waits for copies: {part:duration} of it in {n:count} call of {cause:name}.",
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host waits for copies: {part:duration} of it in {n:count} calls of {cause:name}.",
    ),
}
_IDLE_ALL = {
    "data_loading": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host loads data, in {cause:name}."
    ),
    "synchronisation": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host is in a call that waits for it, in {cause:name}."
    ),
    "allocation": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host allocates or frees memory, in {cause:name}."
    ),
    "copy_waits": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host waits for copies, in {cause:name}."
    ),
    "compilation": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host compiles, in {cause:name}."
    ),
    "garbage_collection": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host collects garbage, in {cause:name}."
    ),
    "python": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host runs Python, in {cause:name}."
    ),
    "code": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host runs code that launches nothing, in {cause:name}."
    ),
}
_IDLE_BY = {
    "data_loading": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host loads data: {part:duration} of it in {cause:name}."
    ),
    "synchronisation": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host is in a call that waits for it: {part:duration} of it in {cause:name}."
    ),
    "allocation": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host allocates or frees memory: {part:duration} of it in {cause:name}."
    ),
    "copy_waits": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host waits for copies: {part:duration} of it in {cause:name}."
    ),
    "compilation": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host compiles: {part:duration} of it in {cause:name}."
    ),
    "garbage_collection": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host collects garbage: {part:duration} of it in {cause:name}."
    ),
    "python": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host runs Python: {part:duration} of it in {cause:name}."
    ),
    "code": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, while the "
        "host runs code that launches nothing: {part:duration} of it in {cause:name}."
    ),
    "launching": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, in one gap "
        "in which the host launches the next kernel.",
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, in "
        "{n:count} gaps in which the host launches the next kernel.",
    ),
    "queued": Message(
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, in one gap "
        "before a kernel that is launched already.",
        "The device is idle for **{ns:duration}** {per}, {share:percent} of the time, in "
        "{n:count} gaps before kernels that are launched already.",
    ),
}


def _communication(saving: Saving, unit: TracedUnit) -> Sentence:
    values = saving.values
    waits = WAITS.get(values.get("wait_basis"))
    collectives: dict[str, Shown] = {}
    if saving.before:
        largest = saving.before[0]
        collectives = {"name": largest.name, "all": sum(each.ns for each in saving.before)}
        collectives["many"] = _many(largest, values)
    is_all = _is_all(saving)
    if waits is None:
        return (_COMMUNICATION_ALONE if is_all else _COMMUNICATION), collectives
    message = _COMMUNICATION_ALONE_PARTED if is_all else _COMMUNICATION_PARTED
    return message, {**collectives, "waits": waits.of(**values)}


def _many(collective: KernelTime, values: Mapping[str, Shown]) -> Said:
    """Return how often a collective runs in a unit and what each execution takes, on average where
    they differ."""
    n, each_ns = collective.count, round(collective.ns / collective.count)
    if not is_whole(n):
        return _PART_OF.of(n=n, each=each_ns)
    if round(n) > 1 and "longest_ns" in values:
        return _MANY_UNLIKE.of(n=round(n), each=each_ns, longest=values["longest_ns"])
    return (_MANY_MEAN if collective.is_uneven else _MANY).of(n=round(n), each=each_ns)


_MANY = Message("{n:count} × {each:duration}")
_MANY_MEAN = Message("{n:count} × {each:duration} on average")
_PART_OF = Message("{n:number} × {each:duration}")
_MANY_UNLIKE = Message("{n:count} of {each:duration} on average, the longest {longest:duration}")


def _is_all(saving: Saving) -> bool:
    """Return whether nothing hides any of it, so that one time says both."""
    return duration(saving.ns) == duration(sum(each.ns for each in saving.before))


# How much of the collectives of a unit is no transfer, by what says it.
WAITS: Mapping[str | int | float | None, Message] = {
    "counter": Message(
        "Of the {wait_of_ns:duration} that collectives take no data moved for "
        "{wait_ns:duration}, as while waiting for other ranks."
    ),
    "modelled": Message(
        "Of the {wait_of_ns:duration} that collectives take at least {wait_ns:duration} are the "
        "wait for other ranks, modelled: the shortest execution bounds what a transfer takes."
    ),
}
_COMMUNICATION_PARTED = Message(
    "Communication that nothing hides takes **{ns:duration}** {per}, {share:percent} of the time, "
    "of {all:duration} of communication, the largest part of it in {name:name} ({many}). "
    "{waits}"
)
_COMMUNICATION = Message(
    "Communication that nothing hides takes **{ns:duration}** {per}, {share:percent} of the time, "
    "of {all:duration} of communication, the largest part of it in {name:name} ({many})."
)
_COMMUNICATION_ALONE_PARTED = Message(
    "Communication takes **{ns:duration}** {per}, {share:percent} of the time, and nothing hides "
    "it, the largest part of it in {name:name} ({many}). {waits}"
)
_COMMUNICATION_ALONE = Message(
    "Communication takes **{ns:duration}** {per}, {share:percent} of the time, and nothing hides "
    "it, the largest part of it in {name:name} ({many})."
)


def _copies(saving: Saving, unit: TracedUnit) -> Sentence:
    all_ns = sum(each.ns for each in saving.before)
    message = _COPIES_ALONE if _is_all(saving) else _COPIES
    return message, {"kernel": saving.before[0].name, "all": all_ns}


_COPIES = Message(
    "Copies and fills of memory that nothing hides take **{ns:duration}** {per}, {share:percent} "
    "of the time, of {all:duration} of copies and fills; the largest of them is {kernel:name}."
)
_COPIES_ALONE = Message(
    "Copies and fills of memory take **{ns:duration}** {per}, {share:percent} of the time, and "
    "nothing hides them; the largest of them is {kernel:name}."
)


def _recomputed(saving: Saving, unit: TracedUnit) -> Sentence:
    values = saving.values
    if "operator" not in values:
        return _RECOMPUTED, {"n": saving.repeats}
    return _RECOMPUTED_OF, {
        "kernels": saving.repeats,
        "operator": values["operator"],
        "runs": values["executions"],
        "n": values["repeated"],
    }


_RECOMPUTED = Message(
    "One kernel of the forward pass runs again for the backward pass: **{ns:duration}** {per}, "
    "{share:percent} of the time.",
    "{n:count} kernels of the forward pass run again for the backward pass: **{ns:duration}** "
    "{per}, {share:percent} of the time.",
)
_RECOMPUTED_OF = Message(
    "The forward pass is done twice, since its results are not kept for the backward pass "
    "(checkpointing): {kernels:count} kernels run again, **{ns:duration}** {per}, {share:percent} "
    "of the time. Of {runs:executions} of {operator:name} in the file {n:count} repeats another.",
    "The forward pass is done twice, since its results are not kept for the backward pass "
    "(checkpointing): {kernels:count} kernels run again, **{ns:duration}** {per}, {share:percent} "
    "of the time. Of {runs:executions} of {operator:name} in the file {n:count} repeat another.",
)


def _layout(saving: Saving, unit: TracedUnit) -> Sentence:
    largest = saving.before[0]
    values: dict[str, Shown] = {
        "n": saving.repeats,
        "kernel": largest.name,
        "largest": largest.ns,
    }
    if "again_ns" not in saving.values:
        return _LAYOUT[unit.on_device], values
    return _LAYOUT_AGAIN, {**values, "again": saving.values["again_ns"]}


_LAYOUT_AGAIN = Message(
    "One kernel only changes the layout of a tensor: **{ns:duration}** {per} ({kernel:name}). It "
    "is one of the kernels that run again, and counts there as well.",
    "{n:count} kernels only change the layout of tensors: **{ns:duration}** {per}, the largest "
    "part of it, {largest:duration}, in {kernel:name}. Of this {again:duration} is in kernels that "
    "run again, and counts there as well.",
)


_LAYOUT = {
    True: Message(
        "One kernel only changes the layout of a tensor: **{ns:duration}** {per} ({kernel:name}).",
        "{n:count} kernels only change the layout of tensors: **{ns:duration}** {per}, the largest "
        "part of it, {largest:duration}, in {kernel:name}.",
    ),
    False: Message(
        "One operator only changes the layout of a tensor: **{ns:duration}** {per} "
        "({kernel:name}).",
        "{n:count} operators only change the layout of tensors: **{ns:duration}** {per}, the "
        "largest part of it, {largest:duration}, in {kernel:name}.",
    ),
}


def _product(saving: Saving, unit: TracedUnit) -> Sentence:
    values = saving.values
    name = next((name for of, name in NAMES.items() if of == values.get("projection")), None)
    return _PRODUCT if name is None else _PROJECTION, {
        "n": saving.repeats,
        "name": name,
        "inputs": saving.where[0] if saving.where else saving.before[0].name,
        "rate": values["rate"],
        "others": values["others"],
    }


_PROJECTION = Message(
    "{name:name} runs at {rate:flop_rate}, the other matrix products at {others:flop_rate}: "
    "**{ns:duration}** {per} could be saved ({n:executions} over {inputs:name}).",
)
_PRODUCT = Message(
    "The matrix product over {inputs:name} runs at {rate:flop_rate}, the others at "
    "{others:flop_rate}: **{ns:duration}** {per} could be saved.",
    "{n:count} matrix products over {inputs:name} run at {rate:flop_rate}, the others at "
    "{others:flop_rate}: **{ns:duration}** {per} could be saved.",
)


def _layer(saving: Saving, unit: TracedUnit) -> Sentence:
    values = saving.values
    return _LAYER, {
        "layer": values["layer"],
        "layers": values["layers"],
        "takes": values["takes_ns"],
        "usual": values["usual_ns"],
        "kernel": kernel_text(saving.before),
    }


_LAYER = Message(
    "Layer {layer:count} of {layers:count} takes {takes:duration}, the others {usual:duration} "
    "(median): **{ns:duration}** {per} more, in {kernel}."
)


def _outlier(saving: Saving, unit: TracedUnit) -> Sentence:
    values = saving.values
    return _OUTLIER, {
        "of": values["of"],
        "kernel": kernel_text(saving.before),
        "longest": values["longest_ns"],
        "usual": values["usual_ns"],
    }


_OUTLIER = Message(
    "One of {of:executions} of {kernel} takes {longest:duration}, others at its place "
    "{usual:duration}: **{ns:duration}** {per}."
)

_SENTENCES: Mapping[SavingCode, Callable[[Saving, TracedUnit], Sentence]] = {
    "idle": _idle,
    "communication": _communication,
    "copies": _copies,
    "recomputed": _recomputed,
    "layout": _layout,
    "product": _product,
    "layer": _layer,
    "outlier": _outlier,
}
