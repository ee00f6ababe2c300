"""Sentences for tables and sums: what they contain, and where they do not agree."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.messages import Message
from fusescope.analysis.trace import Diagnostic, DiagnosticCode
from fusescope.analysis.wording.diagnostics.text import NoteText, NoteTexts, told

_OF_ALL_PROCESSES = Message(
    "Counts and sums are of all of them together. Give the file of a single process."
)
_CHOOSE = (
    Message("Also in the file: {others}."),
    Message(
        "Choose one by its name where the dashboard asks for baseline and candidate, or with "
        "--baseline, --candidate or --variant."
    ),
)
_ALL_RANKS = Message(
    "Recordings of several ranks or periods were probably joined, and sums are of all of them."
)


def _averaged(note: Diagnostic) -> NoteText:
    return _ONE_ITERATION if note.count == 1 else _MEANS


_ONE_ITERATION = told(Message("The file contains the times of one iteration."))
_MEANS = told(
    Message("The file contains means over {n:iterations}."), Message("They count as one run.")
)

TABLES: Mapping[DiagnosticCode, NoteTexts] = {
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
    "one_of_processes": told(
        Message("The file contains {n:count} processes. This is one of them: {shown}."),
        *_CHOOSE,
    ),
    "one_of_devices": told(
        Message("The file contains the work of {n:count} devices. This is one of them: {shown}."),
        *_CHOOSE,
    ),
    "several_processes": told(
        Message("The file contains operators of {n:count} processes, for example ranks."),
        _OF_ALL_PROCESSES,
    ),
    "launchers_assumed": told(
        Message(
            "Which of several processes launched {n:count} kernel does not follow from its number. "
            "It was counted with the one whose calls stand nearest to most kernels of its device.",
            "Which of several processes launched {n:count} kernels does not follow from their "
            "numbers. They were counted with the one whose calls stand nearest to most kernels of "
            "their device.",
        ),
        Message("Give the file of a single process to have this certain."),
    ),
    "units_untold": told(
        Message(
            "{n:count} execution does not say on which device or of which process it ran. It was "
            "counted with {unit:name}.",
            "{n:count} executions do not say on which device or of which process they ran. They "
            "were counted with {unit:name}.",
        )
    ),
    "units_beyond": told(
        Message(
            "The file contains the work of {n:count} processes and devices. They were not taken "
            "apart, because at most {limit:count} are."
        ),
        _OF_ALL_PROCESSES,
    ),
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
    "longest_block": told(
        Message("OpBasicInfo.csv is missing, so the operator has no name."),
        Message("Its time is that of its longest block."),
    ),
    "means_only": told(
        Message("The file contains the mean time of each operator."),
        Message("The means count as one run."),
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
    "averaged": _averaged,
    "no_operators": told(
        Message("The file contains only run times."), Message("Its operators are not known.")
    ),
    "step_time_overlaps": told(
        Message(
            "The kernels of the step that step_trace_time.csv numbers {step:name} sum to "
            "{sum_ns:duration}, but Computing there is {computing_ns:duration}."
        ),
        Message("Some kernels ran at the same time on other streams."),
    ),
    "step_time_differs": told(
        Message(
            "The kernels of the step that step_trace_time.csv numbers {step:name} sum to "
            "{sum_ns:duration} ({union_ns:duration} without overlap), but Computing there is "
            "{computing_ns:duration}."
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
}
