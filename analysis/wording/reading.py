"""Sentences for what readers noticed in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from analysis import units
from analysis.trace import DiagnosticCode, Value
from analysis.wording.phrases import number, plural


def _settings(values: Mapping[str, Value]) -> list[tuple[str, Value]]:
    """Settings of a recording, without the side that a comparison puts beside them."""
    return [(key, value) for key, value in values.items() if key not in ("side", "variant")]


def _mib(values: Mapping[str, Value], key: str) -> str:
    value = values.get(key)
    return f"{units.grouped(value, '.0f')} MB" if isinstance(value, int | float) else "unknown"


# code -> sentence from (count, values)
READING: Mapping[DiagnosticCode, Callable[[int, Mapping[str, Value]], str]] = {
    "bad_unicode": lambda n, v: f"{plural(n, 'broken character')} replaced.",
    "bad_event": lambda n, v: f"{plural(n, 'event')} of a wrong form dropped.",
    "bad_time": lambda n, v: f"{plural(n, 'event')} without a valid time dropped.",
    "short_rows": lambda n, v: f"{plural(n, 'row')} shorter than the head, filled up.",
    "long_rows": lambda n, v: (
        f"{plural(n, 'row')} longer than the head; what stands beyond it is left out."
    ),
    "unclosed_quotes": lambda n, v: (
        f"{plural(n, 'row')} with a quote that does not close; what follows was read row by row"
        + (f", and {plural(v['left_out'], 'such row')} left out." if v.get("left_out") else ".")
    ),
    "heads_again": lambda n, v: (
        f"the column heads stand again {'once' if n == 1 else f'{n} times'}: tables were put one "
        "after the other, and every row that does not stand twice counts."
    ),
    "rows_twice": lambda n, v: (
        f"{plural(n, 'row')} left out that stand twice, with the same name, time and place: the "
        "file may have been joined or exported twice."
    ),
    "samples_twice": lambda n, v: (
        f"{plural(n, 'run time')} left out that {'stands' if n == 1 else 'stand'} twice, with the "
        "same start and length: files were joined, or given twice."
    ),
    "runs_twice": lambda n, v: (
        f"{plural(n, 'run')} left out that {'stands' if n == 1 else 'stand'} twice, with the same "
        "times of all layers: the file may have been joined."
    ),
    "total_row": lambda n, v: "a last row that is the sum or mean of all others left out.",
    "starts_go_back": lambda n, v: (
        f"start times go back {'once' if n == 1 else f'{n} times'} in a table that is sorted "
        "otherwise: recordings of several ranks or times were joined, and sums are of all of them."
    ),
    "totals_joined": lambda n, v: (
        f"{plural(n, 'row')} of totals with the name of an earlier row: tables of several devices "
        "or recordings were joined, and sums are of all of them."
    ),
    "streams_overlap": lambda n, v: (
        f"{plural(n, 'execution')} of {v.get('of')} begin while their stream still runs another "
        "one: the file may hold several devices or ranks as one, and its sums are of all of them."
    ),
    "several_processes": lambda n, v: (
        f"the file holds operators of {n} processes, such as ranks: counts and sums are of all of "
        "them together. Give the file of one."
    ),
    "several_devices": lambda n, v: (
        f"the file holds operators of {n} devices, each of a rank: counts and sums are of all of "
        "them together. Give the file of one."
    ),
    "log_read": lambda n, v: (
        f"{plural(n, 'page')} taken from the write-ahead log beside the database."
    ),
    "log_unreadable": lambda n, v: (
        "the write-ahead log beside the database is damaged or of another one: what was written "
        "last is missing."
    ),
    "database_half_written": lambda n, v: (
        "a journal beside the database says that a write into it was interrupted: open it once "
        "with sqlite3, or record it again."
    ),
    "ambiguous_commas": lambda n, v: (
        f"{plural(n, 'number')} with a comma that may group digits or be the decimal sign, read "
        + (
            "as the decimal sign. If they are a thousand times too small, "
            if v.get("decimal")
            else "as the first. If they are a thousand times too large, "
        )
        + "save the table with points."
    ),
    "unit_assumed": lambda n, v: (
        f"a column of times without a unit in its head, read as {v.get('unit')}."
    ),
    "twin_columns": lambda n, v: (
        f"{plural(n, 'column')} with the head of another one and other cells; the first is read."
    ),
    "companion_unreadable": lambda n, v: f"{plural(n, 'file')} beside it could not be read.",
    "neighbours_left": lambda n, v: (
        f"{plural(n, 'more file')} of its folder {'was' if n == 1 else 'were'} not looked at, so "
        "part of this recording may be missing. Put it into a folder of its own."
    ),
    "companion_unmatched": lambda n, v: (
        f"{plural(n, 'row')} of the files beside it belong to no operator, left out."
    ),
    "contradiction": lambda n, v: f"the file contradicts itself in {plural(n, 'row')}.",
    "longest_block": lambda n, v: (
        "without OpBasicInfo.csv the operator has no name, and takes as long as its longest block."
    ),
    "means_only": lambda n, v: "the file gives the mean of each operator, so it counts as one run.",
    "runs_without_operators": lambda n, v: (
        f"{plural(n, 'step')} without an operator in the file left out."
    ),
    "runs_untold": lambda n, v: (
        f"the file has no operators of {plural(n, 'step')}, only when "
        f"{'it' if n == 1 else 'they'} ran: figures per step rest on the others."
    ),
    "kernels_of_nodes": lambda n, v: (
        f"{plural(n, 'execution')} of a node replaced by the kernels launched on the device."
    ),
    "not_operators": lambda n, v: (
        f"{plural(n, 'task')} that {'is no operator' if n == 1 else 'are no operators'} left out."
    ),
    "communication_tasks": lambda n, v: (
        f"{plural(n, 'device task')} that are parts of collectives left out: the collectives are "
        "shown whole."
    ),
    "operators_unnamed": lambda n, v: (
        f"{plural(n, 'operator')} shown by core type only: the file does not describe them."
    ),
    "counters_ambiguous": lambda n, v: (
        f"{plural(n, 'counter value')} left out: several runs of a task share its number, and "
        "nothing tells them apart."
    ),
    "counters_beyond": lambda n, v: (
        f"{plural(n, 'value')} of counters beyond the first 300 of the file left out."
    ),
    "no_kernels": lambda n, v: "no kernels, only copies and fills of memory.",
    "averaged": lambda n, v: (
        "the file gives the times of one iteration."
        if n == 1
        else f"the file gives means over {plural(n, 'iteration')}, so they count as one run."
    ),
    "averaged_all": lambda n, v: (
        "times are means over the inferences since the model was compiled (on a GPU those of the "
        "last one); how many is not in the file."
    ),
    "samples_profiled": lambda n, v: (
        "the run times beside it were taken with the profiler on, which slows every layer: record "
        "with --separateProfileRun."
    ),
    "no_operators": lambda n, v: (
        "the file holds run times only: nothing is known of the operators in them."
    ),
    "companion_lacks": lambda n, v: (
        f"{plural(n, 'operator')} missing in the file beside it: only names and times are known."
    ),
    "long_text": lambda n, v: f"{plural(n, 'text')} too long to be shown whole, cut.",
    "gzip_cut_short": lambda n, v: "the gzip file ends too early; what it held until then is read.",
    "gzip_junk": lambda n, v: f"{plural(n, 'byte')} after the end of the gzip file ignored.",
    "overlapping_calls": lambda n, v: (
        f"{plural(n, 'execution')} overlapping the one before on the same stream."
    ),
    "rounded_starts": lambda n, v: (
        f"{plural(n, 'start time')} rounded by a spreadsheet, left out: give the profiler's own "
        "file."
    ),
    "step_time_overlaps": lambda n, v: (
        f"the kernels of step {v.get('step')} sum to {units.duration(number(v, 'sum_ns'))}, "
        f"Computing in step_trace_time.csv is {units.duration(number(v, 'computing_ns'))}: some "
        "ran at the same time on other streams."
    ),
    "step_time_differs": lambda n, v: (
        f"the kernels of step {v.get('step')} sum to {units.duration(number(v, 'sum_ns'))} "
        f"({units.duration(number(v, 'union_ns'))} without overlap), but Computing in "
        f"step_trace_time.csv is {units.duration(number(v, 'computing_ns'))}: one of the files "
        "is not complete."
    ),
    "statistic_differs": lambda n, v: (
        f"{plural(n, 'op type')} with another count or time in op_statistic.csv than in the "
        "kernels."
    ),
    "device_memory": lambda n, v: (
        f"most device memory while recording: {_mib(v, 'allocated_mb')} allocated, "
        f"{_mib(v, 'reserved_mb')} reserved."
    ),
    "recorded_with": lambda n, v: (
        f"recorded with {', '.join(f'{key} {value}' for key, value in _settings(v))}."
    ),
    "ascend_means": lambda n, v: (
        f"{plural(n, 'operator')} of which the file has totals only stand in kernel_details.csv "
        f"with their mean time; {plural(v.get('calls'), 'row')} in all."
    ),
    "ascend_left_out": lambda n, v: f"Ascend tables have no column for: {v.get('what')}.",
    "ascend_counters": lambda n, v: (
        f"{plural(n, 'counter')} left out of kernel_details.csv: another column has such a name."
    ),
    "ascend_sums": lambda n, v: (
        f"{plural(n, 'run')} without start times: in step_trace_time.csv sums stand where "
        "overlapping kernels would count once."
    ),
    "other_events": lambda n, v: f"{plural(n, 'event')} of other kinds left out.",
    "json_mended": lambda n, v: (
        f"{plural(n, 'place')} that are no valid JSON mended: bare inf or nan, single backslashes, "
        "control characters or loose commas."
    ),
    "graphs_whole": lambda n, v: (
        f"{plural(n, 'launch')} of CUDA graphs without the kernels in them: record with "
        "--cuda-graph-trace=node."
    ),
    "trailing_bytes": lambda n, v: f"{plural(n, 'byte')} after the end of the trace ignored.",
    "event_cap": lambda n, v: (
        "the profiler stopped before the end of the recording, so counts and sums are too low."
        if n == 1
        else f"exactly {plural(n, 'event')}: the profiler stopped at its limit, so counts and sums "
        "are too low."
    ),
    "no_device_rows": lambda n, v: (
        f"{plural(n, 'call')} to the device's runtime but no kernel: times are the host's, which "
        "does not wait for the device."
    ),
    "kernels_hidden": lambda n, v: (
        f"{plural(n, 'compiled region')} without the kernels in it: their time shows as the "
        "region's own. Set torch._inductor.config.cpp.enable_kernel_profile before compiling."
    ),
    "unknown_events": lambda n, v: (
        f"nothing tells what these {plural(n, 'event')} are: each counts as an operator, with the "
        "time that events inside it leave."
    ),
    "unpaired_events": lambda n, v: (
        f"{plural(n, 'event')} with a begin but no end, or an end but no begin, left out."
    ),
    "missing_bracket": lambda n, v: (
        "the file ends without its closing bracket; every event was read."
    ),
    "cut_short": lambda n, v: (
        f"the file is cut short; the last {v.get('bytes_lost')} bytes hold no whole event and "
        "were left out."
    ),
    "members_unknown": lambda n, v: (
        f"fused operators name {plural(n, 'operator')} that the other side does not have; where "
        "possible, operators beside them that nothing else names were counted as those."
    ),
    "no_runs": lambda n, v: "the file does not mark its runs, so the whole file counts as one.",
    "nested_operators": lambda n, v: (
        f"{plural(n, 'execution')} inside another operator (Loop, If, Scan); its time is shown "
        "without theirs."
    ),
    "outside_runs": lambda n, v: f"{plural(n, 'execution')} outside every run.",
    "launch_times": lambda n, v: (
        "the host does not wait for this execution provider: its times are launches, not kernels."
    ),
}
