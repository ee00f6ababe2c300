"""What the time of a unit goes to, in sentences: layers, classes of operators, collectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusescope.analysis.advice.explanation.explanation import (
    Collective,
    Layers,
    TraceExplanation,
)
from fusescope.analysis.compare.explanation.product import Product
from fusescope.analysis.messages import Message, Said, Shown, listed
from fusescope.analysis.operators.classes import LABELS
from fusescope.analysis.wording.explanation.kernels import kernel_text
from fusescope.analysis.wording.explanation.products import products_of_trace, projection_of_kernel
from fusescope.analysis.wording.explanation.units import kernels_of_copies_said, word

_CLASSES = 3  # that are told
_CLASS = 0.03  # of the time of all, below which one is not told
_UNKNOWN = 0.2  # of the time of all, below which what has no known class is not told
_LEAST = 0.005  # of a unit, below which kernels of other work are not told
_FEWEST = 4  # copies, from which what repeats are layers
_PART = 0.005  # of an execution, below which a mean number of them is a whole one
_COLLECTIVES = 3
_SHARE = 0.02  # of the time of all collectives, below which one is not told

_LAYERS = Message(
    "{copies:count} layers of {kernels} take {all:duration}, on average {each:duration} each; the "
    "largest part is {kernel}: on average {largest:duration} of each in {n}."
)
_LAYERS_OF = Message(
    "{copies:count} layers ({module:name}) of {kernels} take {all:duration}, on average "
    "{each:duration} each; the largest part is {kernel}: on average {largest:duration} of each in "
    "{n}."
)
# Of layers of which one takes far longer than the others: no part of a mean one is said of each.
_UNLIKE = Message(
    "{copies:count} layers of {kernels} take {all:duration}, between {low:duration} and "
    "{high:duration} each; the largest part of all is {kernel}: {largest:duration} in {n}."
)
_UNLIKE_OF = Message(
    "{copies:count} layers ({module:name}) of {kernels} take {all:duration}, between "
    "{low:duration} and {high:duration} each; the largest part of all is {kernel}: "
    "{largest:duration} in {n}."
)
# Of what no module says that they are layers, and a program without a model repeats as well.
_REPETITIONS = Message(
    "{copies:count} repetitions of {kernels} take {all:duration}, on average {each:duration} each; "
    "the largest part is {kernel}: on average {largest:duration} of each in {n}."
)
_REPETITIONS_UNLIKE = Message(
    "{copies:count} repetitions of {kernels} take {all:duration}, between {low:duration} and "
    "{high:duration} each; the largest part of all is {kernel}: {largest:duration} in {n}."
)
_NESTED = Message(
    "{copies:count} repetitions of {kernels} take {all:duration}, on average {each:duration} each; "
    "each holds {inside}."
)
_INSIDE = Message("{copies:count} layers of {kernels} ({all:duration})")
_INSIDE_REPETITIONS = Message("{copies:count} repetitions of {kernels} ({all:duration})")
_EXECUTIONS = Message("{n:executions}")
_EXECUTIONS_OF_COPIES = Message("{fewest:count} to {most:count} executions")
_BY_CLASS = Message("Kernels by class, the largest first: {classes}.")
_BY_CLASS_OF_HOST = Message("Operators by class, the largest first: {classes}.")
_OF_NO_CLASS = {
    True: Message(
        "{share:percent} of their time, {all:duration}, is in kernels whose names do not say what "
        "they compute, the largest of them {largest}."
    ),
    False: Message(
        "{share:percent} of their time, {all:duration}, is in operators whose types do not say "
        "what they compute, the largest of them {largest}."
    ),
}
# What computes in a unit is whatever runs in it; layers and classes are what it launched, wherever
# that runs.
_EARLIER = Message(
    "Of the time in which the device is not idle, {earlier:duration} goes to kernels that were "
    "launched before the file begins; the times of layers and classes are without them.",
    "Of the time in which the device is not idle, {earlier:duration} in each of the {n:count}, on "
    "average, goes to kernels that were launched before the file begins; the times of layers and "
    "classes are without them.",
)
_AFTER = {
    "step": Message("Of the times of layers and classes, {after:duration} is after the step ends."),
    "run": Message("Of the times of layers and classes, {after:duration} is after the run ends."),
}
_ONE_CLASS = Message("{op_class} ({ns:duration})")
_COMMUNICATION = Message("Communication, with the wait for other devices: {collectives}.")
_ONE = Message("{name:name} ({each:duration})")
# A collective by whether its size is known and whether the profiler counts how long data moves: it
# waits for other ranks in the rest of its time.
_COLLECTIVE: Mapping[tuple[bool, bool], Message] = {
    (False, False): Message("{name:name} ({time})"),
    (True, False): Message("{name:name} of {size:bytes} ({time}, {rate:bandwidth})"),
    (False, True): Message(
        "{name:name} ({time}; data moves for {transfer:duration} of it, at {rate:bandwidth})"
    ),
    (True, True): Message(
        "{name:name} of {size:bytes} ({time}; data moves for {transfer:duration} of it, at "
        "{rate:bandwidth})"
    ),
}
_TIME = Message("{each:duration}")
_TIME_EACH = Message("{each:duration} each")
_TIME_MEAN = Message("{each:duration} on average")
_TIME_LONGEST = Message("{each:duration} on average, the longest {longest:duration}")
_TIMES = Message("{n:count} times {collective}")
# Of one that not every unit has, or not as often.
_TIMES_ON_AVERAGE = Message("on average {n:number} times {collective}")
_COUNTED = Message(
    "How long data moves, and at what rate over the links of this rank, is what the profiler "
    "counts."
)
_FAR_BELOW = 0.3  # of the rate of all links, where something else limits a collective
_OF_LINKS = Message(
    "Over the bus, {name:name} of {size:bytes} among {ranks:count} ranks carries {bus:bandwidth}, "
    "by what each rank has to send instead of the size of the message, waiting included: "
    "{share:percent} of what {link:name} of the {device:name} carries in one direction, "
    "{peak:bandwidth} (assumed, if all ranks are on one host)."
)
_FAR_BELOW_LINKS = Message(
    "Over the bus, {name:name} of {size:bytes} among {ranks:count} ranks carries {bus:bandwidth}, "
    "by what each rank has to send instead of the size of the message, waiting included: "
    "{share:percent} of what {link:name} of the {device:name} carries in one direction, "
    "{peak:bandwidth} (assumed, if all ranks are on one host). So it is not these links that limit "
    "it: it waits for other ranks, sends little at a time, or crosses a slower network."
)


def blocks_said(found: TraceExplanation) -> list[Said]:
    """Return what the time of a unit goes to, sentence by sentence."""
    is_file = found.unit.kind == "file"
    told = [_layers(each, found.products, is_file) for each in found.layers]
    classes = classes_text([(each.op_class, each.ns) for each in found.classes])
    if classes:
        message = _BY_CLASS if found.unit.on_device else _BY_CLASS_OF_HOST
        told.append(message.of(classes=classes))
    told += _unknown(found)
    told += products_of_trace(found.products, found.unit.wall_ns)
    unit = found.unit
    if told and unit.earlier_ns >= _LEAST * unit.wall_ns:
        told.append(_EARLIER.of(n=unit.count, earlier=unit.earlier_ns))
    which = word(unit.kind, unit.name)
    if told and unit.count == 1 and which in _AFTER and unit.after_ns >= _LEAST * unit.wall_ns:
        told.append(_AFTER[which].of(after=unit.after_ns))
    if found.collectives:
        told.append(_COMMUNICATION.of(collectives=collectives_text(found.collectives)))
        if any(one.link_bytes_per_s is not None for one in _told(found.collectives)):
            told.append(_COUNTED.of())
        told += _links(found)
    return told


def _links(found: TraceExplanation) -> list[Said]:
    """Return what the collective of most time carries over the links of the device, where the file
    says how many ranks take part and their rate is public."""
    links, first = found.links, found.collectives[0]
    if links is None or first.bus_bytes_per_s is None or (first.ranks or 1) < 2:
        return []
    share = first.bus_bytes_per_s / links.bytes_per_s
    if share > 1:  # they are connected by something else
        return []
    message = _FAR_BELOW_LINKS if share < _FAR_BELOW else _OF_LINKS
    return [
        message.of(
            name=first.name,
            size=first.bytes,
            ranks=first.ranks,
            bus=first.bus_bytes_per_s / 1e9,
            share=share,
            peak=links.bytes_per_s / 1e9,
            device=links.device,
            link=links.name,
        )
    ]


def _unknown(found: TraceExplanation) -> list[Said]:
    """Return how much of the time is in what is of no known class, and the largest of it; nothing
    where that is little."""
    whole_ns = max(1, sum(each.ns for each in found.classes))
    ns = sum(each.ns for each in found.classes if each.op_class == "unknown")
    if ns < _UNKNOWN * whole_ns or not found.unknown:
        return []
    largest = listed([str(_ONE.of(name=each.name, each=each.ns)) for each in found.unknown])
    message = _OF_NO_CLASS[found.unit.on_device]
    return [message.of(share=ns / whole_ns, all=ns, largest=largest)]


def _layers(layers: Layers, products: Sequence[Product], is_file: bool) -> Said:
    values: dict[str, Shown] = {
        "copies": layers.copies,
        "kernels": kernels_of_copies_said(layers.kernels_of_copies, layers.others),
        "all": layers.all_ns,
        "each": layers.ns,
    }
    if layers.inside:
        inside = [str(_inside(one, is_file)) for one in layers.inside]
        return _NESTED.of(**values, inside=listed(inside))
    largest = layers.largest
    values["module"] = layers.module
    values["kernel"] = projection_of_kernel(products, largest.name) or kernel_text([largest])
    whole, unlike = (_LAYERS_OF, _UNLIKE_OF) if layers.module else (_LAYERS, _UNLIKE)
    if not layers.module and not are_layers(layers.copies, bool(layers.others), is_file):
        whole, unlike = _REPETITIONS, _REPETITIONS_UNLIKE
    if layers.range_ns is not None:
        low, high = layers.range_ns
        count = max(1, round(largest.count * layers.copies))
        values |= {"low": low, "high": high, "n": _EXECUTIONS.of(n=count)}
        return unlike.of(**values, largest=largest.ns * layers.copies)
    return whole.of(**values, largest=largest.ns, n=_executions(layers.largest_of_copies))


def are_layers(copies: int, has_copies: bool, is_file: bool) -> bool:
    """Return whether so many repetitions are called layers where no module says that they are, by
    whether copies or fills of memory are among them, and whether the file marks no steps."""
    return copies >= _FEWEST and not has_copies and not is_file


def _inside(one: Layers, is_file: bool) -> Said:
    is_layer = one.module or are_layers(one.copies, bool(one.others), is_file)
    kernels = kernels_of_copies_said(one.kernels_of_copies, one.others)
    message = _INSIDE if is_layer else _INSIDE_REPETITIONS
    return message.of(copies=one.copies, kernels=kernels, all=one.all_ns)


def _executions(span: tuple[int, int]) -> Said:
    """Return how many executions a copy has, of which the fewest and the most are given."""
    fewest, most = span
    if fewest == most:
        return _EXECUTIONS.of(n=most)
    return _EXECUTIONS_OF_COPIES.of(fewest=fewest, most=most)


def classes_text(classes: Sequence[tuple[str, float]]) -> str:
    """Return the classes of operators that take most time, with it in ns; '' for none that is
    known."""
    least_ns = _CLASS * sum(ns for _, ns in classes)
    known = [each for each in classes if each[0] != "unknown" and each[1] >= max(1, least_ns)]
    return listed(
        [str(_ONE_CLASS.of(op_class=LABELS[name], ns=ns)) for name, ns in known[:_CLASSES]]
    )


def collectives_text(collectives: Sequence[Collective]) -> str:
    """Return the collectives that take most time, with the size of their messages, what each takes
    and at what rate, where the file has sizes."""
    return listed([str(_collective(each)) for each in _told(collectives)])


def _told(collectives: Sequence[Collective]) -> Sequence[Collective]:
    """Return the collectives that take most time."""
    least_ns = _SHARE * sum(each.count * each.each_ns for each in collectives)
    return [each for each in collectives if each.count * each.each_ns >= least_ns][:_COLLECTIVES]


def _collective(one: Collective) -> Said:
    moves = one.link_bytes_per_s is not None
    rate = one.link_bytes_per_s if moves else one.bytes_per_s
    said = _COLLECTIVE[one.bytes is not None, moves].of(
        name=one.name,
        time=_time(one),
        size=one.bytes,
        transfer=one.transfer_ns,
        rate=None if rate is None else rate / 1e9,
    )
    if not is_whole(one.count):
        return _TIMES_ON_AVERAGE.of(n=one.count, collective=said)
    return _TIMES.of(n=round(one.count), collective=said) if round(one.count) > 1 else said


def is_whole(count: float) -> bool:
    """Return whether each unit has as many executions, as far as their mean shows it."""
    return abs(count - round(count)) < _PART


def _time(one: Collective) -> Said:
    """Return what an execution takes: of those that differ, on average."""
    is_many = one.count > 1 + _PART
    if one.longest_ns is not None and is_many:
        return _TIME_LONGEST.of(each=one.each_ns, longest=one.longest_ns)
    if not one.are_alike:
        return _TIME_MEAN.of(each=one.each_ns)
    return (_TIME_EACH if is_many else _TIME).of(each=one.each_ns)
