"""Sentences for doubts that depend on what a note says beside its code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages import Message
from fusescope.analysis.trace import Diagnostic
from fusescope.analysis.wording.diagnostics.attribution import (
    BESIDE_OPERATORS,
    FILE_CHANGED,
    MEAN_RUN_CHANGED,
    share_of_change,
    terms_beside_operators,
)
from fusescope.analysis.wording.diagnostics.text import NoteText, told
from fusescope.analysis.wording.noise.unknown_noise import OF_FILES

_TOO_MANY = Message(
    "Fusion does not explain such a difference: these may be different models, batch sizes or "
    "numbers of runs."
)
_PROFILED = Message("The verdict compares this time: {of}.")
_SPINNING = Message(
    "The recordings differ in whether threads spin: {baseline:name} and {candidate:name}."
)
_BOUNDARY_COST = Message("The time of the boundaries is part of this change, as idle time.")


_WHOLE_RUN = Message("The time is the wall time of a run of the command, start and end included.")
_PRINTED = Message("The time is what the command prints, in {unit:name}: {place:name}.")
_OF_RATE = Message("Latency is {samples_of:count} ÷ that rate.")
_TIMES_MANY = Message("Latency is {samples_of:count} × that time.")
_OTHER_TIMES = Message(
    "Where the time goes is told of the runs in the traces, whose times need not be these."
)


def command_time(note: Diagnostic) -> NoteText:
    """Return what the times of a command are."""
    if note.values.get("is_wall"):
        return told(_WHOLE_RUN, _OTHER_TIMES)
    if note.values.get("is_rate"):
        return told(_PRINTED, _OF_RATE, _OTHER_TIMES)
    if note.values.get("samples_of") != 1:
        return told(_PRINTED, _TIMES_MANY, _OTHER_TIMES)
    return told(_PRINTED, _OTHER_TIMES)


_LESS_DETAIL = Message("The {on} was recorded with less detail than the other file.")
_BY_ORDER = Message("Operators of {names:names} are told apart as there, by the order of calls.")
_BY_NAME = Message("The types of {types:operators} are taken from there, by name.")
_OWN_TIMES = Message("Times and counts are its own.")


def detail_borrowed(note: Diagnostic) -> NoteText:
    """Return what one side has from the other: what is 0 is not told."""
    found = ((_BY_ORDER, note.values.get("names")), (_BY_NAME, note.values.get("types")))
    return told(_LESS_DETAIL, *(message for message, count in found if count), _OWN_TIMES)


def boundaries(note: Diagnostic) -> NoteText:
    pieces, twin = note.values.get("pieces"), note.values.get("same_cut")
    is_known = isinstance(pieces, int) and pieces > 1
    then = (_BOUNDARY_COST,) if twin is None else (_BOUNDARY_COST, _KERNEL_ALONE)
    return told(_SEVERAL_PIECES if is_known else _IN_PIECES, *then)


_SEVERAL_PIECES = Message(
    "It runs in {pieces:count} pieces and passes tensors between them. The other side does not."
)
_IN_PIECES = Message(
    "It is cut around the operators of a kernel, so tensors pass over the cuts. The other side "
    "is not cut."
)
_KERNEL_ALONE = Message("Compare with {same_cut:name}, which is cut in the same way.")


def outputs(note: Diagnostic) -> NoteText:
    return _NOT_NUMBERS if note.values.get("absolute") is None else _BESIDE_ZEROS


_CHECK_MODEL = Message("Whether it computes the same model is not known.")
_NOT_NUMBERS = told(
    Message(
        "Its outputs and those of the recording's baseline could not be compared: one side holds "
        "NaN or infinity, or sizes, shapes or types cannot be compared."
    ),
    _CHECK_MODEL,
)
_BESIDE_ZEROS = told(
    Message(
        "An output that is all zeros in the recording's baseline is not zero here; outputs differ "
        "by up to {absolute:number}."
    ),
    _CHECK_MODEL,
)


def attribution(note: Diagnostic) -> NoteText:
    changed = FILE_CHANGED if note.values.get("of") in OF_FILES else MEAN_RUN_CHANGED
    beside = (BESIDE_OPERATORS,) if terms_beside_operators(note.values) else ()
    share = share_of_change(note.values)
    first = _MORE_THAN_CHANGE if share > 1 else _PART_OF_CHANGE if share > 0 else _NOT_THE_CHANGE
    return told(first, changed, *beside)


_NOT_THE_CHANGE = Message("The operators' own times do not explain the change.")
_PART_OF_CHANGE = Message("The operators' own times explain only part of the change.")
_MORE_THAN_CHANGE = Message("The operators' own times change by more than the run does.")


def counts_of_units(note: Diagnostic) -> NoteText:
    return _PROCESSES if note.values.get("units") == "processes" else _DEVICES


_PROCESSES = told(
    Message(
        "The baseline's file contains {before:processes}, the candidate's {after:processes}. The "
        "figures are of one process on each side."
    ),
)
_DEVICES = told(
    Message(
        "The baseline's file has kernels of {before:devices}, the candidate's of {after:devices}. "
        "The figures are of one device on each side."
    ),
)


def graphs_launched(note: Diagnostic) -> NoteText:
    named = note.values.get("named")
    if named is None:
        return _GRAPHS_LAUNCHED
    texts = _OF_PAIR if note.values.get("of_pair") else _OF_FILE
    return texts[named == note.count]


_OF_GRAPHS = Message(
    "{n:count} execution on the device was launched by a graph, copies and fills of memory "
    "included: {share:percent} of the time of all.",
    "{n:count} executions on the device were launched by graphs, copies and fills of memory "
    "included: {share:percent} of the time of all.",
)
_GRAPHS_LAUNCHED = told(
    _OF_GRAPHS,
    Message(
        "Which operator each of them belongs to is not in the file, and nothing about the host "
        "follows from them. Record without graphs (of CUDA or HIP) for both."
    ),
)
_NOTHING_OF_HOST = Message(
    "Nothing about the host follows from any of them. Record without graphs (of CUDA or HIP) to "
    "have both from the file."
)
# By whether all of them have names.
_OF_FILE: Mapping[bool, NoteText] = {
    True: told(
        _OF_GRAPHS,
        Message(
            "They have the operators and modules of the same kernels elsewhere in this file, by "
            "their order, since the launch of a graph names none."
        ),
        _NOTHING_OF_HOST,
    ),
    False: told(
        _OF_GRAPHS,
        Message(
            "{named:count} of them have the operators and modules of the same kernels elsewhere "
            "in this file, by their order; which operator the others belong to is not in the file."
        ),
        _NOTHING_OF_HOST,
    ),
}
_OF_PAIR: Mapping[bool, NoteText] = {
    True: told(
        _OF_GRAPHS,
        Message(
            "They have the operators and modules of the same kernels elsewhere in the two files, "
            "by their order, since the launch of a graph names none."
        ),
        _NOTHING_OF_HOST,
    ),
    False: told(
        _OF_GRAPHS,
        Message(
            "{named:count} of them have the operators and modules of the same kernels elsewhere "
            "in the two files, by their order; which operator the others belong to is in neither."
        ),
        _NOTHING_OF_HOST,
    ),
}


def load(note: Diagnostic) -> NoteText:
    return _LOAD_BEFORE if note.values.get("after") is None else _LOAD


_OF_OTHERS = Message(
    "That before it is of other work, a doubt above half of the cores; that after it is of the "
    "recording itself, too."
)
_LOAD = told(
    Message(
        "Load average {before:tenths} before the recording and {after:tenths} after it, on "
        "{cores:cores}."
    ),
    _OF_OTHERS,
)
_LOAD_BEFORE = told(Message("Load average {before:tenths} before the recording, on {cores:cores}."))


def counters(note: Diagnostic) -> NoteText:
    facts = [
        fact for key, fact in (("before", _ONLY_BEFORE), ("after", _ONLY_AFTER)) if note.values[key]
    ]
    return told(*facts, _COUNTERS_SETTING)


_ONLY_BEFORE = Message("Only the baseline has the counters {before:name}.")
_ONLY_AFTER = Message("Only the candidate has the counters {after:name}.")
_COUNTERS_SETTING = Message(
    "The setting of the profiler, the device or the toolkit differs. Counters of only one side are "
    "not compared."
)


def paired(note: Diagnostic) -> NoteText:
    is_even = note.values.get("fewest") == note.values.get("rounds")
    return told(_ONE_MACHINE, _ROUNDS if is_even else _ROUNDS_APART, _RATIOS)


_ONE_MACHINE = Message(
    "Both sides ran on the same machine with the same input, interleaved in random order."
)
_ROUNDS = Message("They were recorded in {blocks:processes} with {rounds:rounds} each.")
_ROUNDS_APART = Message(
    "They were recorded in {blocks:processes} with {fewest:count} to {rounds:rounds} each."
)
_RATIOS = Message("Ratios are taken inside a process.")


def load_seen(note: Diagnostic) -> NoteText:
    is_undecided = bool(note.values.get("undecided"))
    if note.values.get("no_reference"):
        return told(_LOAD_NOT_KNOWN, _IF_LOADED[is_undecided])
    return told(_LOADED, _UNDER_LOAD[is_undecided])


_LOADED = Message(
    "The machine was under load during the measurement: more than a fifth of the blocks were "
    "slower than its quiet reference."
)
_UNDER_LOAD = {
    False: Message("The sign of the change is reliable, its size may not be."),
    True: Message("On a quiet machine the noise may be smaller, and the answer clearer."),
}
_LOAD_NOT_KNOWN = Message(
    "No quiet reference of this machine was stored, so how much other work slowed the measured "
    "runs is not known."
)
_IF_LOADED = {
    False: Message("If it did, the sign of the change is reliable, and its size may not be."),
    True: Message(
        "If it did, the noise may be smaller on a quiet machine, and the answer clearer."
    ),
}


def machines(note: Diagnostic) -> NoteText:
    return _DEVICES_ALONE if note.values.get("devices") else _NO_MACHINES


_DEVICES_ALONE = told(
    Message(
        "The profiles name their device, but not the rest of the machine, the number of threads or "
        "the input."
    )
)
_NO_MACHINES = told(
    Message("The profiles do not name their machine, the number of threads or the input.")
)


def charged(note: Diagnostic) -> NoteText:
    """What the profiler's charge for every operator does to the answer, where that is known."""
    before, after = note.values.get("before"), note.values.get("after")
    if not isinstance(before, int) or not isinstance(after, int):
        return told(_PROFILED, _NOT_ALIKE)
    if note.values.get("is_fusion"):
        return told(_PROFILED, _FUSION_OVERSTATED)
    return told(_PROFILED, _FAVOURS[after < before])


