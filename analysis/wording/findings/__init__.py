"""Findings as sentences: what limits, why, what to try, and what that would bring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import msgspec

from fusescope.analysis import units
from fusescope.analysis.advice.finding import Confidence, Finding, Findings, Unknown
from fusescope.analysis.messages import Message, Part, Shown, listed, paragraph, say
from fusescope.analysis.operators.short_names import short_name, short_pattern
from fusescope.analysis.patterns.pattern import Blocker, Fact
from fusescope.analysis.wording.advice import near_miss_remedy, near_miss_sentence
from fusescope.analysis.wording.findings.host import (
    CALLER,
    CAUSES,
    LAUNCHING,
    MORE_IN_GRAPHS,
    PROFILERS_OWN,
    PROFILERS_REMEDY,
    CauseText,
)
from fusescope.analysis.wording.findings.particular import (
    BALANCE,
    COPIES_WITHIN,
    COPIES_WITHIN_REMEDY,
    FUSIONS_BY_SIZES,
    IDLE_ALONE,
    IDLE_BESIDE_HOST,
    IDLE_IN_COMPILED,
    IDLE_IN_COMPILED_REMEDY,
    IDLE_NOWHERE,
    KEPT_LIMITS,
    KEPT_REMEDY,
    KEPT_SLOWER,
    LAUNCHING_LONGEST,
    LAYOUT_OFF,
    LEFT_AS_IT_WAS,
    LEFT_OUT_BY_COMPILER,
    LOW_ON_DEVICE,
    MESSAGE_RATE,
    MORE_THAN_THEIRS,
    MOSTLY_TENSORS,
    MOSTLY_WEIGHTS,
    NO_BATCH_NORM,
    OF_ENGINES,
    ON_CPU_OF_DEVICE,
    OPTIMISATION_OFF,
    OTHER_KERNEL,
    OTHER_ON_DEVICE,
    PEAK,
    PEAK_IN,
    REPEATED,
    REPEATED_REMEDY,
    REPEATED_REMEDY_JAX,
    REPEATED_TIME,
    REPEATED_WHY,
    ROOFS,
    SIZES_AND_FUSIONS,
    SIZES_NOT_KNOWN,
    STAGES_IN_TURN,
    TAILS,
    TUNE,
    UNEVEN_STAGES,
    WAITING,
)
from fusescope.analysis.wording.findings.texts import TEXTS
from fusescope.analysis.wording.findings.unknown import REASONS
from fusescope.analysis.wording.noise.slow_executions import SLOW_IS_TOLD

FINDINGS_TITLE = Message("What limits {side:name} now")
FINDINGS_HELP = Message(
    "In order of what a remedy is predicted to save; where nothing allows a prediction, half of "
    "the most that it could save counts. Small parts of the time are not listed. Predictions rest "
    "on recordings of other models, so their intervals are wide: measure before you keep a change."
)
NOTHING = Message("Nothing stands out among what can be answered here.")
MORE = Message("One more finding", "{n:count} more findings")
UNKNOWN_TITLE = Message("What cannot be answered")
SHOW_STRETCH = Message("Show on the timeline")
CONFIDENCE: Mapping[Confidence, Message] = {
    "high": Message("high confidence"),
    "medium": Message("medium confidence"),
    "low": Message("low confidence"),
}
_GAIN = Message(
    "Predicted saving: **{value:percent}** of the time ({low:percent} to {high:percent})."
)
_MEASURED_GAIN = Message(
    "Measured loss: **{value:percent}** of the time ({low:percent} to {high:percent})."
)
_AT_MOST = Message("At most **{most:percent}** of the time can be saved.")
_IN_TIME = Message("That is {value:duration} of {run:duration}.")
_GAIN_IN_TIME = Message("The predicted saving is {value:duration} of {run:duration}.")
_OF_FILE_IN_TIME = Message("That is {value:duration} of {run:duration} in the file.")
_NO_TIME = Message("It costs memory; what it costs in time is not known.")
_OF_RUNS = Message("Times are means as profiled.")
_BUT_SOME = Message(
    "Times are of the mean run as profiled, {mean:duration}. The saving of {labels} is a "
    "share of a run of {run:duration}."
)
_BUT_SOME_MEDIAN = Message(
    "Times are of the mean run as profiled, {mean:duration}. The saving of {labels} is a "
    "share of the median un-profiled run, {run:duration}."
)
_BUT_SOME_RUNS = Message(
    "Times are of the mean run as profiled, {mean:duration}. The saving of {labels} is a "
    "share of runs of {low:duration} to {high:duration}."
)
_LEAVE_OUT = Message("Slow executions, which add {slow:duration} to the mean run, are left out.")
_OF_THE_FILE = Message("Times are of the whole file, as it does not mark its runs.")
_NAMES = 4  # of operators that are shown
_MOSTLY = 0.6  # of the bytes that are weights, from which the remedy is about them


class _Missed(msgspec.Struct, frozen=True):
    """A missed fusion as the sentences of near misses take it."""

    tensor: str
    blocked_by: Blocker
    values: Mapping[str, Fact]


def label_text(finding: Finding) -> str:
    """The name of its kind."""
    cause = _cause(finding)
    return (TEXTS[finding.code].label if cause is None else cause.label).text()


def limit_parts(finding: Finding) -> tuple[Part, ...]:
    """What limits, in one sentence with its figures; names of it come from the file."""
    limits = TEXTS[finding.code].limits
    if finding.code == "dynamic_dimensions" and finding.values.get("stake_ns"):
        limits = SIZES_AND_FUSIONS if finding.values.get("time_ns") else FUSIONS_BY_SIZES
    if _is_repeated(finding):
        limits = REPEATED
    if _is_kept(finding):
        limits = KEPT_LIMITS
    if finding.code == "idle_time" and not finding.values.get("gap_ns"):
        limits = IDLE_NOWHERE
    cause = _cause(finding)
    if cause is not None:
        limits = LAUNCHING_LONGEST if "longest_ns" in finding.values else cause.limits
    said = limits.of(**_values(finding))
    if finding.values.get("by"):
        said = CALLER.of(sentence=said, **_values(finding))
    if "some_units" not in finding.values:
        return said.parts()
    from fusescope.analysis.wording.explanation.some_units import (
        with_some_units,  # all of explanations
    )

    word = str(finding.values.get("some_of", "runs")).removesuffix("s")
    return with_some_units(said, finding.values, word).parts()


def why_text(finding: Finding) -> str:
    """What that means, in one sentence or two; names come from the file."""
    if finding.code == "missed_fusion":
        return near_miss_sentence(_missed(finding))
    if finding.code == "idle_time" and (finding.values.get("has_host") or _compiles(finding)):
        return paragraph(
            IDLE_IN_COMPILED.text(**_values(finding)) if _compiles(finding) else "",
            IDLE_BESIDE_HOST.text() if finding.values.get("has_host") else "",
        )
    if finding.code == "dynamic_dimensions" and finding.gain is not None:
        return SIZES_NOT_KNOWN.text()
    if _is_repeated(finding):
        return REPEATED_WHY.text()
    if _is_kept(finding):
        return KEPT_SLOWER.text()
    if finding.code == "run_tail":
        return TAILS[str(finding.values["cause"])].text()
    if (cause := _cause(finding)) is not None:
        if finding.values.get("is_profiler"):
            return PROFILERS_OWN.text()
        if "latency_ns" in finding.values:
            return LAUNCHING[bool(finding.values["is_ahead"])].text(**_values(finding))
        return cause.why.text()
    if finding.code == "not_optimised":
        light_ns, gain = finding.values.get("light_ns"), finding.gain
        more = gain is not None and isinstance(light_ns, float) and gain.value > light_ns
        return (MORE_THAN_THEIRS if more else OPTIMISATION_OFF).text()
    if finding.code == "peak_memory":
        return (PEAK_IN if finding.names else PEAK).text(**_values(finding))
    if finding.code == "communication":
        return _communication(finding)
    if finding.values.get("is_within"):
        return COPIES_WITHIN.text(**_values(finding))
    if finding.code == "low_utilisation" and finding.values.get("on_device"):
        return LOW_ON_DEVICE.text(**_values(finding))
    if finding.code == "fallback" and finding.values.get("on_device"):
        return ON_CPU_OF_DEVICE.text(**_values(finding))
    roof = ROOFS.get((finding.code, bool(finding.values.get("depthwise_ns"))))
    if roof is not None:
        return roof.text(**_values(finding))
    why = TEXTS[finding.code].why
    return "" if why is None else why.text(**_values(finding))


def _communication(finding: Finding) -> str:
    """Return what communication that nothing hides means: its rate, and what of it is waiting."""
    why = TEXTS["communication"].why
    plain = "" if why is None else why.text()
    waits = WAITING.get(finding.values.get("waits"))
    return paragraph(
        MESSAGE_RATE.text(**_values(finding)) if finding.values.get("rate") else plain,
        "" if waits is None else waits.text(**_values(finding)),
    )


def remedy_text(finding: Finding) -> str:
    """What to try; names come from the file."""
    if finding.code == "missed_fusion":
        return near_miss_remedy(_missed(finding))
    if finding.code == "idle_time" and _compiles(finding):
        return IDLE_IN_COMPILED_REMEDY.text()
    if finding.code == "idle_time" and finding.values.get("is_alone"):
        return IDLE_ALONE.text()
    if "of_graphs" in finding.values:
        return MORE_IN_GRAPHS.text(**_values(finding))
    if (cause := _cause(finding)) is not None:
        return (PROFILERS_REMEDY if finding.values.get("is_profiler") else cause.remedy).text()
    if finding.code == "communication":
        share = finding.values.get("wait_share")
        if isinstance(share, float) and share > _MOSTLY:
            return _balance(finding)
    if finding.values.get("is_within"):
        return COPIES_WITHIN_REMEDY.text()
    if finding.code == "memory_bound":
        weights = finding.values.get("weights")
        mostly = isinstance(weights, float) and weights > _MOSTLY
        return (MOSTLY_WEIGHTS if mostly else MOSTLY_TENSORS).text()
    if finding.code == "low_utilisation":
        if finding.values.get("on_device"):
            return OTHER_ON_DEVICE.text()
        return (LAYOUT_OFF if finding.values.get("layout_off") else OTHER_KERNEL).text()
    if finding.code == "light_after_heavy" and not finding.values.get("batch_norm"):
        return NO_BATCH_NORM.text()
    if _is_kept(finding):
        return KEPT_REMEDY.text()
    if (tuned := TUNE.get(str(finding.values.get("library")))) is not None:
        return tuned.text()
    engine = str(finding.values.get("engine", ""))
    other = LEFT_AS_IT_WAS.get(engine)
    if finding.code == "fused_slower" and other is not None:
        return other.text()
    named = TEXTS["slow_kernel"].remedy
    if finding.code == "fused_slower" and "optimizer" in finding.values and named is not None:
        return named.text(**_values(finding))
    if (of_engine := OF_ENGINES.get((finding.code, engine))) is not None:
        return of_engine.text()
    if finding.code == "costly_fusion" and finding.values.get("of") == "fusion":
        return LEFT_OUT_BY_COMPILER.text(**_values(finding))
    if _is_repeated(finding):
        jax = finding.values.get("engine") == "jax"
        return (REPEATED_REMEDY_JAX if jax else REPEATED_REMEDY).text()
    remedy = TEXTS[finding.code].remedy
    return "" if remedy is None else remedy.text(**_values(finding))


def _balance(finding: Finding) -> str:
    """Return what shortens the wait for other ranks; of two stages of a pipeline what the
    comparison of both says."""
    if "longer" in finding.values:
        return UNEVEN_STAGES.text(**_values(finding))
    return (STAGES_IN_TURN if finding.values.get("is_stage") else BALANCE).text()


def source_text(finding: Finding) -> str:
    """What the finding rests on."""
    return TEXTS[finding.code].source.text()


def gain_parts(finding: Finding, run_ns: float | None) -> tuple[Part, ...]:
    """What a remedy is predicted to save of a run of `run_ns`, else what it can save at most, as a
    share: the run that it is of is not that of the verdict, whose time alone a page leads with."""
    gain, run_ns = finding.gain, finding.of_ns or run_ns
    if gain is not None and run_ns:
        text = _MEASURED_GAIN if gain.basis == "measured" else _GAIN
        value, low, high = (ns / run_ns for ns in (gain.value, gain.low, gain.high))
        return text.parts(value=value, low=low, high=high)
    if finding.at_most_ns is not None and run_ns:
        return _AT_MOST.parts(most=finding.at_most_ns / run_ns)
    return (REPEATED_TIME if finding.code == "recomputed" else _NO_TIME).parts()


def time_text(finding: Finding, run_ns: float | None, *, has_runs: bool) -> str:
    """The same as a time, and the run that it is of; '' where it costs none."""
    run_ns = finding.of_ns or run_ns
    if finding.gain is not None and finding.gain.basis != "measured" and run_ns:
        return _GAIN_IN_TIME.text(value=finding.gain.value, run=run_ns)
    value = finding.at_most_ns if finding.gain is None else finding.gain.value
    if value is None or not run_ns:
        return ""
    return (_IN_TIME if has_runs else _OF_FILE_IN_TIME).text(value=value, run=run_ns)


def _cause(finding: Finding) -> CauseText | None:
    """The sentences for what the host did while the device was idle; None of other kinds."""
    return CAUSES[str(finding.values["cause"])] if finding.code == "idle_by_host" else None


def _compiles(finding: Finding) -> bool:
    """Return whether code of a compiler is part of the time in which nothing runs."""
    return bool(finding.values.get("compiled_ns"))


def _is_kept(finding: Finding) -> bool:
    """Whether a group that got slower was left as it is."""
    return finding.code == "fused_slower" and finding.values.get("kind") == "kept"


def _is_repeated(finding: Finding) -> bool:
    """Whether it is a compiler that says how much it computes again."""
    return finding.code == "recomputed" and "time_ns" not in finding.values


def times_text(found: Findings) -> str:
    """Return what the times are of and leave out, and those of which findings are of another
    run."""
    is_told = found.slow_ns > SLOW_IS_TOLD * (found.run_ns or 0.0)
    return paragraph(_of_runs(found), _LEAVE_OUT.text(slow=found.slow_ns) if is_told else "")


def _of_runs(found: Findings) -> str:
    if not found.has_runs:
        return _OF_THE_FILE.text()
    mean = units.duration(found.run_ns)
    apart = [one for one in found.found if one.of_ns and units.duration(one.of_ns) != mean]
    if not apart or found.run_ns is None:
        return _OF_RUNS.text()
    labels = listed(tuple(dict.fromkeys(label_text(one) for one in apart)))
    low, high = (extreme(one.of_ns or 0.0 for one in apart) for extreme in (min, max))
    if units.duration(low) == units.duration(high):
        is_median = all(one.of_ns == found.median_unprofiled_ns for one in apart)
        message = _BUT_SOME_MEDIAN if is_median else _BUT_SOME
        return message.text(mean=found.run_ns, labels=labels, run=high)
    return _BUT_SOME_RUNS.text(mean=found.run_ns, labels=labels, low=low, high=high)


def names_text(finding: Finding) -> str:
    """The operators that it is about, a few of many; '' for none."""
    names = [short_name(name) for name in finding.names[:_NAMES]]
    if finding.where == "run" or not names:
        return ""
    places = finding.values.get("places")  # of which the names are those of one
    is_of_several = isinstance(places, int) and places > 1
    if is_of_several or len(finding.names) > len(names):
        return say("{names:name} and more", names=", ".join(names))
    return ", ".join(names)


def unknown_lines(findings: Findings) -> tuple[str, ...]:
    """What cannot be answered, kinds with one reason in one line; most kinds first."""
    by_reason: dict[Unknown, list[str]] = {}
    for one in findings.unanswered:
        by_reason.setdefault(one.reason, []).append(TEXTS[one.code].label.text())
    if len(by_reason) == 1 and not findings.found:  # of all kinds, which need no list
        return tuple(say("{reason}.", reason=REASONS[reason]) for reason in by_reason)
    ordered = sorted(by_reason.items(), key=lambda item: -len(item[1]))
    return tuple(
        say("{reason}. Not judged: {kinds}.", reason=REASONS[reason], kinds=listed(kinds))
        for reason, kinds in ordered
    )


_OF_KERNELS = ("operator", "example", "op_type", "pattern", "members")


def _values(finding: Finding) -> dict[str, Shown]:
    values = cast("dict[str, Shown]", dict(finding.values))
    values |= {
        name: short_pattern(value)
        for name, value in values.items()
        if name in _OF_KERNELS and isinstance(value, str)
    }
    if isinstance(types := values.get("op_types"), str):
        values["op_types"] = ", ".join(map(short_pattern, types.split(", ")))
    counts = (values.get(name) for name in ("places", "operators", "executions"))
    number = next((count for count in counts if type(count) is int), None)
    return {"n": number, **values}


def _missed(finding: Finding) -> _Missed:
    values = dict(finding.values)
    return _Missed(
        tensor=str(values.pop("tensor")),
        blocked_by=cast("Blocker", values.pop("blocked_by")),
        values=cast("Mapping[str, Fact]", values),
    )
