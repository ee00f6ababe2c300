"""The one place that makes sentences: codes and values in, English out.

Texts are plain; names that come from a trace are inserted as they are, so whoever shows them
must use a sink that does not interpret markup.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from analysis import units
from analysis.compare.comparison import Comparison, Figure
from analysis.compare.verdict import Verdict
from analysis.experiment import Experiment
from analysis.quantity import Quantity
from analysis.trace import Diagnostic, Trace, Value


@dataclass(frozen=True)
class FigureText:
    """Label and definition of a figure; `better` says which direction is good, if either."""

    label: str
    definition: str
    better: str | None = None  # lower, higher


FIGURES: Mapping[str, FigureText] = {
    "latency": FigureText(
        "latency",
        "Time of one whole run. Un-profiled wall time where it was recorded: lower quartile of "
        "the runs of a block, trimmed mean over blocks. The change is paired inside blocks: "
        "t_candidate / t_baseline - 1.",
        "lower",
    ),
    "throughput": FigureText(
        "throughput",
        "Batch size / latency. The change is speedup - 1.",
        "higher",
    ),
    "cpu_time": FigureText(
        "CPU time",
        "Process CPU time of one un-profiled run over all threads: lower quartile of the runs of "
        "a block, trimmed mean over blocks. Less affected by other load than wall time.",
        "lower",
    ),
    "small_op_time": FigureText(
        "small-op ratio (time)",
        "Time in light operators (all but convolution, matrix product, attention, recurrent) / "
        "time in all operators, from the profile. Making convolutions faster raises it: read it "
        "with light time.",
        "lower",
    ),
    "small_op_count": FigureText(
        "small-op ratio (count)",
        "Executions of light operators / executions of all operators.",
        "lower",
    ),
    "light_time": FigureText(
        "light time", "Time in light operators per run, from the profile.", "lower"
    ),
    "light_count": FigureText("light operators", "Light operators executed per run.", "lower"),
    "short_op_time": FigureText(
        "short-op ratio (time)",
        "Time in operators shorter than τ / time in all operators. τ is the same for both sides: "
        "10 × the measured dispatch cost, but at least 10 µs, assumed: the profiler itself costs 2 "
        "to 6 µs an operator.",
        "lower",
    ),
    "short_op_count": FigureText(
        "short-op ratio (count)",
        "Executions shorter than τ / all executions.",
        "lower",
    ),
    "compute_utilisation": FigureText(
        "compute utilisation",
        "FLOPs of convolutions and matrix products / (latency × measured peak of a matrix "
        "product). FLOPs are modelled from shapes and leave out padded taps. Over 100 % is shown, "
        "not clipped.",
        "higher",
    ),
    "cache_missed_bytes": FigureText(
        "bytes that miss the cache",
        "Modelled per run: least-recently-used cache of whole tensors over the graph in execution "
        "order, second pass; reads and write-allocated writes; a tensor larger than the cache "
        "never hits.",
        "lower",
    ),
    "cache_utilisation": FigureText(
        "cache utilisation",
        "Bytes that must move once (weights, model inputs and outputs) / bytes that miss the "
        "modelled cache. 100 %: every byte enters once.",
        "higher",
    ),
    "cache_hit_ratio": FigureText(
        "cache hit ratio",
        "Bytes that hit the modelled cache / bytes touched. It has no better or worse: fusion "
        "removes exactly the re-reads that hit.",
    ),
    "intermediate_bytes": FigureText(
        "intermediate traffic",
        "Bytes of tensors between operators per run, written once and read once per consumer, "
        "from the graph.",
        "lower",
    ),
    "memory": FigureText(
        "peak memory",
        "Highest resident memory of a process of its own, above the level before the model was "
        "loaded.",
        "lower",
    ),
    "output_difference": FigureText(
        "output difference",
        "max|a - b| / max|a| against the baseline's outputs on the same input.",
        "lower",
    ),
    "dispatch_gap": FigureText(
        "dispatch gap",
        "Profiled run span - union of operator time: mean per run of the time between operators.",
        "lower",
    ),
    "profiler_inflation": FigureText(
        "profiler inflation",
        "Profiled / un-profiled run time of the same blocks. The profiler charges every operator, "
        "so its times are never the headline.",
    ),
}

REASONS: Mapping[str, str] = {
    "no_times": "the file has no times for it",
    "no_heavy_operators": "no convolution, matrix product or attention ran",
    "flops_unknown": "the FLOPs of heavy operators are not known from this file",
    "no_peak": "the machine's peak is not in the file (the dashboard lets you set one)",
    "no_graph": "it needs the model's graph, which only an experiment file has",
    "no_misses": "no byte misses the modelled cache",
    "not_recorded": "the file does not have it",
    "no_start_times": "the file has no runs with start times",
    "no_samples": "the file has no un-profiled runs",
}

CANNOT_TELL: Mapping[str, str] = {
    "single_run": "a side has a single run, which says nothing about noise",
    "few_runs": "fewer than 5 blocks or runs on a side",
    "no_times": "a side has no time",
    "control_differs": "the two copies of the baseline differ, so this machine was not steady",
    "within_noise": "the change is within the noise at the level that the planned looks require",
    "runs_unknown": "a file does not mark its runs, so its time is not that of one run",
    "within_process_spread": (
        "two recordings of the same graph can differ by 12 %, and these are separate recordings"
    ),
}

TIMELINES_HELP = (
    "The median profiled run of each side on one time scale. Profiled times are longer than "
    "un-profiled ones: the profiler charges every operator."
)
OPERATORS_HELP = (
    "Operators of both sides joined by name and occurrence (a convolution that the engine renamed "
    "by the graphs), else by type and shapes; an operator that only one side ran counts as 0 on "
    "the other. A fused operator also does the work of those it replaced, which stand in rows of "
    "their own. Times are profiled, per run. Largest absolute change first."
)
OP_TYPES_HELP = (
    "Columns as in op_statistic, per run, from the profile. Largest absolute change first."
)
RUN_TIMES_HELP = (
    "Every run as a dot in the order of the runs, by block; the line is the lower quartile. "
    "Un-profiled runs where they were recorded, else the runs of the profile."
)

TIME_SOURCES: Mapping[str, str] = {
    "unprofiled_wall": "un-profiled wall time",
    "run_span": "profiled run time",
    "busy_union": "union of operator times",
    "kernel_sum": "sum of operator times",
}


@dataclass(frozen=True)
class Part:
    """A piece of a sentence. A `name` comes from a trace; a `number` is what to emphasise."""

    text: str
    role: Literal["text", "name", "number"] = "text"


def verdict_parts(comparison: Comparison) -> tuple[Part, ...]:
    """The verdict in pieces: 'fused', ' is ', '2.12× faster', ' than ', 'unfused'."""
    verdict = comparison.verdict
    candidate = Part(comparison.candidate.label, "name")
    baseline = Part(comparison.baseline.label, "name")
    if verdict.outcome == "cannot_tell" or verdict.speedup is None:
        start = Part("Cannot tell whether ")
        return start, candidate, Part(" is faster or slower than "), baseline
    factor = verdict.speedup if verdict.outcome == "faster" else 1 / verdict.speedup
    number = Part(f"{units.factor(factor)} {verdict.outcome}", "number")
    return candidate, Part(" is "), number, Part(" than "), baseline


def verdict_sentence(comparison: Comparison) -> str:
    """The one sentence on top: 'fused is 2.12× faster than unfused (95 % interval …)'."""
    sentence = "".join(part.text for part in verdict_parts(comparison))
    interval = verdict_interval(comparison.verdict)
    return f"{sentence} ({interval})" if interval else sentence


def verdict_interval(verdict: Verdict) -> str:
    """'95 % interval 2.10× to 2.14×', read in the direction of the sentence; '' without one."""
    if verdict.interval is None:
        return ""
    low, high = verdict.interval.low, verdict.interval.high
    if verdict.outcome == "slower":
        low, high = 1 / high, 1 / low
    return f"95 % interval {units.factor(low)} to {units.factor(high)}"


def verdict_basis(verdict: Verdict) -> str:
    """What the verdict rests on, and the smallest effect that would have been seen."""
    parts = []
    if verdict.speedup is not None and verdict.outcome == "cannot_tell":
        parts.append(f"best guess {units.factor(verdict.speedup)}")
    what = TIME_SOURCES[verdict.of]
    one, other = verdict.samples
    if verdict.pairing == "blocks":
        parts.append(f"{what}, {_many(one, 'block')} of fresh processes, paired")
    else:
        noun = "blocks" if verdict.pairing == "unpaired_blocks" else "runs"
        parts.append(f"{what}, {one} and {other} {noun}, not paired")
    if verdict.reason is not None:
        parts.insert(0, CANNOT_TELL[verdict.reason])
    if verdict.smallest_detectable is not None:
        seen = units.percent(verdict.smallest_detectable)
        parts.append(f"this measurement would have seen a change of {seen}")
    return _capital("; ".join(parts)) + "."


def light_work(comparison: Comparison) -> str:
    """Light time and count, which must stand beside the small-op ratio."""
    before, after = comparison.small_ops
    return (
        f"light time {units.duration(before.light_ns)} → {units.duration(after.light_ns)}, "
        f"{units.count(before.light_count)} → {units.count(after.light_count)} operators"
    )


def change_sentence(comparison: Comparison) -> str:
    """The change both ways: 'Latency -52.8 %, throughput +112.0 %.'; '' without one."""
    verdict = comparison.verdict
    if verdict.latency_change is None or verdict.throughput_change is None:
        return ""
    return (
        f"Latency {units.percent(verdict.latency_change, signed=True)}, "
        f"throughput {units.percent(verdict.throughput_change, signed=True)}."
    )


def assumptions_sentence(comparison: Comparison) -> str:
    """What short-operator, cache and utilisation figures were computed with."""
    peaks = dict.fromkeys(_with_basis(peak) for peak in comparison.peaks)
    return (
        f"Computed with τ {_with_basis(comparison.tau)}; modelled cache "
        f"{_with_basis(comparison.cache_size)}; arithmetic peak {' and '.join(peaks)}."
    )


def _with_basis(quantity: Quantity) -> str:
    if quantity.value is None:
        return "not known"
    return f"{_FORMATS[quantity.unit](quantity.value)} ({quantity.basis})"


def opened_sentence(value: Trace | Experiment) -> str:
    """What was read from a file: its format and how much is in it."""
    if isinstance(value, Experiment):
        record = value.record
        names = ", ".join(value.traces)
        blocks = _many(record.outcome.blocks, "block")
        return f"Experiment of {record.model.name}: {names}; {blocks}."
    runs = _many(len(value.profiled_runs), "run")
    operators = _many(len(value.operators), "operator")
    return f"{value.meta.tool} profile: {runs}, {operators}."


def _many(number: int, noun: str) -> str:
    return f"{units.count(number)} {noun}{'' if number == 1 else 's'}"


def quantity_text(quantity: Quantity) -> str:
    """A value with its unit; estimates carry '~', missing values a dash."""
    text = _FORMATS[quantity.unit](quantity.value)
    return f"~{text}" if quantity.is_estimate and quantity.value is not None else text


def change_text(figure: Figure) -> str:
    """The change of a figure with sign and unit; '' where it has none."""
    if figure.kind == "none" or figure.change is None:
        return ""
    if figure.kind == "points":
        return units.points(figure.change)
    return units.percent(figure.change, signed=True)


def basis_text(figure: Figure) -> str:
    """What a figure rests on, or why it is missing."""
    quantities = (figure.baseline, figure.candidate)
    for quantity in quantities:
        if quantity.value is None and quantity.reason is not None:
            reason = REASONS[quantity.reason]
            missing = "both sides" if all(q.value is None for q in quantities) else "one side"
            return reason if missing == "both sides" else f"{missing}: {reason}"
    bases = list(dict.fromkeys(quantity.basis for quantity in quantities))
    return " / ".join(bases)


def source_text(figure: Figure, verdict: Verdict) -> str:
    """Which clock a figure's times come from: 'un-profiled wall time'; '' where none ran."""
    if figure.code in ("latency", "throughput"):
        return TIME_SOURCES[verdict.of]
    return "operator times of the profile" if figure.code in _FROM_PROFILE else ""