_NOT_ALIKE = Message("A profiler slows runs down, and may not slow down both sides equally.")
_FUSION_OVERSTATED = Message(
    "Profilers add time to every operator. Fusion leaves fewer operators ({after:count} executions "
    "instead of {before:count}), so its gain is overstated."
)
# By whether the candidate runs fewer.
_FAVOURS: Mapping[bool, Message] = {
    True: Message(
        "Profilers add time to every operator. The candidate runs fewer operators ({after:count} "
        "executions instead of {before:count}), so the profiler favours the candidate."
    ),
    False: Message(
        "Profilers add time to every operator. The candidate runs more operators ({after:count} "
        "executions instead of {before:count}), so the profiler favours the baseline."
    ),
}


def communication(note: Diagnostic) -> NoteText:
    return _COMMUNICATION_OF_RUN if "per_run_ns" in note.values else _COMMUNICATION_OF_FILE


_ONE_HAS_SEVERAL = Message("That side ran on several devices. The other side may not have.")
_COMMUNICATION_OF_RUN = told(
    Message("Only the {on} contains communication ({per_run_ns:duration} per run)."),
    _ONE_HAS_SEVERAL,
)
_COMMUNICATION_OF_FILE = told(
    Message("Only the {on} contains communication ({per_file_ns:duration} in the file)."),
    _ONE_HAS_SEVERAL,
)


