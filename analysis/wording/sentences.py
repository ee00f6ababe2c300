"""Sentences and short texts of a comparison and of its figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import pandas as pd

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison, Figure
from fusescope.analysis.compare.side import Role, Side, engines_differ
from fusescope.analysis.compare.timing.latency import are_paired
from fusescope.analysis.compare.timing.verdict import TIMED, Pairing, Verdict, VerdictReason
from fusescope.analysis.experiment import ExperimentRecord
from fusescope.analysis.messages import Message, Part, Shown, listed, paragraph, passage, say
from fusescope.analysis.quantity import Quantity
from fusescope.analysis.trace import RunWord
from fusescope.analysis.units import Column, column_of
from fusescope.analysis.wording.counted import (
    counts_of,
    counts_samples,
    has_copies,
    mean_text,
    runs_of,
)
from fusescope.analysis.wording.fusion.groups import MODULES_HELP
from fusescope.analysis.wording.noise.runs_apart import apart_text
from fusescope.analysis.wording.noise.slow_executions import slow_in_means
from fusescope.analysis.wording.noise.unknown_noise import OF_FILES, times_text, unknown_noise
from fusescope.analysis.wording.quantities import BASES
from fusescope.analysis.wording.texts import (
    CANNOT_TELL,
    NEARLY_EQUAL,
    REASONS,
    TIME_SOURCES,
    TIMES_FIRST,
)

_FASTER = Message("{candidate:name} is **{factor:factor} faster** than {baseline:name}")
_SLOWER = Message("{candidate:name} is **{factor:factor} slower** than {baseline:name}")
_CANNOT_TELL = Message(
    "Cannot tell whether {candidate:name} is faster or slower than {baseline:name}"
)
_OTHER_MODELS = Message("{baseline:name} and {candidate:name} look like different models")
_OTHER_SIZES = Message(
    "{baseline:name} and {candidate:name} are two models, or one model in two sizes"
)
_MODELS_UNKNOWN = Message(
    "Nothing shows that {baseline:name} and {candidate:name} are the same model"
)
_OTHER_PHASES = Message("{baseline:name} and {candidate:name} are two phases of serving")
_CAPTURE = Message("{baseline:name} and {candidate:name} are the capture of a graph and its replay")
_TWO_RANKS = Message("{baseline:name} and {candidate:name} are two ranks of one job")
_LIKE_TWO_RANKS = Message("{baseline:name} and {candidate:name} look like two ranks of one job")
_OTHER_RANKS = Message("{baseline:name} and {candidate:name} are ranks that run different work")
_OTHER_JOBS = Message("{baseline:name} and {candidate:name} are of jobs of different sizes")
_MARKED = Message("{baseline:name} and {candidate:name} are compared by operators, not by runs")
_NO_CHANGE = Message("**No change stands out** between {baseline:name} and {candidate:name}")
_NOT_COMPARED: Mapping[VerdictReason | None, Message] = {
    "different_models": _OTHER_MODELS,
    "different_sizes": _OTHER_SIZES,
    "models_unknown": _MODELS_UNKNOWN,
    "different_phases": _OTHER_PHASES,
    "capture_and_replay": _CAPTURE,
    "different_ranks": _OTHER_RANKS,
    "different_jobs": _OTHER_JOBS,
    "two_ranks": _TWO_RANKS,
    "like_two_ranks": _LIKE_TWO_RANKS,
    "marked": _MARKED,
    "no_change": _NO_CHANGE,
}
_NEARLY = 0.02  # of a time: two that differ by less are said to be nearly equal
_TOOK = Message("{candidate:name} took **{factor:factor} the time** of {baseline:name}.")
_TOOK_TIMES = Message(
    "{candidate:name} took **{factor:factor} the time** of {baseline:name} ({times})."
)
_TOOK_CHANGE = Message(
    "{candidate:name} took **{factor:factor} the time** of {baseline:name} ({times}, "
    "{change:change})."
)


def verdict_parts(comparison: Comparison) -> tuple[Part, ...]:
    """The verdict in pieces: 'fused', ' is ', '2.12× faster', ' than ', 'unfused'."""
    return pair_parts(comparison.verdict, comparison.baseline.name, comparison.candidate.name)


def pair_parts(verdict: Verdict, baseline_label: str, candidate_label: str) -> tuple[Part, ...]:
    """`verdict_parts` of a verdict alone, with what its two sides are called."""
    noise = _noise(verdict)
    headline = _headline(verdict, baseline_label, candidate_label)
    return passage(headline, (Part(noise),)) if noise else headline


def headline_and_noise(comparison: Comparison) -> tuple[tuple[Part, ...], str]:
    """Return the verdict in pieces, and which runs are far from the others and why its noise is
    unknown, '' where it is known."""
    verdict = comparison.verdict
    headline = _headline(verdict, comparison.baseline.name, comparison.candidate.name)
    return headline, _noise(verdict)


def _noise(verdict: Verdict) -> str:
    is_unknown = verdict.outcome == "noise_unknown" and verdict.speedup is not None
    return paragraph(apart_text(verdict), unknown_noise(verdict)) if is_unknown else ""


def _headline(verdict: Verdict, baseline_label: str, candidate_label: str) -> tuple[Part, ...]:
    sides = {"candidate": candidate_label, "baseline": baseline_label}
    if verdict.reason in _NOT_COMPARED:
        return _NOT_COMPARED[verdict.reason].parts(**sides)
    if verdict.outcome == "cannot_tell" or verdict.speedup is None:
        return _CANNOT_TELL.parts(**sides)
    slowdown = 1 / verdict.speedup
    if verdict.outcome == "noise_unknown":
        change = slowdown - 1
        ratios = [units.factor(slowdown)]
        if change < _MAX_PERCENT:
            ratios.append(units.percent(change, signed=True))
        times = times_text(verdict, ratios)
        if not times:
            return _TOOK.parts(factor=slowdown, **sides)
        if change >= _MAX_PERCENT:
            return _TOOK_TIMES.parts(factor=slowdown, times=times, **sides)
        return _TOOK_CHANGE.parts(factor=slowdown, times=times, change=change, **sides)
    if verdict.outcome == "faster":
        return _FASTER.parts(factor=verdict.speedup, **sides)
    return _SLOWER.parts(factor=slowdown, **sides)


def verdict_sentence(comparison: Comparison) -> str:
    """What stands on top: 'fused is 2.12× faster than unfused (95 % interval …)'; where no noise
    is known, 'fp16 took 0.34× the time of fp32 (…). One profile each, so the noise is unknown.'"""
    sentence = "".join(part.text for part in verdict_parts(comparison))
    interval = verdict_interval(comparison.verdict)
    return (
        say("{verdict} ({interval})", verdict=sentence, interval=interval) if interval else sentence
    )


def verdict_interval(verdict: Verdict) -> str:
    """'95 % interval 2.10× to 2.14×', read in the direction of the sentence; '' without one. Of one
    process each it is of their runs, which says nothing of other processes."""
    if verdict.shown is None:
        return ""
    (low, high), level = (verdict.shown[0].low, verdict.shown[0].high), verdict.shown[1]
    if verdict.outcome == "slower":
        low, high = 1 / high, 1 / low
    values: dict[str, Shown] = {"level": level_text(level), "low": low, "high": high}
    if verdict.pairing == "unpaired_runs":
        return say("{level} interval of these runs {low:factor} to {high:factor}", **values)
    return say("{level} interval {low:factor} to {high:factor}", **values)


def level_text(level: float) -> str:
    """The confidence of an interval: '95 %', '99.17 %'."""
    return f"{100 * level:.4g} %"


def interval_name(verdict: Verdict) -> str:
    """What the bar of the picture is: '95 % interval'; '' without one."""
    if verdict.shown is None:
        return ""
    level = level_text(verdict.shown[1])
    if verdict.pairing == "unpaired_runs":
        return say("{level} interval of these runs", level=level)
    return say("{level} interval", level=level)


def interval_key(verdict: Verdict) -> str:
    """How to read the picture of the verdict: 'Dot: speedup 2.15×. Bar: 95 % interval. …'."""
    return paragraph(
        say("Dot: speedup {speedup:factor}.", speedup=verdict.speedup),
        ""
        if verdict.shown is None
        else say("Bar: {level} interval.", level=level_text(verdict.shown[1])),
        ""
        if verdict.noise_floor is None
        else say("Grey: A/A control, two copies of the baseline."),
        say("Dashed: no change."),
    )


def why_not_told(verdict: Verdict) -> str:
    """Why there is no interval or it tells nothing: sentences; '' where it tells."""
    if verdict.reason is None:
        return ""
    if verdict.outcome == "noise_unknown":
        return unknown_noise(verdict)
    if verdict.reason == "no_change" and abs(verdict.latency_change or 0.0) < _NEARLY:
        return NEARLY_EQUAL.text()
    reason = CANNOT_TELL[verdict.reason].text()
    return paragraph(reason, stricter_text(verdict)) if verdict.reason == "within_noise" else reason


def stricter_text(verdict: Verdict) -> str:
    """Return why the interval is not the usual one of 95 %, which holds a change; '' where it
    is."""
    if verdict.shown is None or verdict.shown[0] is verdict.interval:
        return ""
    looks, candidates = verdict.shared_by
    shared = _BY_ALL if looks > 1 and candidates > 1 else _BY_LOOKS if looks > 1 else _BY_VARIANTS
    return shared.text(alpha=f"{verdict.alpha:.2g}")


_BY_ALL = Message(
    "The interval is at a level of {alpha}, for all looks and variants together: at the usual 95 % "
    "for this pair alone, chance would show a change more often."
)
_BY_LOOKS = Message(
    "The interval is at a level of {alpha}, for all looks together: at the usual 95 % for one look "
    "alone, chance would show a change more often."
)
_BY_VARIANTS = Message(
    "The interval is at a level of {alpha}, for all variants together: at the usual 95 % for this "
    "pair alone, chance would show a change more often."
)


_FILES = Message("{n:count} file: {names:name}", "{n:count} files: {names:name}")


def engines_text(record: ExperimentRecord) -> str:
    """What ran the variants of a recording: 'onnxruntime 1.31.1 and openvino 2026.4.1'."""
    if record.command is not None:
        return say("the command {name:name}", name=record.model.name)
    return listed(list(dict.fromkeys(f"{one.name} {one.version}" for one in record.engines)))


def files_text(side: Side) -> str:
    """The files of a side of several, in the order of recording: '5 files: a/1.json, …'."""
    return _FILES.text(n=len(side.files), names=listed([one.name for one in side.files]))


_OF_BLOCKS = Message(
    "{time}, {n:count} block of fresh processes, paired.",
    "{time}, {n:count} blocks of fresh processes, paired.",
)
_OF_PAIRS = Message(
    "{time}, {n:count} pair of files recorded alternately.",
    "{time}, {n:count} pairs of files recorded alternately.",
)
_OF_FILES: Mapping[Pairing, Message] = {
    "alternating_files": Message(
        "{time}, {one:count} and {other:count} files recorded alternately, not in pairs."
    ),
    "separate_files": Message("{time}, {one:count} and {other:count} files, not paired."),
}
_Counted = Literal["blocks", "files"] | RunWord
_ONE_EACH: Mapping[_Counted, Message] = {
    "blocks": Message("{time}, one block each, not paired."),
    "runs": Message("{time}, one run each, not paired."),
    "steps": Message("{time}, one step each, not paired."),
    "repetitions": Message("{time}, one repetition each, not paired."),
    "files": Message("{time}, one file each, not paired."),
}
_MEANS: Mapping[RunWord, Message] = {
    "runs": Message("{time}, means of {one:count} and {other:count} runs, not paired."),
    "steps": Message("{time}, means of {one:count} and {other:count} steps, not paired."),
    "repetitions": Message(
        "{time}, means of {one:count} and {other:count} repetitions, not paired."
    ),
}
# The time of a run as profiled, by what runs are called.
_SPANS: Mapping[RunWord, Message] = {
    "runs": TIMES_FIRST["run_span"],
    "steps": Message("Profiled step time"),
    "repetitions": Message("Profiled time of a repetition"),
}
_COUNTS: Mapping[_Counted, Message] = {
    "blocks": Message("{time}, {one:count} and {other:count} blocks, not paired."),
    "runs": Message("{time}, {one:count} and {other:count} runs, not paired."),
    "steps": Message("{time}, {one:count} and {other:count} steps, not paired."),
    "repetitions": Message("{time}, {one:count} and {other:count} repetitions, not paired."),
    "files": Message("{time}, {one:count} and {other:count} files, not paired."),
}


def verdict_basis(verdict: Verdict) -> str:
    """What the verdict rests on, and the smallest effect that would have been seen."""
    cannot_tell = verdict.outcome == "cannot_tell"
    guess = seen = ""
    if verdict.speedup is not None and cannot_tell and verdict.reason != "no_change":
        guess = say("Best guess {speedup:factor}.", speedup=verdict.speedup)
    if verdict.visible_change is not None:
        seen = _visible_change(verdict, verdict.visible_change)
    apart = "" if verdict.outcome == "noise_unknown" else apart_text(verdict)  # it is in the title
    return paragraph(
        why_not_told(verdict) if cannot_tell else "", guess, samples_text(verdict), apart, seen
    )


def _visible_change(verdict: Verdict, change: float) -> str:
    """Return the smallest change that would have been seen, and what shows smaller ones; of a
    change that was seen only whether two copies of the baseline differ by more."""
    if verdict.is_decided:
        control = verdict.control_change or 0.0
        is_within = abs(verdict.latency_change or 0.0) < control
        return _WITHIN_CONTROL.text(change=control) if is_within else ""
    if change > 1:
        return paragraph(_TOO_NOISY.text(), next_step(verdict))
    seen = (_SEEN_BEYOND_CONTROL if _is_control(verdict) else _SEEN).text(change=change)
    return paragraph(seen, next_step(verdict))


def next_step(verdict: Verdict) -> str:
    """Return what shows smaller changes than this measurement, with its command where FuseScope
    recorded it; '' where no change or the answer was seen."""
    if verdict.outcome != "cannot_tell" or verdict.reason != "within_noise":
        return ""
    if verdict.pairing == "unpaired_blocks":
        return say("Recorded together, as variants of one file, the two show smaller changes.")
    if verdict.pairing != "blocks":
        return say("More runs on a quiet machine show smaller changes.")
    blocks = max(_ALL_BLOCKS, 2 * min(verdict.samples))
    of = "MODEL" if verdict.of == "unprofiled_wall" else "--command '…'"
    return say(
        "More blocks on a quiet machine show smaller changes: {command}",
        command=f"fusescope collect {of} --blocks {blocks}",
    )


_ALL_BLOCKS = 24  # of the last look at a recording
_TOO_NOISY = Message(
    "This measurement is too noisy: not even a doubled time would surely have been seen."
)
_WITHIN_CONTROL = Message(
    "Two copies of the baseline may be {change:percent} apart, which is more than this change."
)
_SEEN = Message("This measurement would have seen a change of {change:percent}.")
_SEEN_BEYOND_CONTROL = Message(
    "This measurement would have seen a change of {change:percent}, as much as two copies of the "
    "baseline may be apart."
)


def _is_control(verdict: Verdict) -> bool:
    """Whether the two copies of the baseline are what hides smaller changes."""
    return (verdict.control_change or 0.0) > (verdict.smallest_detectable or 0.0)


def samples_text(verdict: Verdict) -> str:
    """'Un-profiled wall time, 8 blocks of fresh processes, paired.'; '' where a side has none."""
    time = _SPANS[verdict.run_word] if verdict.of == "run_span" else TIMES_FIRST[verdict.of]
    one, other = verdict.samples
    if verdict.pairing == "blocks":
        return _OF_BLOCKS.text(time=time, n=one)
    if not (one and other):
        return ""
    if verdict.pairing == "paired_files":
        return _OF_PAIRS.text(time=time, n=one)
    if verdict.pairing in _OF_FILES:
        return _OF_FILES[verdict.pairing].text(time=time, one=one, other=other)
    counted: _Counted = "blocks" if verdict.pairing == "unpaired_blocks" else verdict.run_word
    counted = "files" if verdict.of in OF_FILES else counted
    if verdict.reason == "single_run" and any(verdict.averaged):
        return _averaged(verdict, time)
    if one == other == 1:
        return _ONE_EACH[counted].text(time=time)
    if verdict.is_of_means:
        return _MEANS[verdict.run_word].text(time=time, one=one, other=other)
    return _COUNTS[counted].text(time=time, one=one, other=other)


def _averaged(verdict: Verdict, time: Message) -> str:
    """'…, means of 1,600 and 4,216 iterations, not paired.': of how many runs each side's one
    time is."""
    before, after = verdict.averaged
    if before is not None and before == after:
        return say("{time}, means of {count:iterations} each, not paired.", time=time, count=before)
    if before is not None and after is not None:
        return say(
            "{time}, means of {before:count} and {after:iterations}, not paired.",
            time=time,
            before=before,
            after=after,
        )
    one, other = verdict.samples
    if before is not None:
        return say(
            "{time}, the baseline a mean of {count:iterations}, the candidate {runs:runs}, not "
            "paired.",
            time=time,
            count=before,
            runs=other,
        )
    return say(
        "{time}, the baseline {runs:runs}, the candidate a mean of {count:iterations}, not paired.",
        time=time,
        count=after,
        runs=one,
    )


_OFFERS: Mapping[Role, tuple[Message, Message]] = {
    "baseline": (
        Message("The baseline does not mark its runs."),
        Message("The baseline does not mark its runs; its calls suggest {runs:runs}."),
    ),
    "candidate": (
        Message("The candidate does not mark its runs."),
        Message("The candidate does not mark its runs; its calls suggest {runs:runs}."),
    ),
}
_ENTERED: Mapping[Role, Message] = {
    "baseline": Message("The baseline has {runs:runs}, as entered"),
    "candidate": Message("The candidate has {runs:runs}, as entered"),
}


def offer_sentence(side: Role, runs: int | None) -> str:
    """What is asked of a side that does not mark its runs; `runs` is what its calls suggest."""
    plain, suggested = _OFFERS[side]
    fact = plain.text() if runs is None else suggested.text(runs=runs)
    return paragraph(fact, say("Enter how many it has to compare by run:"))


def entered_text(side: Role, runs: int) -> str:
    """What was entered for a side that does not mark its runs."""
    return _ENTERED[side].text(runs=runs)


def light_work(comparison: Comparison) -> str:
    """Light time and count, which must stand beside the small-op ratio; '' where those of the two
    sides are not of the same runs."""
    light = comparison.figure("light_time")
    if not comparison.has_changes or None in (light.baseline.value, light.candidate.value):
        return ""
    before, after = comparison.small_ops
    message = _LIGHT_WITH_COPIES if has_copies(comparison) else _LIGHT
    return message.text(
        time_before=before.light_ns,
        time_after=after.light_ns,
        before=round(before.light_count),
        after=round(after.light_count),
    )


_LIGHT = Message(
    "light time {time_before:duration} → {time_after:duration}, {before:count} → {after:executions}"
)
_LIGHT_WITH_COPIES = Message(
    "light time {time_before:duration} → {time_after:duration}, {before:count} → "
    "{after:executions} with copies and fills"
)


def agreement_text(comparison: Comparison) -> str:
    """The candidate's classes beside the baseline's; '' where the model scores none. Of two
    recordings only that each side has a baseline of its own.

    'top-1 56.2 %, top-5 93.8 % of 16 samples, 15 classes seen: agreement, not accuracy'.
    """
    variant = comparison.candidate.variant
    agreed = variant.agreement if variant else None
    if not are_paired(comparison.baseline, comparison.candidate) and variant is not None:
        return say("each against the baseline that it was recorded with")
    if variant is None or agreed is None:
        return ""
    shares = say("top-1 {top1:percent}", top1=agreed.top1)
    if agreed.top5 is not None:
        shares = say(
            "top-1 {top1:percent}, top-5 {top5:percent}", top1=agreed.top1, top5=agreed.top5
        )
    samples = say("{samples:samples}", samples=agreed.samples)
    if agreed.positions > agreed.samples:
        samples = say(
            "{positions:count} positions in {samples:samples}",
            positions=agreed.positions,
            samples=agreed.samples,
        )
    return say(
        "{shares} of {samples}, {n:count} class seen: agreement with the baseline, not accuracy",
        "{shares} of {samples}, {n:count} classes seen: agreement with the baseline, not accuracy",
        shares=shares,
        samples=samples,
        n=agreed.distinct,
    )


def gap_statistic(comparison: Comparison) -> str:
    """That the idle time is a mean, and why it can exceed the latency; '' of one run a side."""
    gap, latency = comparison.figure("dispatch_gap"), comparison.figure("latency")
    traces = (comparison.baseline.trace, comparison.candidate.trace)
    if not gap.is_known or all(len(trace.profiled_runs) < 2 for trace in traces):
        return ""
    pairs = ((gap.baseline, latency.baseline), (gap.candidate, latency.candidate))
    if not any((g.value or 0.0) > (t.value or math.inf) for g, t in pairs):
        return mean_text(comparison)
    if comparison.verdict.of in TIMED:
        return say("mean per profiled run, which takes longer than an un-profiled one")
    return say("mean per run, including slow runs; latency is that of the typical run")


def figure_detail(comparison: Comparison, code: str) -> str:
    """What must be read with a figure; '' where there is nothing."""
    return _DETAILS[code](comparison) if code in _DETAILS else ""


_DETAILS: Mapping[str, Callable[[Comparison], str]] = {
    "small_op_time": light_work,
    "output_difference": agreement_text,
    "dispatch_gap": gap_statistic,
}


_OWN_TYPES = Message(
    "Op types are each engine's own words, and where two are equal they need not mean the same. "
    "Classes and modules are common to both."
)


def kinds_sentence(comparison: Comparison, kind: str) -> str:
    """What stands below a table of `op_types`, `classes`, `modules` or `launched_by`."""
    if kind == "modules":
        return MODULES_HELP.text()
    apart = engines_differ(comparison.baseline, comparison.candidate)
    return paragraph(
        totals_sentence(comparison),
        slow_in_means(comparison),
        _OWN_TYPES.text() if apart and kind == "op_types" else "",
    )


_ALL = Message("All operators: {sums}; sums of their mean times.")
_ALL_BUT_COMMUNICATION = Message(
    "All operators but communication: {sums}; sums of their mean times."
)
_CHANGE = Message("All operators: {change}, the sum of their mean times.")
_CHANGE_BUT_COMMUNICATION = Message(
    "All operators but communication: {change}, the sum of their mean times."
)


def totals_sentence(comparison: Comparison) -> str:
    """'All operators: 685 ms → 721 ms (+36.0 ms), the sum of their mean times.'; between
    what is not compared no arrow: 'All operators: baseline 359 ms (whole file), candidate 109 ms
    (per run); sums of their mean times.'"""
    classes = comparison.op_classes
    is_communication = classes["op_class"] == "communication"
    communicates = bool(is_communication.any())
    if not comparison.has_changes:
        sums = _sums(comparison, classes[~is_communication])
        text = (_ALL_BUT_COMMUNICATION if communicates else _ALL).text(sums=sums)
        others = _sums(comparison, classes[is_communication]) if communicates else ""
    else:
        change = _sum_change(classes[~is_communication])
        text = (_CHANGE_BUT_COMMUNICATION if communicates else _CHANGE).text(change=change)
        others = _sum_change(classes[is_communication]) if communicates else ""
    return paragraph(text, say("Communication: {sums}.", sums=others) if others else "")