def diagnostic_sentence(note: Diagnostic) -> str:
    """One sentence for a diagnostic of a reader or a doubt about a comparison."""
    maker = _DIAGNOSTICS.get(note.code)
    text = note.code.replace("_", " ") if maker is None else maker(note.count, note.values)
    side = f"{_capital(str(note.values['side']))}: " if "side" in note.values else ""
    example = f" First: {note.example}" if note.example else ""
    return f"{side}{text if side else _capital(text)}{example}"


_FROM_PROFILE = frozenset(
    ("small_op_time", "small_op_count", "light_time", "light_count")
    + ("short_op_time", "short_op_count", "dispatch_gap")
)

_FORMATS: Mapping[str, Callable[[float | None], str]] = {
    "ns": units.duration,
    "bytes": units.data_size,
    "fraction": units.percent,
    "1/s": units.rate,
    "flop/s": units.flop_rate,
    "count": units.count,
    "factor": units.factor,
    "number": units.small_number,
}


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _number(values: Mapping[str, Value], key: str) -> float:
    value = values.get(key)
    return float(value) if isinstance(value, int | float) else float("nan")


def _plural(count: Value, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _load(values: Mapping[str, Value]) -> str:
    after = values.get("after")
    then = f", {after:.1f} after" if isinstance(after, int | float) else ""
    return (
        f"load average {_number(values, 'before'):.1f} before the recording{then} on "
        f"{values.get('cores')} cores."
    )


# code -> sentence from (count, values)
_DIAGNOSTICS: Mapping[str, Callable[[int, Mapping[str, Value]], str]] = {
    "bad_unicode": lambda n, v: f"{_plural(n, 'broken character')} replaced.",
    "bad_event": lambda n, v: f"{_plural(n, 'event')} of a wrong form dropped.",
    "bad_time": lambda n, v: f"{_plural(n, 'event')} without a valid time dropped.",
    "other_events": lambda n, v: f"{_plural(n, 'event')} of other kinds left out.",
    "missing_bracket": lambda n, v: (
        "the file ends without its closing bracket; every event was read."
    ),
    "cut_short": lambda n, v: (
        f"the file is cut short; the last {v.get('bytes_lost')} bytes hold no whole event and "
        "were left out."
    ),
    "no_runs": lambda n, v: (
        "no model_run event: runs cannot be told apart, so the whole file counts as one."
    ),
    "nested_operators": lambda n, v: (
        f"{_plural(n, 'execution')} inside another operator (Loop, If, Scan); its time is shown "
        "without theirs."
    ),
    "outside_runs": lambda n, v: f"{_plural(n, 'execution')} outside every run.",
    "launch_times": lambda n, v: (
        "the host does not wait for this execution provider: its times are launches, not kernels."
    ),
    "paired": lambda n, v: (
        f"same machine, same input, {v.get('blocks')} fresh processes, {v.get('rounds')} "
        "interleaved rounds each in random order; ratios are taken inside a process."
    ),
    "paired_spin": lambda n, v: (
        f"same machine, same input, {v.get('blocks')} blocks; threads spin, so each variant ran "
        "in a process of its own."
    ),
    "unpaired": lambda n, v: (
        "two separate recordings: the machine's drift between them is not controlled. Recordings "
        "of one graph under changing load came out up to 1.8× apart; record both variants "
        "together for an answer to trust."
    ),
    "one_process_each": lambda n, v: (
        "each file is one process. Two processes that run the same graph differed by up to 12 % "
        "on a quiet machine, so smaller differences give no verdict."
    ),
    "recordings_differ": lambda n, v: (
        f"the recordings differ in {v.get('what')}: {v.get('baseline')} and {v.get('candidate')}."
    ),
    "one_side_unknown": lambda n, v: (
        "one side is a bare profile: machine, threads and input cannot be checked."
    ),
    "machines_unknown": lambda n, v: (
        "bare profiles do not say on which machine, with how many threads and on what input they "
        "were made."
    ),
    "same_file": lambda n, v: "both sides are the same file.",
    "stopped_interrupted": lambda n, v: (
        f"the recording was interrupted after {v.get('blocks')} blocks."
    ),
    "stopped_seconds": lambda n, v: (
        f"the time budget ended the recording after {v.get('blocks')} blocks."
    ),
    "load_seen": lambda n, v: (
        "measured under the load seen: no quiet reference of this machine was stored, or more "
        "than a fifth of the blocks were slower than it. The sign stands, the size may not."
    ),
    "blocks_loaded": lambda n, v: (
        f"{_plural(v.get('replaced'), 'block')} replaced and {v.get('loaded')} kept that ran more "
        "than 10 % slower than this machine does when quiet."
    ),
    "runs_unknown": lambda n, v: (
        "figures per run are those of the whole file on the side that does not mark its runs."
    ),
    "subgraphs": lambda n, v: (
        f"cache and traffic figures leave out the bodies of {_plural(v.get('nodes'), 'operator')} "
        "with subgraphs (Loop, If, Scan)."
    ),
    "unsized_tensors": lambda n, v: (
        f"cache and traffic figures leave out {_plural(v.get('tensors'), 'tensor')} of unknown "
        "size."
    ),
    "load": lambda n, v: _load(v),
    "governor": lambda n, v: f"the CPU frequency governor was '{v.get('governor')}'.",
    "other_baseline": lambda n, v: (
        f"the A/A control and the output difference refer to '{v.get('baseline')}', the baseline "
        "of the recording."
    ),
    "control": lambda n, v: (
        f"A/A control: two copies of the baseline differ by {units.factor(_number(v, 'low'))} to "
        f"{units.factor(_number(v, 'high'))} (99 % interval)."
    ),
    "decided_at": lambda n, v: (
        f"settled by the look at {v.get('look')} blocks, at a significance level of "
        f"{_number(v, 'alpha'):.4f}."
    ),
    "profiler_inflation": lambda n, v: (
        f"profiled runs take {units.factor(_number(v, 'baseline'))} (baseline) and "
        f"{units.factor(_number(v, 'candidate'))} (candidate) the time of un-profiled ones: "
        "latency is un-profiled, operator times are not."
    ),
    "profiled_headline": lambda n, v: (
        f"the verdict rests on {TIME_SOURCES[str(v.get('of'))]}. Profilers charge every operator "
        "and fusion removes operators, so it overstates what fusion bought."
    ),
    "slow_first_runs": lambda n, v: (
        f"{_plural(v.get('runs'), 'slow first run')} set aside as warm-up in operator figures."
    ),
    "large_output_difference": lambda n, v: (
        f"outputs differ by {units.small_number(_number(v, 'relative'))} relative: check that the "
        "candidate computes the same model."
    ),
    "biased_rows": lambda n, v: (
        f"{units.percent(_number(v, 'share'))} of operator time is in rows under 20 µs, where the "
        "profiler's own cost is a large part."
    ),
    "unknown_operators": lambda n, v: (
        f"{units.percent(_number(v, 'share'))} of operator time is of unknown class; the small-op "
        "ratio is low by up to that much."
    ),
    "utilisation_over_one": lambda n, v: (
        f"compute utilisation is {units.percent(_number(v, 'value'))}: the peak was measured too "
        "low, or FLOPs are counted too high."
    ),
}
