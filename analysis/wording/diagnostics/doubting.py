"""Sentences for doubts about a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from analysis.messages import Message
from analysis.trace import Diagnostic, DiagnosticCode
from analysis.wording.diagnostics.text import NoteText, NoteTexts, told

_NO_GRAPHS = Message("Fusion groups could not be read from graphs.")
_PEAK_OR_FLOPS = Message("The measured peak is too low, or FLOPs are counted too high.")
_TOO_MANY = Message(
    "Fusion does not explain such a difference: these may be different models, batch sizes or "
    "numbers of runs."
)
_LEFT_OUT = Message("What depends on it is left out.")
_PROFILED = Message("The verdict is based on {of}.")
_ALTERNATE = Message(
    "Record both sides by turns, every recording a process of its own: docs/alternating.md has a "
    "loop for each profiler."
)
_SPINNING = Message(
    "The recordings differ in whether threads spin: {baseline:name} and {candidate:name}."
)
_BOUNDARY_COST = Message("Each boundary costs about 40 to 100 µs, which is part of this change.")


def _boundaries(note: Diagnostic) -> NoteText:
    pieces, twin = note.values.get("pieces"), note.values.get("same_cut")
    is_known = isinstance(pieces, int) and pieces > 1
    then = (_BOUNDARY_COST,) if twin is None else (_BOUNDARY_COST, _KERNEL_ALONE)
    return told(_SEVERAL_PIECES if is_known else _IN_PIECES, *then)


_SEVERAL_PIECES = Message(
    "It runs in {pieces:count} pieces and passes tensors between them. The other side does not."
)
_IN_PIECES = Message("It runs in pieces and passes tensors between them. The other side does not.")
_KERNEL_ALONE = Message("Compare with {same_cut:name} to see the kernel alone.")


def _load(note: Diagnostic) -> NoteText:
    return _LOAD_BEFORE if note.values.get("after") is None else _LOAD


_LOAD = told(
    Message(
        "Load average {before:tenths} before the recording and {after:tenths} after it, on "
        "{cores:cores}."
    )
)
_LOAD_BEFORE = told(Message("Load average {before:tenths} before the recording, on {cores:cores}."))


def _counters(note: Diagnostic) -> NoteText:
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


def _load_seen(note: Diagnostic) -> NoteText:
    return told(_SEEN, _SEEN_UNDECIDED if note.values.get("undecided") else _SEEN_DECIDED)


_SEEN = Message("The machine was under load during the measurement, or may have been.")
_SEEN_DECIDED = Message(
    "No quiet reference of this machine was stored, or more than a fifth of the blocks were slower "
    "than it. The sign of the change is reliable, its size may not be."
)
_SEEN_UNDECIDED = Message(
    "No quiet reference of this machine was stored, or more than a fifth of the blocks were slower "
    "than it. On a quiet machine the noise may be smaller, and tell more."
)


def _machines(note: Diagnostic) -> NoteText:
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


def _charged(note: Diagnostic) -> NoteText:
    """What the profiler's charge for every operator does to the answer, where that is known."""
    before, after = note.values.get("before"), note.values.get("after")
    if not isinstance(before, int) or not isinstance(after, int):
        return told(_PROFILED, _NOT_ALIKE)
    if note.values.get("is_fusion"):
        return told(_PROFILED, _FUSION_OVERSTATED)
    return told(_PROFILED, _FAVOURS_CANDIDATE if after < before else _FAVOURS_BASELINE)


_NOT_ALIKE = Message("A profiler slows runs down, and may not slow down both sides equally.")
_FUSION_OVERSTATED = Message(
    "Profilers add time to every operator. Fusion leaves fewer operators ({after:count} executions "
    "instead of {before:count}), so its gain is overstated."
)
_FAVOURS_CANDIDATE = Message(
    "Profilers add time to every operator. The candidate runs fewer operators ({after:count} "
    "executions instead of {before:count}), so the profiler favours the candidate."
)
_FAVOURS_BASELINE = Message(
    "Profilers add time to every operator. The candidate runs more operators ({after:count} "
    "executions instead of {before:count}), so the profiler favours the baseline."
)


def _runs(note: Diagnostic) -> NoteText:
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


def _heavy(note: Diagnostic) -> NoteText:
    return told(_HEAVY_A_RUN if note.values["per"] == "run" else _HEAVY_A_FILE, _TOO_MANY)