_SIDES = ("baseline", "candidate")


def _sums(comparison: Comparison, table: pd.DataFrame) -> str:
    before, after = (float(table[f"per_run_ns_{side}"].fillna(0.0).sum()) for side in _SIDES)
    of_before, of_after = counts_of(comparison)
    return say(
        "baseline {before:duration} ({of_before}), candidate {after:duration} ({of_after})",
        before=before,
        of_before=of_before,
        after=after,
        of_after=of_after,
    )


def _sum_change(table: pd.DataFrame) -> str:
    before, after = (float(table[f"per_run_ns_{side}"].fillna(0.0).sum()) for side in _SIDES)
    change = after - before
    times = " → ".join(units.durations_apart(before, after, change))
    return f"{times} ({units.duration(change, signed=True)})"


def change_sentence(comparison: Comparison) -> str:
    """Return the change both ways: 'Latency -52.8 %, throughput +112.0 %.', of files that do not
    give their batch size 'steps per second'; '' without one, and where it cannot be told which way.
    Of files that do not mark their runs, whose throughput is not known: 'Time in operators
    -52.8 %.'; without it, too, of runs with time between them."""
    verdict = comparison.verdict
    if not verdict.has_direction:
        return ""
    if verdict.latency_change is None or verdict.throughput_change is None:
        return ""
    latency = relative_text(verdict.latency_change)
    if verdict.of in OF_FILES:
        return say("Time in operators {change}.", change=latency)
    if comparison.figure("throughput").change is None:
        return say("Latency {change}.", change=latency)
    rate = relative_text(verdict.throughput_change)
    if counts_samples(comparison):
        return say("Latency {latency}, throughput {rate}.", latency=latency, rate=rate)
    return _RATES[runs_of(comparison).word].text(latency=latency, rate=rate)


