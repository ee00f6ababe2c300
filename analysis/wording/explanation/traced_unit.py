"""The unit of work of one trace in sentences: how long it takes, whether all are alike, its
parts."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.advice.explanation.explanation import TracedUnit
from fusescope.analysis.messages import Message, Said, Shown
from fusescope.analysis.wording.explanation.uneven import uneven_said
from fusescope.analysis.wording.explanation.units import kernels_said, word
from fusescope.analysis.work_units.work import Phase

_ALIKE = 0.05  # by which the longest unit may be longer than the shortest, both are the same

_ONE = {
    "step": Message(
        "A step takes **{wall:duration}**; the file shows one.",
        "A step takes **{wall:duration}**, the mean of {n:count}.",
    ),
    "run": Message(
        "A run takes **{wall:duration}**; the file shows one.",
        "A run takes **{wall:duration}**, the mean of {n:count}.",
    ),
}
_ONE_RANGE = {
    "step": Message(
        "A step takes **{wall:duration}**, the mean of {n:count} from {low:duration} to "
        "{high:duration}."
    ),
    "run": Message(
        "A run takes **{wall:duration}**, the mean of {n:count} from {low:duration} to "
        "{high:duration}."
    ),
}
_STEP_OF_DEVICE = Message(
    "A step takes **{wall:duration}** on the device, of which the file shows one; on the host, "
    "which runs {ahead:duration} ahead, {host:duration}.",
    "A step takes **{wall:duration}** on the device, the mean of {n:count}; on the host, which "
    "runs {ahead:duration} ahead, {host:duration}.",
)
_STEP_BEHIND = Message(
    "A step takes **{wall:duration}** on the device; the file shows one. Before it the device ran "
    "what the host had launched before the file began ({behind:duration}); on the host the step "
    "takes {host:duration}."
)
_STEP_BEHIND_LAYERS = Message(
    "A step takes **{wall:duration}** on the device; the file shows one. Before it the device ran "
    "{n:count} layer of earlier work ({behind:duration}); on the host the step takes "
    "{host:duration}.",
    "A step takes **{wall:duration}** on the device; the file shows one. Before it the device ran "
    "{n:count} layers of earlier work ({behind:duration}); on the host the step takes "
    "{host:duration}.",
)
_REPEAT = Message(
    "The file marks no steps, but its work repeats: one repetition of {kernels} "
    "takes **{wall:duration}**, the mean of {n:count}."
)
_REPEAT_RANGE = Message(
    "The file marks no steps, but its work repeats: one repetition of {kernels} "
    "takes **{wall:duration}**, the mean of {n:count} from {low:duration} to {high:duration}."
)
# Of repeats between which the device pauses: what their time holds.
_REPEAT_TO_NEXT = Message(
    "The file marks no steps, but its work repeats: one repetition of {kernels} takes "
    "**{wall:duration}** until the next one begins, the mean of {n:count}; its last kernel ends "
    "after {last:duration}."
)
_REPEAT_TO_NEXT_RANGE = Message(
    "The file marks no steps, but its work repeats: one repetition of {kernels} takes "
    "**{wall:duration}** until the next one begins, the mean of {n:count} from {low:duration} to "
    "{high:duration}; its last kernel ends after {last:duration}."
)
_REPEAT_TO_LAST = Message(
    "The file marks no steps, but its work repeats: one repetition of {kernels} takes "
    "**{wall:duration}** from its first kernel to its last, the mean of {n:count}. The time until "
    "the next one begins is left out, as the file does not show what the host does then."
)
_REPEAT_TO_LAST_RANGE = Message(
    "The file marks no steps, but its work repeats: one repetition of {kernels} takes "
    "**{wall:duration}** from its first kernel to its last, the mean of {n:count} from "
    "{low:duration} to {high:duration}. The time until the next one begins is left out, as the "
    "file does not show what the host does then."
)
_EXECUTIONS = Message("{n:executions}")
_PAUSE = 0.05  # of a repeat, in which no kernel runs at its end: below it the end is not told
_FILE = {
    True: Message(
        "The file marks no steps: as a whole it spans **{wall:duration}** with {kernels}."
    ),
    False: Message(
        "The file marks no steps: as a whole it spans **{wall:duration}** with "
        "{executions:executions}."
    ),
}
_SUMS = {
    True: Message(
        "The file has no start of each execution, only times: **{wall:duration}** in {kernels}."
    ),
    False: Message(
        "The file has no start of each execution, only times: **{wall:duration}** in "
        "{executions:executions}."
    ),
}
# Of a serving engine; the time of one step alone is that of its kernels.
_ONE_PHASE: Mapping[Phase, Message] = {
    "prefill": Message(
        "A prefill of {tokens:count} tokens takes **{busy:duration}** of the device; the file "
        "shows one."
    ),
    "decode": Message(
        "A decoding step of {batch:count} sequences takes **{busy:duration}** of the device; the "
        "file shows one."
    ),
    "mixed": Message(
        "A mixed step of {batch:count} sequences takes **{busy:duration}** of the device; the file "
        "shows one."
    ),
}
_PHASES: Mapping[Phase, Message] = {
    "prefill": Message(
        "A prefill of {tokens:count} tokens takes **{wall:duration}**, the mean of {n:count}."
    ),
    "decode": Message(
        "A decoding step of {batch:count} sequences takes **{wall:duration}**, the mean of "
        "{n:count}."
    ),
    "mixed": Message(
        "A mixed step of {batch:count} sequences takes **{wall:duration}**, the mean of {n:count}."
    ),
}
_AS_PROFILED = Message("That is as profiled; un-profiled it takes {time:duration}.")
_OTHERS = Message(
    "One other step in the file does other work.",
    "{n:count} other steps in the file do other work.",
)
_SET_ASIDE = Message(
    "The first step, over 1.5× the median of those after it, is left out.",
    "The first {n:count} steps, each over 1.5× the median of those after it, are left out.",
)
_PARTS: Mapping[tuple[bool, bool], Message] = {
    (False, False): Message(
        "The device computes for {computing:duration} of it and is idle for {idle:duration}."
    ),
    (True, False): Message(
        "The device computes for {computing:duration} of it, only communicates for "
        "{communication:duration} and is idle for {idle:duration}."
    ),
    (False, True): Message(
        "The device computes for {computing:duration} of it, only copies for {copies:duration} and "
        "is idle for {idle:duration}."
    ),
    (True, True): Message(
        "The device computes for {computing:duration} of it, only communicates for "
        "{communication:duration}, only copies for {copies:duration} and is idle for "
        "{idle:duration}."
    ),
}
_PARTS_OF_ONE = Message(
    "From its start to its last kernel it takes {wall:duration}, of which the device is idle for "
    "{idle:duration}."
)
_HOST_PARTS = Message("Operators run for {busy:duration} of it, and none for {idle:duration}.")
_LEAST = 0.005  # of a unit: a part below it is not told


def unit_said(unit: TracedUnit) -> list[Said]:
    """Return what one unit of work is and takes, sentence by sentence."""
    told = [_takes(unit)]
    if unit.unprofiled_ns:
        told.append(_AS_PROFILED.of(time=unit.unprofiled_ns))
    if unit.uneven is not None and unit.on_device:
        told.append(uneven_said(unit.uneven, word(unit.kind, unit.name)))
    if unit.set_aside:
        told.append(_SET_ASIDE.of(n=unit.set_aside))
    if unit.others:
        told.append(_OTHERS.of(n=unit.others))
    if unit.has_starts:
        told.append(_parts(unit))
    return told


def _takes(unit: TracedUnit) -> Said:
    low, high = unit.range_ns
    values: dict[str, Shown] = {
        "wall": unit.wall_ns,
        "busy": unit.parts.busy_ns,
        "n": unit.count,
        "low": low,
        "high": high,
        "kernels": kernels_said(unit.kernels, unit.other_kernels)
        if unit.on_device
        else _EXECUTIONS.of(n=unit.kernels),
        "executions": unit.kernels,
    }
    is_told = unit.uneven is not None and unit.on_device
    is_alike = is_told or high - low <= _ALIKE * low
    if unit.work.phase is not None:
        sizes = {"tokens": unit.work.tokens, "batch": unit.work.batch}
        phases = _ONE_PHASE if unit.count == 1 else _PHASES
        return phases[unit.work.phase].of(**values, **sizes)
    if unit.behind_ns:
        message = _STEP_BEHIND_LAYERS if unit.behind_layers else _STEP_BEHIND
        values |= {"host": unit.host_ns, "behind": unit.behind_ns, "n": unit.behind_layers}
        return message.of(**values)
    if unit.host_ns is not None:
        return _STEP_OF_DEVICE.of(**values, ahead=unit.ahead_ns, host=unit.host_ns)
    if unit.kind == "file" and not unit.has_starts:
        return _SUMS[unit.on_device].of(**values)
    if unit.kind == "file":
        return _FILE[unit.on_device].of(**values)
    if unit.kind == "repeat":
        return _repeat(unit)[not is_alike].of(**values, last=unit.last_kernel_ns or 0)
    return (_ONE if is_alike else _ONE_RANGE)[word(unit.kind, unit.name)].of(**values)


def _repeat(unit: TracedUnit) -> tuple[Message, Message]:
    """Return the sentences of repeats that are alike and of those that are not, by what their time
    holds."""
    if not unit.on_device:
        return _REPEAT, _REPEAT_RANGE
    if unit.end_with_kernels:
        return _REPEAT_TO_LAST, _REPEAT_TO_LAST_RANGE
    last_ns = unit.last_kernel_ns
    if last_ns is not None and unit.wall_ns - last_ns >= _PAUSE * unit.wall_ns:
        return _REPEAT_TO_NEXT, _REPEAT_TO_NEXT_RANGE
    return _REPEAT, _REPEAT_RANGE


def _parts(unit: TracedUnit) -> Said:
    parts = unit.parts
    if not unit.on_device:
        return _HOST_PARTS.of(busy=parts.busy_ns, idle=parts.idle_ns)
    if unit.work.phase is not None and unit.count == 1:
        return _PARTS_OF_ONE.of(wall=unit.wall_ns, idle=parts.idle_ns)
    least_ns = _LEAST * unit.wall_ns
    key = (parts.communication_ns >= least_ns, parts.copies_ns >= least_ns)
    return _PARTS[key].of(
        computing=parts.computing_ns,
        communication=parts.communication_ns,
        copies=parts.copies_ns,
        idle=parts.idle_ns,
    )