_HEAVY_A_RUN = Message(
    "Convolutions, matrix products and attentions per run: {before:count} in the baseline, "
    "{after:count} in the candidate."
)
_HEAVY_A_FILE = Message(
    "Convolutions, matrix products and attentions per file: {before:count} in the baseline, "
    "{after:count} in the candidate."
)


def _operators(note: Diagnostic) -> NoteText:
    return told(_ALL_A_RUN if note.values["per"] == "run" else _ALL_A_FILE, _TOO_MANY)


_ALL_A_RUN = Message(
    "Operators per run: {before:count} in the baseline, {after:count} in the candidate."
)
_ALL_A_FILE = Message(
    "Operators per file: {before:count} in the baseline, {after:count} in the candidate."
)


def _quantised(note: Diagnostic) -> NoteText:
    by = () if note.values.get("relative") is None else (_QUANTISED_BY,)
    return told(_QUANTISED, *by, _CODES)


_QUANTISED = Message("It is quantised to 8 bits, so its results differ on purpose.")
_QUANTISED_BY = Message("Its outputs differ by {relative:number} of the largest value.")
_CODES = Message("In its fusion groups, the codes of a tensor stand for the tensor.")


def _detail(note: Diagnostic) -> NoteText:
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


def _recordings(note: Diagnostic) -> NoteText:
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

