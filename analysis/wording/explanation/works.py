"""Units that do different work, or run on different devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from fusescope.analysis.compare.explanation.explanation import ClassTime, Explanation, ShapedTime
from fusescope.analysis.compare.explanation.other_inputs import FLOAT32
from fusescope.analysis.compare.explanation.products import faster
from fusescope.analysis.messages import Message, Said, listed
from fusescope.analysis.operators.classes import LABELS, is_heavy, is_light
from fusescope.analysis.wording.explanation.kernels import kernel_text
from fusescope.analysis.wording.explanation.products import (
    NAMES,
    faster_said,
    shares_said,
    weights_said,
)
from fusescope.analysis.wording.explanation.units import per_unit, word
from fusescope.analysis.work_units.work import Phase, Work

_PHASES: Mapping[Phase, Message] = {
    "prefill": Message("a prefill of {tokens:count} tokens"),
    "decode": Message("a decoding step of {batch:count} sequences"),
    "mixed": Message("a mixed step of {batch:count} sequences"),
}
_TWO_PHASES = Message(
    "The two files show two phases of serving, which do different work: the baseline {before} "
    "(**{took:duration}** of device time), the candidate {after} "
    "(**{takes:duration}** of device time)."
)
_SIZES = Message(
    "The two files process different amounts at once: the baseline is {before}, the candidate "
    "{after}."
)
_TWO_PHASES_OF_LAYERS = Message(
    "The two files show two phases of serving, which do different work in {n:count} layers each: "
    "the baseline {before} (**{took:duration}** of device time), the candidate {after} "
    "(**{takes:duration}** of device time)."
)
_GRAPH = (
    Message("The baseline launches {n:count} kernels as one graph ({call:name})."),
    Message("The candidate launches {n:count} kernels as one graph ({call:name})."),
)
# Longer than its own step takes, the host cannot wait for the kernels of that step.
_WAITS = (
    Message(
        "The baseline's host waits {ns:duration} for the device in {call:name}, longer than the "
        "step takes, so it waits for earlier work."
    ),
    Message(
        "The candidate's host waits {ns:duration} for the device in {call:name}, longer than the "
        "step takes, so it waits for earlier work."
    ),
)
_RECORDED = Message(
    "The baseline's file has the same kernels of {n:count} device, the candidate's of "
    "{after:count}; one device of each is compared.",
    "The baseline's file has the same kernels of {n:count} devices, the candidate's of "
    "{after:count}; one device of each is compared.",
)
_WORTH = 0.02  # of the device's time, from which it is told what a product could win
_HEAVIEST = Message(
    "The largest part of the baseline's time is in {before} ({before_n:executions}, "
    "{took:duration}), that of the candidate's in {after} ({after_n:executions}, {takes:duration})."
)
# By whether nearly all other operators are of classes that memory limits, and whether collectives,
# whose time is that of the other devices too, are left out.
_TWO_DEVICES = {  # with communication, whose time is told apart
    False: Message(
        "The two sides run different kernels, which take {after:duration} instead of "
        "{before:duration} {per} (**{change:signed_duration}**): {parts}."
    ),
    True: Message(
        "The two sides run different kernels, which without communication take {after:duration} "
        "instead of {before:duration} {per} (**{change:signed_duration}**): {parts}."
    ),
}
_TWO_HOSTS = Message(
    "The two sides run different operators, which take {after:duration} instead of "
    "{before:duration} {per} (**{change:signed_duration}**): {parts}."
)
_PART = Message(
    "{name} {after:duration} instead of {before:duration} (**{change:signed_duration}**)"
)
_BRIEF_PART = Message("{name} **{change:signed_duration}**")
_NEXT_PART = Message("{start}, {next}")
_HEAVY_NAMES = {
    "convolution": Message("convolutions"),
    "matrix_product": Message("matrix products"),
    "grouped_product": Message("grouped products"),
    "attention": Message("attention"),
    "recurrent": Message("recurrent layers"),
}
_ALL = Message("all of them")
_ALL_OTHERS = Message("all others")
_ALL_OTHERS_BY_MEMORY = Message("all others (limited by memory)")
_LASTING_NS = 8_000  # of an execution on average, below which memory is not what limits it
_BY_MEMORY = 0.95  # of the time of all others, which is of classes that memory limits
_RATES = Message(
    "The matrix product over {inputs:name} runs at {after:flop_rate} instead of "
    "{before:flop_rate}.",
    "The {n:count} matrix products over {inputs:name} run at {after:flop_rate} instead of "
    "{before:flop_rate}.",
)
_SAME_RATE = 0.05  # by which rates differ that are not said

_AFTER = {
    "step": Message(
        "Of both together, {after:duration} is after the step ends ({before:duration} in the "
        "baseline)."
    ),
    "run": Message(
        "Of both together, {after:duration} is after the run ends ({before:duration} in the "
        "baseline)."
    ),
}
_LEAST = 0.005  # of a unit, below which kernels that run after its end are not told


def phases_sentences(explanation: Explanation) -> Sequence[Said]:
    """Return the sentences of `phases_paragraphs`, one after the other."""
    return [said for paragraph in phases_paragraphs(explanation) for said in paragraph]


def phases_paragraphs(explanation: Explanation) -> list[list[Said]]:
    """Return which phases the two sides are, how many layers they have, what matrix products take
    of them, and which of these could gain most; then of each side where its weights are from and
    what its host does."""
    unit = explanation.unit
    copies = [max((each.copies for each in side), default=0) for side in explanation.layers]
    has_layers = copies[0] == copies[1] > 0
    said = [
        (_TWO_PHASES_OF_LAYERS if has_layers else _TWO_PHASES).of(
            before=work_said(unit.works[0]),
            after=work_said(unit.works[1]),
            took=unit.busy_ns[0],
            takes=unit.busy_ns[1],
            n=copies[0],
        )
    ]
    if not any(explanation.products) and all(explanation.kernels):
        said.append(_heaviest(explanation))
    said += shares_said(explanation.products, unit.busy_ns)
    for side, products in enumerate(explanation.products):
        could = faster(products)
        if could is not None and could.ns >= _WORTH * unit.busy_ns[side]:
            said.append(faster_said(could, side))
    return [said, *filter(None, (_of_side(explanation, side) for side in (0, 1)))]


def _of_side(explanation: Explanation, side: int) -> list[Said]:
    """Return where the weights of one side are from, and what its host launches and waits for."""
    said = weights_said(explanation.products[side], side)
    of = explanation.sides[side] if explanation.sides else None
    if of is not None and of.graph_call and round(of.graph_launches) == 1:
        said.append(_GRAPH[side].of(n=round(of.graph_kernels), call=of.graph_call))
    is_one = explanation.unit.counts[side] == 1  # waits are of the file, which may have more units
    waits = of.host_waits[:1] if of is not None and is_one else ()
    unit_ns = (explanation.unit.before_ns, explanation.unit.after_ns)[side]
    return said + [
        _WAITS[side].of(ns=each.ns, call=each.name) for each in waits if each.ns >= unit_ns
    ]


def _heaviest(explanation: Explanation) -> Said:
    before, after = (kernels[0].time for kernels in explanation.kernels)
    return _HEAVIEST.of(
        before=kernel_text([before]),
        after=kernel_text([after]),
        before_n=round(before.count),
        after_n=round(after.count),
        took=before.ns,
        takes=after.ns,
    )


def devices_sentence(explanation: Explanation, *, is_brief: bool = False) -> Said:
    """Return what operators that compute much take on two devices, by class, the longest first, and
    what all others take; with `is_brief` of each class only by how much that changes."""
    classes = [each for each in explanation.classes if each.op_class != "communication"]
    heavy = [each for each in classes if is_heavy(each.op_class)]
    light = [each for each in classes if not is_heavy(each.op_class)]
    heavy.sort(key=lambda each: -max(each.before_ns, each.after_ns))
    part = _BRIEF_PART if is_brief else _PART
    parts = [_part(part, _HEAVY_NAMES[each.op_class], [each]) for each in heavy]
    others = _ALL_OTHERS_BY_MEMORY if _is_by_memory(light) else _ALL_OTHERS
    if light or not heavy:
        parts.append(_part(part, others if heavy else _ALL, light))
    told = reduce(lambda start, one: _NEXT_PART.of(start=start, next=one), parts)
    before, after = _times(classes)
    on_device = explanation.unit.on_device
    message = _TWO_DEVICES[len(classes) < len(explanation.classes)] if on_device else _TWO_HOSTS
    return message.of(
        per=per_unit(explanation.unit),
        before=before,
        after=after,
        change=after - before,
        parts=told,
    )


def fused_said(explanation: Explanation) -> list[Said]:
    """Return that classes of operators which only one side runs are probably fused on the other,
    where both run the same heavy operators over the same sizes and nothing comes in their place;
    nothing of sides that know their operators by name."""
    alone = [each for each in explanation.changes if "by_class" in each.values]
    gone = [each for each in alone if each.code == "removed"]
    new = [each for each in alone if each.code == "added"]
    gone_ns, new_ns = (sum(abs(each.change_ns) for each in side) for side in (gone, new))
    if max(gone_ns, new_ns) < _FUSED * explanation.unit.before_ns:
        return []
    if min(gone_ns, new_ns) > _IN_PLACE * max(gone_ns, new_ns):
        return []
    is_fused = gone_ns > new_ns
    names = [LABELS[str(each.values["op_class"])].text() for each in (gone if is_fused else new)]
    return [
        _PROBABLY_FUSED[is_fused].of(heavy=listed(_heavy_names(explanation)), light=listed(names))
    ]


_FUSED = 0.1  # of a unit of the baseline, from which it is told
_IN_PLACE = 0.25  # of what is gone, from which it is rather done by others
_PROBABLY_FUSED = {
    True: Message(
        "Both sides run the same {heavy} over the same sizes, the candidate without operators for "
        "{light}, which are probably fused into them (guessed)."
    ),
    False: Message(
        "Both sides run the same {heavy} over the same sizes, the baseline without operators for "
        "{light}, which are probably fused into them (guessed)."
    ),
}


def _heavy_names(explanation: Explanation) -> list[str]:
    """Return the classes of heavy operators, those of most time first."""
    return [
        _HEAVY_NAMES[each.op_class].text()
        for each in sorted(explanation.classes, key=lambda each: -each.before_ns)
        if is_heavy(each.op_class)
    ]


def types_sentence(explanation: Explanation) -> Said:
    """Return that the heavy operators of the candidate compute in another data type: what these
    are, and both types."""
    assert explanation.data_types is not None
    before, after = map(_type_said, explanation.data_types)
    return _TYPES.of(operators=listed(_heavy_names(explanation)), before=before, after=after)


def _type_said(data_type: str) -> Said:
    if data_type == FLOAT32:
        return _IN_PART_TF32.of()
    return _TYPE.of(name={"tf32": "TF32"}.get(data_type, data_type))


_TYPE = Message("{name:name}")
_IN_PART_TF32 = Message("float32 and TF32")
_TYPES = Message("The candidate computes {operators} in {after}, the baseline in {before}.")


def _part(message: Message, name: Message, classes: Sequence[ClassTime]) -> Said:
    before, after = _times(classes)
    return message.of(name=name.of(), before=before, after=after, change=after - before)


def _times(classes: Sequence[ClassTime]) -> tuple[int, int]:
    """Return what classes of operators take on both sides, in ns."""
    return sum(each.before_ns for each in classes), sum(each.after_ns for each in classes)


def _is_by_memory(classes: Sequence[ClassTime]) -> bool:
    """Return whether nearly all time of these is of classes that memory limits, on both sides, in
    executions that last long enough for it: of shorter ones starting them takes most."""
    known = _times([each for each in classes if is_light(each.op_class)])
    whole = _times(classes)
    counts = [sum(each.counts[side] for each in classes) for side in (0, 1)]
    are_long = all(ns >= _LASTING_NS * n for ns, n in zip(whole, counts, strict=True))
    return are_long and all(part >= _BY_MEMORY * ns for part, ns in zip(known, whole, strict=True))


def idle_said(explanation: Explanation, *, is_brief: bool = False) -> list[Said]:
    """Return how long the devices are idle in a unit, where that and what all kernels take are the
    whole unit on both sides; nothing where kernels run beside one another, or after its end. With
    `is_brief` only by how much that changes."""
    sides, unit = explanation.sides, explanation.unit
    if sides is None or sides[0].parts is None or sides[1].parts is None:
        return []
    idle = (sides[0].parts.idle_ns, sides[1].parts.idle_ns)
    kernels = (
        sum(each.before_ns for each in explanation.classes),
        sum(each.after_ns for each in explanation.classes),
    )
    walls = (unit.before_ns, unit.after_ns)
    for one, ran, wall in zip(idle, kernels, walls, strict=True):
        if abs(one + ran - wall) > _LEAST * wall:
            return []
    message = _BRIEF_IDLE if is_brief else _IDLE
    return [message.of(before=idle[0], after=idle[1], change=idle[1] - idle[0])]


_BRIEF_IDLE = Message("Idle time adds **{change:signed_duration}**.")
_IDLE = Message(
    "Idle time adds {after:duration} instead of {before:duration} (**{change:signed_duration}**)."
)


def host_limits_said(explanation: Explanation) -> list[Said]:
    """Return that the host is the limit on both sides, where the devices wait most of a unit for
    its code and its launches: how fast their kernels are changes little; nothing elsewhere."""
    if explanation.sides is None:
        return []
    walls = (explanation.unit.before_ns, explanation.unit.after_ns)
    shares = []
    for side, wall in zip(explanation.sides, walls, strict=True):
        of_host = sum(each.ns for each in side.idle if each.kind in ("python", "launching"))
        if side.parts is None or of_host < max(1.0, _HOST_LIMITS * wall):
            return []
        shares.append(side.parts.idle_ns / wall)
    return [_OF_HOST.of(before=shares[0], after=shares[1])]


_HOST_LIMITS = 0.5  # of a unit, from which the host limits
_OF_HOST = Message(
    "On both sides the host is the limit: the device is idle for {before:percent} of the time in "
    "the baseline and for {after:percent} in the candidate, mostly while the host runs code and "
    "launches, so faster kernels would change little."
)


def rates_said(explanation: Explanation) -> list[Said]:
    """Return at what rates both devices compute the matrix products of most time that both have: by
    what they are in a layer, else those of one shape; nothing where the files do not show it, or
    rates are alike."""
    named = _rates_in_layers(explanation)
    return [named] if named is not None else _rates_of_shapes(explanation)


def _rates_in_layers(explanation: Explanation) -> Said | None:
    """Return the rates of products of a layer that both sides run as often."""
    before, after = (
        {each.projection: each for each in products if each.projection and each.computes}
        for products in explanation.products
    )
    told = []
    for projection, one in before.items():
        other = after.get(projection)
        rates = (one.flops_per_s, other.flops_per_s if other else None)
        if projection is None or other is None or not rates[0] or not rates[1]:
            continue
        if one.count == other.count and abs(rates[1] / rates[0] - 1) >= _SAME_RATE:
            said = _RATE.of(name=NAMES[projection], before=rates[0], after=rates[1])
            told.append((one.ns + other.ns, str(said)))
    if not told:
        return None
    ranked = [text for _, text in sorted(told, key=lambda each: -each[0])]
    return _RATES_IN_LAYERS.of(rates=listed(ranked[:_MOST_RATES]))


_MOST_RATES = 3
_RATE = Message("{name:name} {after:flop_rate} instead of {before:flop_rate}")
_RATES_IN_LAYERS = Message("Rates of matrix products: {rates}.")


def _rates_of_shapes(explanation: Explanation) -> list[Said]:
    before, after = (
        {each.shapes: each for each in kernels[::-1] if _is_product(each)}
        for kernels in explanation.kernels
    )
    shapes = max(
        before.keys() & after.keys(),
        key=lambda both: (before[both].time.ns + after[both].time.ns, both),
        default=None,
    )
    if shapes is None or before[shapes].time.count != after[shapes].time.count:
        return []
    rates = [_rate(of[shapes]) for of in (before, after)]
    if abs(rates[1] / rates[0] - 1) < _SAME_RATE:
        return []
    n = round(before[shapes].time.count)
    return [_RATES.of(n=n, inputs=shapes, before=rates[0], after=rates[1])]


def _is_product(kernel: ShapedTime) -> bool:
    return bool(
        kernel.shapes and kernel.flops and kernel.time.ns
        and kernel.time.op_class == "matrix_product"
    )  # fmt: skip


def _rate(kernel: ShapedTime) -> float:
    """Return the operations per second of kernels whose operations are known."""
    return (kernel.flops or 0) / kernel.time.ns * 1e9


def after_said(explanation: Explanation) -> list[Said]:
    """Return how much of what both kinds of operators take is after the end of a single step, which
    that does not count; nothing of several, in which the ones before run."""
    unit, sides = explanation.unit, explanation.sides
    which = word(unit.kind, unit.name)
    if sides is None or unit.counts != (1, 1) or which not in _AFTER:
        return []
    before, after = (side.after_ns for side in sides)
    if max(before, after) < _LEAST * unit.before_ns:
        return []
    return [_AFTER[which].of(before=before, after=after)]


def recorded_devices_said(explanation: Explanation) -> list[Said]:
    """Return that one file has the kernels of more devices than the other; nothing of as many."""
    sides = explanation.sides
    if sides is None:
        return []
    before, after = (side.devices_alike for side in sides)
    return [] if before == after else [_RECORDED.of(n=before, after=after)]


def sizes_sentence(explanation: Explanation) -> Said:
    """Return how much a unit of each side processes."""
    before, after = map(work_said, explanation.unit.works)
    return _SIZES.of(before=before, after=after)


def work_said(work: Work) -> Said:
    """Return what a unit of this work is called. Only works with a phase have a name."""
    if work.phase is None:
        raise ValueError("a work without a phase has no name")
    return _PHASES[work.phase].of(tokens=work.tokens, batch=work.batch)