_RATES: Mapping[RunWord, Message] = {
    "runs": Message("Latency {latency}, runs per second {rate}."),
    "steps": Message("Latency {latency}, steps per second {rate}."),
    "repetitions": Message("Latency {latency}, repetitions per second {rate}."),
}


def relative_text(change: float) -> str:
    """A relative change: '+26.3 %'; from ten times on, where percentages say little, '11.4×'."""
    if change >= _MAX_PERCENT:
        return units.factor(1 + change)
    return units.percent(change, signed=True)


# A relative change beyond it is told as a factor.
_MAX_PERCENT = 9.0


def assumptions_sentence(*comparisons: Comparison) -> str:
    """What short-operator, cache and utilisation figures of comparisons were computed with."""

    def each(quantities: Iterable[Quantity]) -> str:
        return listed(list(dict.fromkeys(map(_with_basis, quantities))))

    return say(
        "Computed with τ {tau}; modelled cache {cache}; arithmetic peak {peaks}; memory bandwidth "
        "{rates}.",
        tau=each(one.tau for one in comparisons),
        cache=each(one.cache_size for one in comparisons),
        peaks=each(peak for one in comparisons for peak in one.peaks),
        rates=each(roofs.bandwidth for one in comparisons for roofs in one.roofs),
    )


def _with_basis(quantity: Quantity) -> str:
    if quantity.value is None:
        return say("not known")
    value = _FORMATS[quantity.unit](quantity.value)
    return say("{value} ({basis})", value=value, basis=BASES[quantity.basis])


