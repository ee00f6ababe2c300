"""Sentences for what readers noticed in a file."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.messages import Message
from analysis.trace import Diagnostic, DiagnosticCode
from analysis.wording.diagnostics.text import NoteText, NoteTexts, told

_OF_ALL_PROCESSES = Message(
    "Counts and sums are of all of them together. Give the file of a single process."
)
_OF_ALL_DEVICES = Message(
    "Counts and sums are of all of them together. Give the file of a single device."
)
_ALL_RANKS = Message(
    "Recordings of several ranks or periods were probably joined, and sums are of all of them."
)
_TOO_LOW = Message("Counts and sums are too low.")


def _unclosed_quotes(note: Diagnostic) -> NoteText:
    return _QUOTES_LEFT_OUT if note.values.get("left_out") else _QUOTES


def _ambiguous_commas(note: Diagnostic) -> NoteText:
    return _DECIMAL_COMMAS if note.values.get("decimal") else _GROUPING_COMMAS


def _averaged(note: Diagnostic) -> NoteText:
    return _ONE_ITERATION if note.count == 1 else _MEANS


def _event_cap(note: Diagnostic) -> NoteText:
    return _STOPPED_EARLY if note.count == 1 else _STOPPED_AT_LIMIT


_QUOTES = told(
    Message(
        "{n:count} row has a quotation mark that is not closed.",
        "{n:count} rows have a quotation mark that is not closed.",
    ),
    Message("What follows was read row by row."),
)
_QUOTES_LEFT_OUT = told(
    _QUOTES.fact,
    Message("What follows was read row by row, and {left_out:rows} could not be read at all."),
)
_DECIMAL_COMMAS = told(
    Message(
        "{n:count} number has a comma that may group digits or be the decimal sign. It was read "
        "as the decimal sign.",
        "{n:count} numbers have a comma that may group digits or be the decimal sign. It was read "
        "as the decimal sign.",
    ),
    Message("If the numbers are a thousand times too small, save the table with decimal points."),
)
_GROUPING_COMMAS = told(
    Message(
        "{n:count} number has a comma that may group digits or be the decimal sign. It was read "
        "as grouping digits.",
        "{n:count} numbers have a comma that may group digits or be the decimal sign. It was read "
        "as grouping digits.",
    ),
    Message("If the numbers are a thousand times too large, save the table with decimal points."),
)
_ONE_ITERATION = told(Message("The file contains the times of one iteration."))
_MEANS = told(
    Message("The file contains means over {n:iterations}."), Message("They count as one run.")
)
_STOPPED_EARLY = told(Message("The profiler stopped before the end of the recording."), _TOO_LOW)
_STOPPED_AT_LIMIT = told(
    Message("The file contains exactly {n:events}, the profiler's limit."), _TOO_LOW
)

READING: Mapping[DiagnosticCode, NoteTexts] = {
    "bad_unicode": told(
        Message(
            "{n:count} invalid character was replaced.",
            "{n:count} invalid characters were replaced.",
        )
    ),
    "bad_event": told(
        Message(
            "{n:count} malformed event was left out.", "{n:count} malformed events were left out."
        )
    ),
    "bad_time": told(
        Message(
            "{n:count} event without a valid time was left out.",
            "{n:count} events without a valid time were left out.",
        )
    ),
    "short_rows": told(
        Message(
            "{n:count} row has fewer cells than the header. The missing cells are empty.",
            "{n:count} rows have fewer cells than the header. The missing cells are empty.",
        )
    ),
    "long_rows": told(
        Message(
            "{n:count} row has more cells than the header. The extra cells were left out.",
            "{n:count} rows have more cells than the header. The extra cells were left out.",
        )
    ),
    "unclosed_quotes": _unclosed_quotes,
    "heads_again": told(
        Message(
            "The header is repeated once, so several tables were joined into this file.",
            "The header is repeated {n:count} times, so several tables were joined into this file.",
        ),
        Message("Every row counts, and exact copies of a row count once."),
    ),
    "rows_twice": told(
        Message(
            "{n:count} duplicate row with the same name, time and place was left out.",
            "{n:count} duplicate rows with the same name, time and place were left out.",
        ),
        Message("The file may have been joined or exported twice."),
    ),
    "samples_twice": told(
        Message(
            "{n:count} duplicate run time with the same start and length was left out.",
            "{n:count} duplicate run times with the same start and length were left out.",
        ),
        Message("Files were joined or given twice."),
    ),
    "runs_twice": told(
        Message(
            "{n:count} duplicate run with the same times of all layers was left out.",
            "{n:count} duplicate runs with the same times of all layers were left out.",
        ),
        Message("The file may have been joined with a copy of itself."),
    ),
    "total_row": told(
        Message("The last row was left out, because it is the sum or mean of all others.")
    ),
    "starts_go_back": told(
        Message(
            "Start times go back once in a table that is otherwise sorted.",
            "Start times go back {n:count} times in a table that is otherwise sorted.",
        ),
        _ALL_RANKS,
    ),
    "totals_joined": told(
        Message(
            "{n:count} row of totals has the name of an earlier row.",
            "{n:count} rows of totals have the name of an earlier row.",
        ),
        Message(
            "Tables of several devices or recordings were joined, and sums are of all of them."
        ),
    ),
    "streams_overlap": told(
        Message(
            "{n:count} of {of:count} executions begins while its stream still runs another one.",
            "{n:count} of {of:count} executions begin while their stream still runs another one.",
        ),
        Message("The file may show several devices or ranks as one. Its sums are of all of them."),
    ),
    "several_processes": told(
        Message("The file contains operators of {n:count} processes, for example ranks."),
        _OF_ALL_PROCESSES,
    ),
    "several_devices": told(
        Message("The file contains operators of {n:count} devices, one for each rank."),
        _OF_ALL_DEVICES,
    ),
    "log_read": told(
        Message(
            "{n:count} page was read from the write-ahead log that belongs to the database.",
            "{n:count} pages were read from the write-ahead log that belongs to the database.",
        )
    ),
    "log_unreadable": told(
        Message("The write-ahead log is damaged or belongs to another database."),
        Message("The data that was written last is missing."),
    ),
    "database_half_written": told(
        Message("A journal file shows that writing the database was interrupted."),
        Message("Open the database once with sqlite3, or record it again."),
    ),
    "ambiguous_commas": _ambiguous_commas,
    "unit_assumed": told(
        Message("A column of times has no unit in its header. It was read as {unit:name}.")
    ),
    "twin_columns": told(
        Message(
            "{n:count} column has the header of another column but different cells.",
            "{n:count} columns have the header of another column but different cells.",
        ),
        Message("Only the first column with each header is read."),
    ),
    "companion_unreadable": told(
        Message(
            "{n:count} companion file could not be read.",
            "{n:count} companion files could not be read.",
        )
    ),
    "neighbours_left": told(
        Message(
            "{n:count} more file in the folder was not read, so part of this recording may be "
            "missing.",
            "{n:count} more files in the folder were not read, so part of this recording may be "
            "missing.",
        ),
        Message("Put this recording into its own folder."),
    ),
    "companion_unmatched": told(
        Message(
            "{n:count} row of the companion files was left out, because it does not belong to any "
            "operator.",
            "{n:count} rows of the companion files were left out, because they do not belong to "
            "any operator.",
        )
    ),
    "contradiction": told(Message("Values of the file contradict each other in {n:rows}.")),
    "longest_block": told(
        Message("OpBasicInfo.csv is missing, so the operator has no name."),
        Message("Its time is that of its longest block."),
    ),
    "means_only": told(
        Message("The file contains the mean time of each operator."),
        Message("The means count as one run."),
    ),
    "runs_without_operators": told(
        Message(
            "{n:count} step without operators in the file was left out.",
            "{n:count} steps without operators in the file were left out.",
        )
    ),
    "runs_untold": told(
        Message(
            "The file contains no operators for {n:count} step, only its time.",
            "The file contains no operators for {n:count} steps, only their times.",
        ),
        Message("Figures per step are based on the other steps."),
    ),
    "kernels_of_nodes": told(
        Message(
            "{n:count} execution of a node was replaced by the kernels that it launched on the "
            "device.",
            "{n:count} executions of nodes were replaced by the kernels that they launched on the "
            "device.",
        )
    ),
    "not_operators": told(
        Message(
            "{n:count} task that is not an operator was left out.",
            "{n:count} tasks that are not operators were left out.",
        )
    ),
    "communication_tasks": told(
        Message(
            "{n:count} device task that is part of a collective was left out.",
            "{n:count} device tasks that are parts of collectives were left out.",
        ),
        Message("The collectives themselves are shown."),
    ),
    "operators_unnamed": told(
        Message(
            "{n:count} operator is shown by its core type only, because the file does not describe "
            "it.",
            "{n:count} operators are shown by their core type only, because the file does not "
            "describe them.",
        )
    ),
    "counters_ambiguous": told(
        Message("{n:count} counter value was left out.", "{n:count} counter values were left out."),
        Message("Several runs of a task have the same number, so they cannot be told apart."),
    ),
    "counters_beyond": told(
        Message(
            "{n:count} value of counters beyond the first 300 in the file was left out.",
            "{n:count} values of counters beyond the first 300 in the file were left out.",
        )
    ),
    "memory_beyond": told(
        Message(
            "Memory over time of {n:count} device was left out; the 16 with most are kept.",
            "Memory over time of {n:count} devices was left out; the 16 with most are kept.",
        )
    ),
    "no_kernels": told(Message("The file contains no kernels, only copies and fills of memory.")),
    "averaged": _averaged,
    "layer_means": told(
        Message(
            "The engine counts the time of each layer in whole µs and gives no start times: times "
            "of layers are means over the profiled runs of a block, known to about 1 µs. A layer "
            "of 0 ns took less than 1 µs."
        )
    ),
    "averaged_all": told(
        Message(
            "Times are means over all inferences since the model was compiled (on a GPU: the times "
            "of the last inference)."
        ),
        Message("The file does not contain the number of inferences."),
    ),
    "samples_profiled": told(
        Message(
            "The run times in the companion file were measured with the profiler on, which slows "
            "down every layer."
        ),
        Message("Record with --separateProfileRun."),
    ),
    "no_operators": told(
        Message("The file contains only run times."), Message("Its operators are not known.")
    ),
    "companion_lacks": told(
        Message(
            "{n:count} operator is missing from the companion file.",
            "{n:count} operators are missing from the companion file.",
        ),
        Message("Only names and times are known for what is missing."),
    ),
    "long_text": told(
        Message(
            "{n:count} text was shortened, because it is too long to be shown in full.",
            "{n:count} texts were shortened, because they are too long to be shown in full.",
        )
    ),
    "gzip_cut_short": told(
        Message("The gzip file ends too early."), Message("Everything up to its end was read.")
    ),
    "gzip_junk": told(
        Message(
            "{n:count} byte after the end of the gzip data was ignored.",
            "{n:count} bytes after the end of the gzip data were ignored.",
        )
    ),
    "overlapping_calls": told(
        Message(
            "{n:count} execution overlaps the previous one on the same stream.",
            "{n:count} executions overlap the previous one on the same stream.",
        )
    ),
    "rounded_starts": told(
        Message(
            "{n:count} start time was left out, because a spreadsheet program rounded it.",
            "{n:count} start times were left out, because a spreadsheet program rounded them.",
        ),
        Message("Give the original file of the profiler."),
    ),
    "step_time_overlaps": told(
        Message(
            "The kernels of step {step:name} sum to {sum_ns:duration}, but Computing in "
            "step_trace_time.csv is {computing_ns:duration}."
        ),
        Message("Some kernels ran at the same time on other streams."),
    ),
    "step_time_differs": told(
        Message(
            "The kernels of step {step:name} sum to {sum_ns:duration} ({union_ns:duration} without "
            "overlap), but Computing in step_trace_time.csv is {computing_ns:duration}."
        ),
        Message("One of the files is not complete."),
    ),
    "statistic_differs": told(
        Message(
            "{n:count} op type has a different count or time in op_statistic.csv than in the "
            "kernels.",
            "{n:count} op types have a different count or time in op_statistic.csv than in the "
            "kernels.",
        )
    ),
    "device_memory": told(
        Message(
            "Peak device memory during the recording: {allocated_mb:megabytes} allocated, "
            "{reserved_mb:megabytes} reserved."
        )
    ),
    "recorded_with": told(Message("Recorded with these settings: {settings:name}.")),
    "ascend_means": told(
        Message(
            "kernel_details.csv contains {n:count} operator with its mean time, because the file "
            "has only its total.",
            "kernel_details.csv contains {n:count} operators with their mean times, because the "
            "file has only their totals.",
        ),
        Message("The table has {calls:rows} for them."),
    ),
    "ascend_no_members": told(
        Message("Ascend tables do not contain the members of fused operators.")
    ),
    "ascend_no_flops": told(Message("Ascend tables do not contain the FLOPs.")),
    "ascend_warmup": told(
        Message(
            "Ascend tables do not mark warm-up: figures per step include {n:count} warm-up run.",
            "Ascend tables do not mark warm-up: figures per step include {n:count} warm-up runs.",
        )
    ),
    "ascend_silent_runs": told(
        Message(
            "Ascend tables do not contain {n:count} run that has no operators.",
            "Ascend tables do not contain {n:count} runs that have no operators.",
        )
    ),
    "ascend_no_samples": told(
        Message(
            "Ascend tables do not contain the time of {n:count} run without the profiler.",
            "Ascend tables do not contain the times of {n:count} runs without the profiler.",
        )
    ),
    "ascend_no_spans": told(
        Message(
            "Ascend tables contain only the own time of operators that have others inside them, "
            "not their span."
        )
    ),
    "ascend_counters": told(
        Message(
            "{n:count} counter was left out of kernel_details.csv, because its name is that of "
            "another column or could not be read back as a counter.",
            "{n:count} counters were left out of kernel_details.csv, because their names are those "
            "of other columns or could not be read back as counters.",
        )
    ),
    "ascend_sums": told(
        Message("{n:count} run has no start times.", "{n:count} runs have no start times."),
        Message(
            "step_trace_time.csv therefore contains sums, in which kernels that overlap count "
            "twice."
        ),
    ),
    "other_events": told(
        Message(
            "{n:count} event of another kind was left out.",
            "{n:count} events of other kinds were left out.",
        )
    ),
    "json_mended": told(
        Message(
            "{n:count} place with invalid JSON was repaired: bare inf or nan, single backslashes, "
            "control characters or extra commas.",
            "{n:count} places with invalid JSON were repaired: bare inf or nan, single "
            "backslashes, control characters or extra commas.",
        )
    ),
    "graphs_whole": told(
        Message(
            "{n:count} launch of a CUDA graph does not show the kernels in it.",
            "{n:count} launches of CUDA graphs do not show the kernels in them.",
        ),
        Message("Record with --cuda-graph-trace=node."),
    ),
    "trailing_bytes": told(
        Message(
            "{n:count} byte after the end of the trace was ignored.",
            "{n:count} bytes after the end of the trace were ignored.",
        )
    ),
    "event_cap": _event_cap,
    "no_device_rows": told(
        Message(
            "The file contains {n:count} call to the device's runtime but no kernel.",
            "The file contains {n:count} calls to the device's runtime but no kernel.",
        ),
        Message("Times are those of the host, which does not wait for the device."),
    ),
    "compiled_dispatch": told(
        Message(
            "{n:count} event of torch.compile's own code (guards and wrappers, "
            "{own_ns:duration}) is not an operator and was left out.",
            "{n:count} events of torch.compile's own code (guards and wrappers, "
            "{own_ns:duration} together) are not operators and were left out.",
        ),
        Message("Their time is dispatch: it is in the gaps between operators."),
    ),
    "compiler_map": told(
        Message(
            "The files of torch.compile beside the trace say which operators of the model are in "
            "each kernel, for {n:count} of {of:count} calls of compiled graphs."
        ),
        Message("Kernels are joined to them by name and order."),
    ),
    "compiler_map_foreign": told(
        Message(
            "{n:count} log of torch.compile beside the trace is of another run: its kernels have "
            "other names or another order. It was not used.",
            "{n:count} logs of torch.compile beside the trace are of another run: their kernels "
            "have other names or another order. They were not used.",
        )
    ),
    "compiler_map_lacks": told(
        Message(
            "The files of torch.compile beside the trace do not say which operators are in a "
            "kernel, for {n:count} compiled graph.",
            "The files of torch.compile beside the trace do not say which operators are in a "
            "kernel, for {n:count} compiled graphs.",
        ),
        Message("Set INDUCTOR_PROVENANCE=1 together with TORCH_TRACE."),
    ),
    "compiler_map_missing": told(
        Message(
            "The name of {n:count} generated kernel lists op types, but not which operators of the "
            "model are in it.",
            "The names of {n:count} generated kernels list op types, but not which operators of "
            "the model are in them.",
        ),
        Message(
            "Record with TORCH_TRACE=FOLDER and INDUCTOR_PROVENANCE=1 set, and give the log in "
            "that folder with the trace."
        ),
    ),
    "kernels_hidden": told(
        Message(
            "{n:count} compiled region does not show the kernels in it.",
            "{n:count} compiled regions do not show the kernels in them.",
        ),
        Message("The time of the kernels is shown as the time of their region."),
        Message("Set torch._inductor.config.cpp.enable_kernel_profile before you compile."),
    ),
    "unknown_events": told(
        Message(
            "The kind of {n:count} event is not known.",
            "The kind of {n:count} events is not known.",
        ),
        Message("Each one counts as an operator, without the time of the events inside it."),
    ),
    "unpaired_events": told(
        Message(
            "{n:count} event with only a begin or only an end was left out.",
            "{n:count} events with only a begin or only an end were left out.",
        )
    ),
    "missing_bracket": told(
        Message("The file ends without its closing bracket."), Message("Every event was read.")
    ),
    "cut_short": told(
        Message("The file is cut off before its end."),
        Message(
            "Its last {bytes_lost:bytes} were left out, because they are not a complete entry."
        ),
    ),
    "members_unknown": told(
        Message(
            "Fused operators name {n:count} operator that the other side does not have.",
            "Fused operators name {n:count} operators that the other side does not have.",
        ),
        Message(
            "Where possible, nearby operators that are not named anywhere else were used instead."
        ),
    ),
    "notes_unknown": told(
        Message(
            "{n:count} note in this report is of another version of FuseScope and is not shown.",
            "{n:count} notes in this report are of another version of FuseScope and are not shown.",
        )
    ),
    "no_runs": told(
        Message("The file does not mark its runs."), Message("The whole file counts as one run.")
    ),
    "nested_operators": told(
        Message(
            "{n:count} execution is inside another operator (Loop, If or Scan).",
            "{n:count} executions are inside other operators (Loop, If or Scan).",
        ),
        Message("The time of the outer operator is shown without the time inside it."),
    ),
    "calls_not_of_graph": told(
        Message(
            "The calls of {n:count} profiled run are not those of the compiled graph, so they are "
            "in no group.",
            "The calls of {n:count} profiled runs are not those of the compiled graph, so they are "
            "in no group.",
        )
    ),
    "outside_runs": told(
        Message(
            "{n:count} execution is outside every run.",
            "{n:count} executions are outside every run.",
        )
    ),
    "launch_times": told(
        Message("The host does not wait for this execution provider."),
        Message("Its times are those of launches, not of kernels."),
    ),
    "kernels_waited_for": told(
        Message("The host waited for each kernel of this execution provider."),
        Message(
            "Times of operators contain the launch and the wait, which for a short kernel are most "
            "of it."
        ),
        Message("Install nvidia-cuda-cupti, which times the kernels themselves, and record again."),
    ),
    "kernels_not_recorded": told(
        Message("A profile of this execution provider has no kernels, although CUPTI was there."),
        Message("Its times are those of launches, or contain waiting for each kernel."),
    ),
    "nodes_by_kernels": told(
        Message(
            "{n:count} execution of an operator has the time of the kernels that it launched on "
            "the device.",
            "{n:count} executions of operators have the time of the kernels that they launched on "
            "the device.",
        ),
    ),
    "nodes_without_kernels": told(
        Message(
            "{n:count} execution of an operator on the device launched nothing there, so it took "
            "no time.",
            "{n:count} executions of operators on the device launched nothing there, so they took "
            "no time.",
        ),
    ),
}
