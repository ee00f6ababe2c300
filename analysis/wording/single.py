"""One trace by itself: the line on its file, its headline, what its run is made of, its memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusescope.analysis.compare.doubts import control_doubt
from fusescope.analysis.compare.side import Side, units_of
from fusescope.analysis.compare.single import RunFacts, run_facts
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.memory import MemoryUse
from fusescope.analysis.messages import Message, Part, paragraph, say
from fusescope.analysis.messages.formats import shown
from fusescope.analysis.trace import DiagnosticCode, RunWord, Trace
from fusescope.analysis.units import duration
from fusescope.analysis.wording.diagnostics import diagnostic_sentence
from fusescope.analysis.wording.diagnostics.early_end import early_end_parts, early_end_text
from fusescope.analysis.work_units import run_word

_RUN = Message("A run of {side:name} takes **{time:duration}**")
_PROFILED = Message("A run of {side:name} takes **{time:duration}** as profiled")
_STEP = Message("A step of {side:name} takes **{time:duration}** as profiled")
_STEP_ON_DEVICE = Message(
    "A step of {side:name} takes **{time:duration}** on the device, as profiled"
)
_REPETITION = Message("One repetition of {side:name} takes **{time:duration}** as profiled")
_ONE_OF: Mapping[RunWord, Message] = {
    "runs": _PROFILED,
    "steps": _STEP,
    "repetitions": _REPETITION,
}
_FILE = Message("The operators of {side:name} take **{time:duration}** in the whole file")
_KERNELS_OF_FILE: Mapping[bool, Message] = {
    False: Message("The kernels of {side:name} take **{time:duration}** in the whole file"),
    True: Message(
        "The kernels and copies of {side:name} take **{time:duration}** in the whole file"
    ),
}
_NOTHING = Message("{side:name} has no operators")
MEMORY_TITLE = Message("Memory over time")
MEMORY_HELP = Message(
    "What each device had allocated for tensors, and what the framework had reserved for it, from "
    "the first operator on. Measured by the profiler. Of many records the highest of neighbours "
    "are drawn."
)
_PEAK = Message(
    "{device:name}: at most {peak:bytes} allocated, half of the time {usual:bytes} or less."
)
_PEAK_IN = Message(
    "{device:name}: at most {peak:bytes} allocated, in {where:name}; half of the time "
    "{usual:bytes} or less."
)


_PROCESSES = Message(
    "The file contains {n:count} processes, each of which can be chosen: {shown}, {others}."
)
_DEVICES = Message(
    "The file contains the work of {n:count} devices, each of which can be chosen: {shown}, "
    "{others}."
)


_ENDS_EARLY = Message("{tool:name} profile that ends early, with {operators} up to there.")
_ONE = Message("{tool:name} profile: {runs}, {operators}.")
_EACH: Mapping[DiagnosticCode, Message] = {
    "one_of_processes": Message("{tool:name} profile: {runs}, {operators} in each process."),
    "one_of_devices": Message("{tool:name} profile: {runs}, {operators} on each device."),
}
# Of a file that does not mark its runs: pages say which they take.
_UNMARKED = Message("{tool:name} profile: {operators}.")
_EACH_UNMARKED: Mapping[DiagnosticCode, Message] = {
    "one_of_processes": Message("{tool:name} profile: {operators} in each process."),
    "one_of_devices": Message("{tool:name} profile: {operators} on each device."),
}


def trace_parts(side: Side) -> tuple[Part, ...]:
    """'A run of fused takes 5.01 ms': un-profiled where the file has such runs."""
    if side.trace.ends_early:
        return early_end_parts(side.label)
    facts = run_facts(side)
    if facts.unprofiled_ns is not None:
        return _RUN.parts(side=side.label, time=facts.unprofiled_ns)
    if facts.run_ns is not None:
        message = _STEP_ON_DEVICE if "host_ns" in side.trace.runs else _ONE_OF[run_word(side.trace)]
        return message.parts(side=side.label, time=facts.run_ns)
    if not facts.operators:
        return _NOTHING.parts(side=side.label)
    message = _KERNELS_OF_FILE[facts.has_copies] if facts.on_device else _FILE
    return message.parts(side=side.label, time=facts.operators_ns)


def unit_runs_text(trace: Trace) -> str:
    """Return which annotation is a run, and what the file shows beside its runs; '' of a file that
    marks its own."""
    codes = ("runs_annotated", "runs_beside")
    return paragraph(*(diagnostic_sentence(n) for n in trace.diagnostics if n.code in codes))


def units_text(trace: Trace) -> str:
    """Return which process or device of several this is, what the others are, and how to choose
    one; '' for a file of one."""
    note = units_of(trace)
    return "" if note is None else diagnostic_sentence(note)


def opened_sentence(value: Trace | Experiment) -> str:
    """Return the format of a file that was opened and how much is in it: of one of several
    processes or devices what each of them has, because none is chosen yet."""
    if isinstance(value, Experiment):
        return say(
            "Experiment of {model:name}: {variants:name}; {blocks:blocks}.",
            model=value.record.model.name,
            variants=", ".join(value.traces),
            blocks=value.record.outcome.blocks,
        )
    parts = tuple(value.units.values()) or (value,)
    tool, operators = value.meta.tool, _from_to([len(one.operators) for one in parts], "distinct")
    if value.ends_early:
        told = _ENDS_EARLY.text(tool=tool, operators=operators)
        return paragraph(told, early_end_text(value))
    note = units_of(value) if len(parts) > 1 else None
    if any(not one.has_runs and not one.profiled_runs.empty for one in parts):
        unmarked = _UNMARKED if note is None else _EACH_UNMARKED[note.code]
        return unmarked.text(tool=tool, operators=operators)
    message = _ONE if note is None else _EACH[note.code]
    runs = _from_to([len(one.profiled_runs) for one in parts], run_word(*parts))
    return message.text(tool=tool, runs=runs, operators=operators)


def _from_to(counts: Sequence[int], noun: str) -> str:
    """'12 distinct operators' of one part or of equal ones, '12 to 28 distinct operators'."""
    most = shown(max(counts), noun)
    if min(counts) == max(counts):
        return most
    return say("{least:count} to {most}", least=min(counts), most=most)


def units_opened_text(trace: Trace) -> str:
    """Return which processes or devices a file holds that was opened, none of which is chosen
    yet; '' for a file of one."""
    note = units_of(trace)
    if note is None:
        return ""
    message = _PROCESSES if note.code == "one_of_processes" else _DEVICES
    return message.text(**note.values, n=note.count)


_OF_DISTINCT = Message("{executions:executions} of {n:distinct}.")
_OF_DISTINCT_EACH: Mapping[RunWord, Message] = {
    "runs": Message("{executions:executions} of {n:distinct} a run."),
    "steps": Message("{executions:executions} of {n:distinct} a step."),
    "repetitions": Message("{executions:executions} of {n:distinct} a repetition."),
}
_DISTINCT_IN_ALL: Mapping[RunWord, Message] = {
    "runs": Message("{executions:executions} a run, {n:distinct} in all runs."),
    "steps": Message("{executions:executions} a step, {n:distinct} in all steps."),
    "repetitions": Message(
        "{executions:executions} a repetition, {n:distinct} in all repetitions."
    ),
}


def trace_facts(side: Side) -> str:
    """'The mean of 6 runs. 56 executions of 12 distinct operators. …'; of a recording also how far
    two copies of its baseline are apart, where that is much."""
    if side.trace.ends_early:
        return early_end_text(side.trace)
    facts = run_facts(side)
    told = [_run_text(side.trace, facts)]
    if facts.operators:
        executions = facts.executions
        word = run_word(side.trace)
        message = _OF_DISTINCT_EACH[word] if side.trace.has_runs else _OF_DISTINCT
        if facts.operators > executions:  # runs that are not alike have more together than one
            message = _DISTINCT_IN_ALL[word]
        told.append(message.text(executions=executions, n=facts.operators))
    if facts.small_op_ratio is not None:
        told.append(say("Small-op ratio (time): {share:percent}.", share=facts.small_op_ratio))
    control = control_doubt(side)
    apart = diagnostic_sentence(control) if control is not None else ""
    return paragraph(*told, apart, unit_runs_text(side.trace))


def _run_text(trace: Trace, facts: RunFacts) -> str:
    """Return what the run that leads is, and what another one takes that is shown; '' of the only
    run of a file."""
    if facts.unprofiled_ns is not None:
        if facts.profiled_ns is None:
            return ""
        if facts.beside is not None:
            return _PAIRED.text(baseline=facts.beside, time=facts.profiled_ns)
        message = _TYPICAL_UNPROFILED if trace.has_blocks else _MEAN_UNPROFILED
        return message.text(runs=facts.runs, time=facts.profiled_ns)
    if facts.run_ns is None or facts.runs < 2:
        return ""
    if not trace.has_blocks:
        return _MEAN.text(runs=shown(facts.runs, run_word(trace)))
    if duration(facts.run_ns) == duration(facts.profiled_ns):
        return ""
    return _TYPICAL.text(mean=facts.profiled_ns)


_PAIRED = Message(
    "Typical un-profiled run, paired with those of {baseline:name}; the mean run as profiled takes "
    "{time:duration}."
)
_TYPICAL_UNPROFILED = Message(
    "Typical un-profiled run; the mean run as profiled takes {time:duration}."
)
_MEAN_UNPROFILED = Message(
    "The mean of {runs:unprofiled_runs}; as profiled a run takes {time:duration}."
)
_MEAN = Message("The mean of {runs}.")
_TYPICAL = Message("Typical profiled run; the mean one takes {mean:duration}.")


def peak_parts(uses: Sequence[MemoryUse]) -> list[tuple[Part, ...]]:
    """A sentence a device; names come from the file."""
    return [
        (_PEAK_IN if use.peak_in else _PEAK).parts(
            device=use.device, peak=use.peak, usual=use.usual, where=use.peak_in
        )
        for use in uses
    ]