def runs(note: Diagnostic) -> NoteText:
    return {"step": _STEPS_DIFFER, "iteration": _ITERATIONS_DIFFER}.get(
        str(note.values["kind"]), _RUNS_DIFFER
    )


_RUNS_DIFFER = told(
    Message("The files contain different numbers of runs: {before:count} and {after:count}."),
    Message("Figures per run can be compared, totals of the files cannot."),
)
_STEPS_DIFFER = told(
    Message("The files contain different numbers of steps: {before:count} and {after:count}."),
    Message("Figures per step can be compared, totals of the files cannot."),
)
_ITERATIONS_DIFFER = told(
    Message("The files contain different numbers of iterations: {before:count} and {after:count}."),
    Message("Figures per iteration can be compared, totals of the files cannot."),
)


def heavy(note: Diagnostic) -> NoteText:
    return told(_HEAVY_A_RUN if note.values["per"] == "run" else _HEAVY_A_FILE, _TOO_MANY)


_HEAVY_A_RUN = Message(
    "Convolutions, matrix products and attentions per run: {before:count} in the baseline, "
    "{after:count} in the candidate."
)
_HEAVY_A_FILE = Message(
    "Convolutions, matrix products and attentions per file: {before:count} in the baseline, "
    "{after:count} in the candidate."
)


