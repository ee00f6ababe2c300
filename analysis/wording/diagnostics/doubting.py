"""Sentences for doubts about a comparison."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.messages import Message
from fusescope.analysis.trace import DiagnosticCode
from fusescope.analysis.wording.diagnostics import depending, ranks
from fusescope.analysis.wording.diagnostics.text import NoteTexts, told, told_of_change

_NO_GRAPHS = Message("Fusion groups could not be read from graphs.")
_PEAK_OR_FLOPS = Message("The measured peak is too low, or FLOPs are counted too high.")
_LITTLE_JOINED = Message(
    "Only {before:percent} of the baseline's and {after:percent} of the candidate's operator time "
    "has a counterpart on the other side, by name, shape, group or launcher. At least a fifth is "
    "needed."
)
_LEFT_OUT = Message("What depends on it is left out.")
_ALTERNATE = Message(
    "Record both sides by turns, every recording a process of its own: docs/alternating.md has a "
    "loop for each profiler."
)

DOUBTING: Mapping[DiagnosticCode, NoteTexts] = {
    "part_missing": told(
        Message("The experiment does not contain its file '{file:name}'."), _LEFT_OUT
    ),
    "part_unreadable": told(
        Message("The file '{file:name}' in the experiment is damaged: {reason}."), _LEFT_OUT
    ),
    "graph_missing": told(Message("The experiment does not contain its graph."), _NO_GRAPHS),
    "graph_not_shown": told(Message("The engine did not show its graph: {reason}."), _NO_GRAPHS),
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
            "{n:count} group was inferred from the order of operators and what both files say of "
            "them.",
            "{n:count} groups were inferred from the order of operators and what both files say of "
            "them.",
        ),
        Message("Neither graphs nor names of members connect the operators of the two files."),
    ),
    "groups_not_formed": told(
        Message(
            "One side has more than {n:count} distinct operators, too many to put them into groups."
        ),
        Message("The table of operators sets those of one name side by side."),
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
            "Where kernels have other names on the two sides, for example because of another GPU "
            "or another library, what launched them says which operator they are for."
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
        Message(
            "Neither its name, its type nor what launched it says what it became, or what it "
            "replaces.",
            "Neither their names, their types nor what launched them say what they became, or what "
            "they replace.",
        ),
    ),
    "same_variant": told(
        Message("Both sides are the same variant of one recording."),
        Message("There is nothing to compare."),
    ),
    "paired": depending.paired,
    "paired_command": told(
        Message("Both sides ran the same command on the same machine, by turns in random order."),
        Message(
            "They were recorded in {blocks:blocks}. In each, every variant ran in a process of its "
            "own."
        ),
    ),
    "command_time": depending.command_time,
    "command_profiled": told(
        Message("The timed runs also wrote the traces, so their times include profiling."),
        Message(
            "Where the command has a switch for it, record with --profile-env or --profile-arg: "
            "then other runs are profiled."
        ),
    ),
    "command_traced": told(
        Message("The traces are of one more run of each variant, which was not timed."),
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
    "unpaired": told_of_change(
        Message(
            "These are two separate recordings, so drift of the machine between them is not "
            "controlled."
        ),
        Message("Record both variants together to get an answer that you can trust."),
    ),
    "exports_renumbered": told(
        Message(
            "The two exports of the model number its nodes differently: {n:count} layer was joined "
            "by the name of its weight, and the others after it.",
            "The two exports of the model number its nodes differently: {n:count} layers were "
            "joined by the names of their weights, and the others after them.",
        )
    ),
    "source_moved": told(
        Message(
            "{n:count} operator of the program was written on another line or in another file on "
            "the two sides, and joined by its path in the program.",
            "{n:count} operators of the program were written on other lines or in another file on "
            "the two sides, and joined by their paths in the program.",
        )
    ),
    "ranks_of_one_job": ranks.one_job,
    "ranks_apart": ranks.apart,
    "worlds_differ": ranks.WORLDS,
    "one_recording": told(
        Message("Both sides are of one recording: they ran on the machine at the same time."),
        Message("Only a change beyond 30 % counts as faster or slower, as for any two processes."),
    ),
    "one_process_each": told(
        Message("Each file is the recording of one process."),
        Message(
            "How much two processes of the same graph differ is not in them. On a shared CPU 7 % "
            "of pairs that ran one right after the other differed by more than 30 %, and 36 % of "
            "pairs far apart, so only a change beyond 30 % counts as faster or slower; on a device "
            "they may differ less."
        ),
        Message(
            "Five or more recordings of each side, made alternately and given together, would "
            "settle it."
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
    "recordings_differ": depending.recordings,
    "one_side_unknown": told(
        Message("One side is a profile without a record of machine, threads and input."),
        Message("Whether these are the same cannot be checked."),
    ),
    "machines_unknown": depending.machines,
    "same_file": told(Message("Both sides are the same file.")),
    "tools_differ": told(
        Message("The files come from different profilers: {before:name} and {after:name}."),
        Message("Profilers count and time operators differently."),
    ),
    "formats_differ": told(
        Message("The files have different formats: '{before:name}' and '{after:name}'."),
        Message("They may not contain the same rows."),
    ),
    "versions_differ": told_of_change(
        Message(
            "The files come from different versions of the profiler: {before:name} and "
            "{after:name}."
        ),
        Message("Part of the change may come from that."),
    ),
    "device_counts_differ": depending.counts_of_units,
    "devices_differ": told_of_change(
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
    "engines_differ": told_of_change(
        Message("The sides ran in different engines: {before:name} and {after:name}."),
        Message(
            "The change is that of everything in which they differ: kernels, layouts, threads and "
            "what is fused. What fusion brings, only two variants of one engine can say."
        ),
    ),
    "engine_versions_differ": told_of_change(
        Message("The sides ran in different versions: {before:name} and {after:name}."),
        Message(
            "The change is that of everything in which they differ: the compiler, its kernels, the "
            "libraries of both and what is fused."
        ),
    ),
    "translated": told(
        Message("{engine:name} ran the model as FuseScope translates it from ONNX."),
        Message("A model that was written for this engine by hand may run faster or slower."),
    ),
    "providers_differ": told_of_change(
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
    "runs_differ": depending.runs,
    "communication_differs": depending.communication,
    "compared_cut_short": told(
        Message(
            "The file of the {on} ends early: only {n:count} run is complete in it.",
            "The file of the {on} ends early: only {n:count} runs are complete in it.",
        ),
        Message("Every figure of it is of complete runs."),
    ),
    "compared_open_end": told(
        Message("The last line of the file of the {on} has no line end."),
        Message("If it was cut off there, its totals are too low."),
    ),
    "compared_rows_lost": told(
        Message(
            "{n:count} of {of:count} records ({share:percent}) of the {on} was lost: it could not "
            "be read, or has no valid time.",
            "{n:count} of {of:count} records ({share:percent}) of the {on} were lost: they could "
            "not be read, or have no valid time.",
        ),
        Message("Every figure of it is of the others."),
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
    "counters_differ": depending.counters,
    "detail_differs": depending.detail,
    "heavy_counts_differ": depending.heavy,
    "operator_counts_differ": depending.operators,
    "device_busy": told(
        Message(
            "Before the recording, other work used the device: {used_bytes:bytes} of its memory, "
            "at work for {busy:percent} of the time."
        ),
        Message("End it, and record again: what it takes differs from run to run."),
    ),
    "stopped_device": told(
        Message("The device failed after {blocks:blocks}, which ended the recording.")
    ),
    "stopped_interrupted": told(Message("The recording was interrupted after {blocks:blocks}.")),
    "stopped_seconds": told(Message("The time budget ended the recording after {blocks:blocks}.")),
    "load_seen": depending.load_seen,
    "blocks_loaded": told(
        Message(
            "Blocks that ran more than 10 % slower than this machine does when it is quiet: "
            "{replaced:count} replaced, {loaded:count} kept."
        )
    ),
    "different_models": told(
        Message("These look like different models, so no change between them is shown."),
        _LITTLE_JOINED,
    ),
    "different_sizes": told(
        Message(
            "The weights of the matrix products have different sizes: {before} in the "
            "baseline, {after} in the candidate."
        ),
        Message("These are two models, or one in two sizes, so no change between them is shown."),
    ),
    "models_unknown": told(
        Message(
            "Nothing in the files shows that they are of the same model, so no change between them "
            "is shown."
        ),
        Message(
            "Their kernels agree in hardly any place. Of the operator time, {before:percent} of "
            "the baseline's and {after:percent} of the candidate's has tensors of the same shape "
            "on the other side, or is what a fused operator there names. At least a fifth is "
            "needed."
        ),
    ),
    "model_not_shown": told(
        Message("Nothing in the files shows that they are of the same model."),
        Message("Most of a side's time is in operators of unknown kind, and no other ones agree."),
    ),
    "different_work": told(
        Message("The two sides have little work in common, so no change between them is shown."),
        _LITTLE_JOINED,
    ),
    "different_phases": told(
        Message("The files are of two phases of serving, so no change between them is shown."),
        Message("Compare two files of one phase to see what changed."),
    ),
    "capture_and_replay": told(
        Message("One file is the capture of a graph, which runs none of its kernels."),
        Message("Compare two files that run the graph to see what changed."),
    ),
    "runs_unknown": told(
        Message("One side does not mark its runs."),
        Message("Its figures per run are those of the whole file."),
    ),
    "detail_borrowed": depending.detail_borrowed,
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
    "load": depending.load,
    "boundaries_included": depending.boundaries,
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
            "Profiled runs typically take {baseline:factor} (baseline) and {candidate:factor} "
            "(candidate) the time of un-profiled ones."
        ),
        Message("Latency is measured without the profiler, operator times are not."),
    ),
    "profiled_headline": depending.charged,
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
    "outputs_not_compared": depending.outputs,
    "quantised": depending.quantised,
    "one_class": told(
        Message("The recording's baseline chose one class for all of {samples:samples}."),
        Message("Agreement with it means little."),
    ),
    "biased_rows": told(
        Message(
            "{share:percent} of operator time is in executions under 20 µs, where the profiler's "
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
    "weak_attribution": depending.attribution,
    "change_unexplained": told(
        Message(
            "The changes that were found leave {rest_ns:signed_duration} unexplained; the whole "
            "change is {change_ns:signed_duration}."
        )
    ),
    "slow_executions": told(
        Message(
            "{n:count} group is dominated by single slow executions.",
            "{n:count} groups are dominated by single slow executions.",
        ),
        Message(
            "These executions change a group's mean time by more than its gain and its interval. "
            "They are not part of any gain; the ledger shows them in a separate line."
        ),
    ),
    "mean_differs": told(
        Message(
            "The mean run changed by {mean:change}. The typical run, which the verdict is about, "
            "changed by {typical:change}. The ledger has slow runs in a separate line."
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