def quantity_text(quantity: Quantity, column: Column | None = None) -> str:
    """A value with its unit, in a `column` with that of all its values; estimates carry '~',
    missing values a dash."""
    text = (column.text if column else _FORMATS[quantity.unit])(quantity.value)
    return f"~{text}" if quantity.is_estimate and quantity.value is not None else text


def column_of_quantities(quantities: Sequence[Quantity]) -> Column | None:
    """The unit that times or sizes of a column share; None of other figures."""
    scales = {"ns": units.TIMES, "bytes": units.BYTES}.get(quantities[0].unit)
    return None if scales is None else column_of((one.value for one in quantities), scales)


def change_text(figure: Figure) -> str:
    """The change of a figure with sign and unit, as its two values read; '' where it has none."""
    if figure.kind == "none" or figure.change is None:
        return ""
    before, after = figure.baseline, figure.candidate
    if figure.kind == "points":
        return units.points_between(before.value, after.value)
    text = relative_text(figure.change)
    if text == units.percent(0.0) and quantity_text(before) != quantity_text(after):
        # Two values that differ as printed did not stay the same.
        return f"{units.with_minus(f'{figure.change * 100:+.1g}')} %"
    return text


def basis_text(figure: Figure) -> str:
    """What a figure rests on, or why it is missing."""
    quantities = (figure.baseline, figure.candidate)
    reasons = [
        REASONS[quantity.reason]
        for quantity in quantities
        if quantity.value is None and quantity.reason is not None
    ]
    if len(reasons) == 2 and reasons[0] != reasons[1]:
        baseline, candidate = reasons
        return say(
            "baseline: {baseline}; candidate: {candidate}", baseline=baseline, candidate=candidate
        )
    if reasons:
        is_missing = all(quantity.value is None for quantity in quantities)
        return reasons[0].text() if is_missing else say("one side: {reason}", reason=reasons[0])
    bases = dict.fromkeys(quantity.basis for quantity in quantities)
    return " / ".join(BASES[basis].text() for basis in bases)