DOUBTING: Mapping[DiagnosticCode, NoteTexts] = {
    "part_missing": told(
        Message("The experiment does not contain its file '{file:name}'."), _LEFT_OUT
    ),
    "part_unreadable": told(
        Message("The file '{file:name}' in the experiment is damaged: {reason}."), _LEFT_OUT
    ),
    "graph_missing": told(Message("The experiment does not contain its graph."), _NO_GRAPHS),
    "graph_foreign": told(
        Message("Its graph does not have the inputs and outputs of the model."),
        Message("It is not a graph of this model."),
        _NO_GRAPHS,
    ),
    "graphs_of_two_models": told(
        Message("The two sides are recordings of different models."), _NO_GRAPHS
    ),
    "graph_ambiguous": told(
        Message("Several operators, or several of their results, have the same name in its graph."),
        _NO_GRAPHS,
    ),
    "graph_unusable": told(Message("Fusion groups could not be read from graphs: {reason}.")),
    "boundary_mismatch": told(
        Message(
            "{n:count} fusion group has boundary tensors different from those in the model.",
            "{n:count} fusion groups have boundary tensors different from those in the model.",
        ),
        Message("Part of the gain may belong to neighbouring groups."),
    ),
    "values_missing": told(
        Message(
            "{n:count} operator could not be run by itself while values were compared, so no "
            "boundary of it is known.",
            "{n:count} operators could not be run by themselves while values were compared, so no "
            "boundary of them is known.",
        ),
        Message("Groups with them are larger than necessary."),
    ),
    "unexplained_operators": told(
        Message(
            "{n:count} operator is in no fusion group, because its original operators are not "
            "known.",
            "{n:count} operators are in no fusion group, because their original operators are not "
            "known.",
        )
    ),
    "unmapped_originals": told(
        Message(
            "{n:count} operator of the model is in no fusion group, so the ledger does not show "
            "what became of it.",
            "{n:count} operators of the model are in no fusion group, so the ledger does not show "
            "what became of them.",
        )
    ),
    "untimed_operators": told(
        Message(
            "{n:count} operator in fusion groups has no time in the trace and counts as 0.",
            "{n:count} operators in fusion groups have no time in the trace and count as 0.",
        )
    ),
    "groups_inferred": told(
        Message(
            "{n:count} group was inferred from type, shapes and order.",
            "{n:count} groups were inferred from type, shapes and order.",
        ),
        Message("Neither graphs nor names of members connect the operators of the two files."),
    ),
    "originals_recomputed": told(
        Message(
            "{n:count} operator of the model is computed again in several kernels: the compiler "
            "did not keep its result.",
            "{n:count} operators of the model are computed again in several kernels: the compiler "
            "did not keep their results.",
        )
    ),
    "originals_unmatched": told(
        Message(
            "The operators of the {on} are not those of the graph that torch.compile was given, in "
            "type and order."
        ),
        Message(
            "Give the log that TORCH_TRACE writes, which has that graph, and two traces of one "
            "model."
        ),
    ),
    "groups_launched": told(
        Message(
            "{n:count} group of kernels was joined by the framework operator that launched them.",
            "{n:count} groups of kernels were joined by the framework operator that launched them.",
        ),
        Message(
            "The kernels have different names on the two sides, for example because of another GPU "
            "or another library."
        ),
    ),
    "groups_listed": told(
        Message(
            "{n:count} group has generated kernels whose names list op types that the operators "
            "of the other side have.",
            "{n:count} groups have generated kernels whose names list op types that the operators "
            "of the other side have.",
        ),
        Message(
            "A name proves nothing. The compiler's map does: record the compiled side with "
            "TORCH_TRACE=FOLDER and INDUCTOR_PROVENANCE=1 set, and give the log in that folder "
            "with its trace."
        ),
    ),
    "groups_by_class": told(
        Message(
            "{n:count} group of kernels was joined only by operator class.",
            "{n:count} groups of kernels were joined only by operator class.",
        ),
        Message(
            "Neither names nor launchers agree, so such a group only shows how the time of the "
            "class changed."
        ),
    ),
    "inferred_without_partner": told(
        Message("{n:count} operator is in no group.", "{n:count} operators are in no group."),
        Message("What they became, or what they replace, is not known."),
    ),
    "same_variant": told(
        Message("Both sides are the same variant of one recording."),
        Message("There is nothing to compare."),
    ),
    "paired": told(
        Message(
            "Both sides ran on the same machine with the same input, interleaved in random order."
        ),
        Message("They were recorded in {blocks:processes} with {rounds:rounds} each."),
        Message("Ratios are taken inside a process."),
    ),
    "paired_engines": told(
        Message("Both sides ran on the same machine with the same input."),
        Message(
            "They were recorded in {blocks:blocks}. In each, every variant ran in a process of its "
            "own, one after the other in random order."
        ),
        Message(
            "Peak memory is counted from where the engine is imported, so it leaves out the "
            "engine's own code that was loaded by then."
        ),
    ),
    "paired_releases": told(
        Message("Both sides ran on the same machine with the same input."),
        Message(
            "They were recorded in {blocks:blocks}. Each release of the engine ran in its own "
            "process, one after the other in random order."
        ),
    ),
    "paired_providers": told(
        Message("Both sides ran on the same machine with the same input."),
        Message(
            "They were recorded in {blocks:blocks}. Execution providers bring engines of their "
            "own, so each variant ran in its own process, one after the other in random order."
        ),
    ),
    "paired_spin": told(
        Message("Both sides ran on the same machine with the same input."),
        Message(
            "They were recorded in {blocks:blocks}. Threads of a variant spin, so each ran in its "
            "own process."
        ),
    ),
    "unpaired": told(
        Message(
            "These are two separate recordings, so drift of the machine between them is not "
            "controlled."
        ),
        Message(
            "Recordings of the same graph under changing load differed by up to 1.8×. Record both "
            "variants together to get an answer that you can trust."
        ),
    ),
    "one_process_each": told(
        Message("Each file is the recording of one process."),
        Message(
            "Of pairs of processes that ran the same graph one right after the other, 7 % differed "
            "by more than 30 %; of pairs far apart 36 %. Only a change beyond 30 % gives a verdict."
        ),
    ),
    "files_paired": told(
        Message("The files of both sides were recorded alternately."),
        Message("Each is compared with its neighbour, so drift of the machine cancels out."),
    ),
    "files_alternate": told(
        Message("The files of both sides were recorded alternately, but not in pairs."),
        Message("Drift of the machine is in the interval, which is wider for it."),
    ),
    "files_in_turn": told(
        Message(
            "The files of one side were recorded after those of the other, so drift of the machine "
            "is in the change."
        ),
        _ALTERNATE,
    ),
    "files_undated": told(
        Message(
            "The files do not say when they were recorded, so they count as recorded one side "
            "after the other, with drift of the machine in the change."
        ),
        _ALTERNATE,
    ),
    "files_unlike": told(
        Message(
            "{n:count} file ran other operators than the first one: {example:name}.",
            "{n:count} files ran other operators than the first one, {example:name} among them.",
        ),
        Message("Does it belong to the other side? The files of a side are of one graph."),
    ),
    "recordings_differ": _recordings,
    "one_side_unknown": told(
        Message("One side is a profile without a record of machine, threads and input."),
        Message("Whether these are the same cannot be checked."),
    ),
    "machines_unknown": _machines,
    "same_file": told(Message("Both sides are the same file.")),
    "tools_differ": told(
        Message("The files come from different profilers: {before:name} and {after:name}."),
        Message("Profilers count and time operators differently."),
    ),
    "formats_differ": told(
        Message("The files have different formats: '{before:name}' and '{after:name}'."),
        Message("They may not contain the same rows."),
    ),
    "versions_differ": told(
        Message(
            "The files come from different versions of the profiler: {before:name} and "
            "{after:name}."
        ),
        Message("Part of the change may come from that."),
    ),
    "devices_differ": told(
        Message("The files were recorded on different devices: {before:name} and {after:name}."),
        Message("The change is not caused by fusion alone."),
    ),
    "requests_at_once": told(
        Message(
            "{requests:count} requests run at once, and the time of a run is that of all of them / "
            "their number."
        ),
        Message("So it is the inverse of the throughput: what one request waits is longer."),
    ),
    "engines_differ": told(
        Message("The sides ran in different engines: {before:name} and {after:name}."),
        Message(
            "The change is that of everything in which they differ: kernels, layouts, threads and "
            "what is fused. What fusion brings, only two variants of one engine can say."
        ),
    ),
    "translated": told(
        Message("{engine:name} ran the model as FuseScope translates it from ONNX."),
        Message("A model that was written for this engine by hand may run faster or slower."),
    ),
    "providers_differ": told(
        Message(
            "The sides ran with different execution providers: {before:name} and {after:name}."
        ),
        Message(
            "The change is that of everything in which they differ, kernels and layouts among it, "
            "not of fusion alone."
        ),
    ),
    "engine_profiles_differ": told(
        Message("Operators were timed by two profilers: those of {before:name} and {after:name}."),
        Message(
            "They slow runs down differently, and mean different things by an operator, its type, "
            "and the time between two. So times of operators and gains of groups are less certain "
            "than the run times, which need no profiler."
        ),
    ),
    "levels_differ": told(
        Message("The operators of the baseline are {before}, those of the candidate are {after}."),
        Message("They are not the same things."),
    ),
    "runs_differ": _runs,
    "communication_differs": told(
        Message("Only the {on} contains communication ({per_file_ns:duration} in the file)."),
        Message("That side ran on several devices. The other side may not have."),
    ),
    "compared_cut_short": told(
        Message("The file of the {on} ends before its recording did."),
        Message("The figures of its last run and its totals are too low."),
    ),
    "counters_on_one_side": told(
        Message("Only the {on} was recorded with hardware counters ({names:name})."),
        Message("Counters can slow down a recording."),
    ),
    "counter_units_differ": told(
        Message(
            "{n:count} counter has different units: {before:name} and {after:name}.",
            "{n:count} counters have different units, first {before:name} and {after:name}.",
        ),
        Message("Counters with different units are not compared."),
        counted="count",
    ),
    "counters_differ": _counters,
    "detail_differs": _detail,
    "heavy_counts_differ": _heavy,
    "operator_counts_differ": _operators,
    "stopped_interrupted": told(Message("The recording was interrupted after {blocks:blocks}.")),
    "stopped_seconds": told(Message("The time budget ended the recording after {blocks:blocks}.")),
    "load_seen": _load_seen,
    "blocks_loaded": told(
        Message(
            "Blocks that ran more than 10 % slower than this machine does when it is quiet: "
            "{replaced:count} replaced, {loaded:count} kept."
        )
    ),
    "different_models": told(
        Message("These look like different models, so no change between them is shown."),
        Message(
            "Only {before:percent} of the baseline's and {after:percent} of the candidate's "
            "operator time has a counterpart on the other side, by name, shape, group or launcher. "
            "At least a fifth is needed."
        ),
    ),
    "runs_unknown": told(
        Message("One side does not mark its runs."),
        Message("Its figures per run are those of the whole file."),
    ),
    "detail_borrowed": told(
        Message(
            "The {on} was recorded with less detail, so the other file was used to tell its "
            "operators apart: {names:names} by the order of the calls, {types:operators} by name."
        ),
        Message("Times and counts are its own."),
    ),
    "runs_entered": told(
        Message("The file does not mark its runs."),
        Message(
            "It was cut into {n:runs}, as entered, and every figure per run depends on that number."
        ),
    ),
    "runs_averaged": told(
        Message("The file contains totals and does not mark its runs."),
        Message(
            "It counts as one average run of {n:runs}, as entered, so how much the runs differ is "
            "not known."
        ),
    ),
    "compiled_subgraphs": told(
        Message(
            "{n:count} subgraph of the execution provider ran as one call.",
            "{n:count} subgraphs of the execution provider ran as one call each.",
        ),
        Message(
            "What it fused inside and which operators took how long is not recorded, so the gain "
            "of such a group is that of all of its operators together."
        ),
    ),
    "subgraphs": told(
        Message(
            "Cache and traffic figures do not include the bodies of {nodes:operators} with "
            "subgraphs (Loop, If or Scan)."
        )
    ),
    "unsized_tensors": told(
        Message("Cache and traffic figures do not include {tensors:tensors} of unknown size.")
    ),
    "load": _load,
    "boundaries_included": _boundaries,
    "governor": told(Message("The CPU frequency governor was '{governor:name}'.")),
    "other_baseline": told(
        Message(
            "The A/A control and the output difference refer to '{baseline:name}', the baseline of "
            "the recording."
        )
    ),
    "control": told(
        Message(
            "A/A control: two copies of the baseline differ by {low:factor} to {high:factor} (99 % "
            "interval)."
        )
    ),
    "decided_at": told(
        Message(
            "The verdict was decided after {look:blocks}, at a significance level of "
            "{alpha:number}."
        )
    ),
    "profiler_inflation": told(
        Message(
            "Profiled runs take {baseline:factor} (baseline) and {candidate:factor} (candidate) "
            "the time of un-profiled ones."
        ),
        Message("Latency is measured without the profiler, operator times are not."),
    ),
    "profiled_headline": _charged,
    "slow_first_runs": told(
        Message(
            "{n:count} slow first run is not counted in operator figures, because it is warm-up.",
            "{n:count} slow first runs are not counted in operator figures, because they are "
            "warm-up.",
        ),
        counted="runs",
    ),
    "large_output_difference": told(
        Message(
            "Its outputs differ from those of the recording's baseline by {relative:number} of "
            "their largest value."
        ),
        Message("This is more than rounding explains: check that it computes the same model."),
    ),
    "quantised": _quantised,
    "one_class": told(
        Message("The recording's baseline chose one class for all of {samples:samples}."),
        Message("Agreement with it means little."),
    ),
    "biased_rows": told(
        Message(
            "{share:percent} of operator time is in operators under 20 µs, where the profiler's "
            "own cost is a large part."
        )
    ),
    "unknown_operators": told(
        Message("{share:percent} of operator time is of unknown class."),
        Message("The true small-op ratio may be higher by up to that much."),
    ),
    "classes_unknown": told(
        Message(
            "{share:percent} of operator time is of unknown class, so there is no small-op ratio."
        )
    ),
    "operators_over_one": told(
        Message(
            "{n:count} operator has a compute utilisation above 100 %.",
            "{n:count} operators have a compute utilisation above 100 %.",
        ),
        _PEAK_OR_FLOPS,
        counted="operators",
    ),
    "weak_attribution": told(
        Message("The operators' own times explain only part of the change."),
        Message(
            "Slow executions, dispatch and profiler bias together changed by "
            "{beside_ns:signed_duration}, the whole run changed by {delta_ns:signed_duration}."
        ),
    ),
    "slow_executions": told(
        Message(
            "{n:count} fusion group is dominated by single slow executions.",
            "{n:count} fusion groups are dominated by single slow executions.",
        ),
        Message(
            "These executions change a group's mean time by more than its gain and its interval. "
            "They are not part of any gain; the ledger shows them in a separate line."
        ),
    ),
    "mean_differs": told(
        Message(
            "The ledger adds up to the change of the mean run, {mean:change}. The typical run, "
            "which the verdict is about, changed by {typical:change}."
        ),
        Message("A few slow runs have a large effect on the mean."),
    ),
    "not_in_graph": told(
        Message(
            "{n:count} operator of the trace is not in its graph, so it is in no fusion group: "
            "{per_run_ns:duration} per run.",
            "{n:count} operators of the trace are not in its graph, so they are in no fusion "
            "group: {per_run_ns:duration} per run.",
        )
    ),
    "utilisation_over_one": told(
        Message("Compute utilisation is {value:percent}."), _PEAK_OR_FLOPS
    ),
}