def operators(note: Diagnostic) -> NoteText:
    return told(_ALL_A_RUN if note.values["per"] == "run" else _ALL_A_FILE, _TOO_MANY)


_ALL_A_RUN = Message(
    "Operators per run: {before:count} in the baseline, {after:count} in the candidate."
)
_ALL_A_FILE = Message(
    "Operators per file: {before:count} in the baseline, {after:count} in the candidate."
)


def quantised(note: Diagnostic) -> NoteText:
    by = () if note.values.get("relative") is None else (_QUANTISED_BY,)
    return told(_QUANTISED, *by, _CODES)


_QUANTISED = Message("It is quantised to 8 bits, so its results differ on purpose.")
_QUANTISED_BY = Message("Its outputs differ by {relative:number} of the largest value.")
_CODES = Message("In its fusion groups, the codes of a tensor stand for the tensor.")


def detail(note: Diagnostic) -> NoteText:
    return _DETAIL[str(note.values["what"])]


_NAME_AND_ORDER = Message(
    "The files were recorded at different levels of detail, so operators are matched by name and "
    "order instead of shapes."
)
_DETAIL: Mapping[str, NoteText] = {
    "op types": told(Message("Only the {on} has op types."), _NAME_AND_ORDER),
    "shapes": told(Message("Only the {on} has shapes."), _NAME_AND_ORDER),
    "op types and shapes": told(Message("Only the {on} has op types and shapes."), _NAME_AND_ORDER),
}

Setting = Literal["model", "batch", "CPU", "logical cores", "engine", "threads", "spinning", "seed"]


def recordings(note: Diagnostic) -> NoteText:
    return told(_DIFFERENT[note.values["what"]])  # type: ignore[index]  # doubts.py has no others


_DIFFERENT: Mapping[Setting, Message] = {
    "model": Message(
        "The recordings are of different models: {baseline:name} and {candidate:name}."
    ),
    "batch": Message(
        "The recordings have different batch sizes: {baseline:count} and {candidate:count}."
    ),
    "CPU": Message("The recordings are of different CPUs: {baseline:name} and {candidate:name}."),
    "logical cores": Message(
        "The recordings are of machines with different numbers of logical cores: {baseline:count} "
        "and {candidate:count}."
    ),
    "engine": Message(
        "The recordings are of different engines: {baseline:name} and {candidate:name}."
    ),
    "threads": Message(
        "The recordings ran with different numbers of threads: {baseline:count} and "
        "{candidate:count}."
    ),
    "spinning": _SPINNING,
    "seed": Message("The recordings have different seeds: {baseline} and {candidate}."),
}
SIDES: Mapping[str, Message] = {
    "baseline": Message("baseline"),
    "candidate": Message("candidate"),
}
LEVELS: Mapping[str, Message] = {
    "device_kernel": Message("kernels of a device"),
    "framework_op": Message("operators of a framework"),
    "graph_layer": Message("layers of a graph"),
}