def source_text(figure: Figure, verdict: Verdict) -> str:
    """Which clock a figure's times come from: 'un-profiled wall time'; '' where none ran."""
    if figure.code in ("latency", "throughput", "compute_utilisation"):
        time = TIME_SOURCES[verdict.of]
        return (
            say("{time}, of the whole file", time=time) if verdict.of in OF_FILES else time.text()
        )
    return say("operator times of the profile") if figure.code in _FROM_PROFILE else ""


def basis_beside_others(comparison: Comparison, figure: Figure) -> str:
    """Return what a figure rests on where it stands beside others: of utilisations also which time
    they divide by, where one is un-profiled and others are of the profile."""
    basis, time = basis_text(figure), _TIMES_OF_UTILISATION.get(figure.code)
    is_known = figure.baseline.value is not None or figure.candidate.value is not None
    if time is None or not is_known or comparison.verdict.of not in TIMED:
        return basis
    return say("{basis}, {source}", basis=basis, source=time)


_PROFILED = Message("as profiled")
_TIMES_OF_UTILISATION: Mapping[str, Message] = {
    "compute_utilisation": Message("un-profiled run"),
    "operator_utilisation": _PROFILED,
    "roofline_share": _PROFILED,
}
_FROM_PROFILE = frozenset(
    ("small_op_time", "small_op_count", "light_time", "light_count")
    + ("short_op_time", "short_op_count", "dispatch_gap", "operator_utilisation", "roofline_share")
    + ("kernels", "device_busy", "device_idle", "launches", "launch_time", "copies", "copy_time")
)

_FORMATS: Mapping[str, Callable[[float | None], str]] = {
    "ns": units.duration,
    "bytes": units.data_size,
    "fraction": units.percent,
    "1/s": units.rate,
    "flop/s": units.flop_rate,
    "op/s": units.op_rate,
    "byte/s": lambda value: units.bandwidth(None if value is None else value / 1e9),
    "count": units.count,
    "factor": units.factor,
    "number": units.small_number,
    "flop": units.flop_count,
    "GB/s": units.bandwidth,
    "KB": units.kilobytes,
}
