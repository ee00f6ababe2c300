"""Several sides at once: which may be the fastest, what each is compared with, what is doubted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.multiple.comparison import Entry, MultipleComparison
from fusescope.analysis.compare.multiple.pareto import Cost, Pareto, Point
from fusescope.analysis.compare.timing.verdict import (
    OTHER_WORK,
    SHOWN_ALPHA,
    Interval,
    VerdictOutcome,
)
from fusescope.analysis.compare.trust import trust
from fusescope.analysis.messages import Message, Part, Said, listed, paragraph, passage, say
from fusescope.analysis.wording.counted import figure_text
from fusescope.analysis.wording.diagnostics import diagnostic_sentence
from fusescope.analysis.wording.quantities import BASES
from fusescope.analysis.wording.sentences import (
    assumptions_sentence,
    column_of_quantities,
    level_text,
    quantity_text,
    samples_text,
    verdict_basis,
    verdict_parts,
    why_not_told,
)
from fusescope.analysis.wording.texts import FIGURES, FigureText
from fusescope.analysis.wording.trust import doubts_counted

MULTIPLE_TITLE = Message("Several variants against {baseline:name}")
BASELINE = Message("baseline")
MULTIPLE_HELP = Message(
    "Speedup: time of the baseline / time of the variant, above 1 is faster. Each interval is wide "
    "enough for all of them to hold together at 95 %. Against the baseline: "
    "faster or slower than it, where noise lets that be told."
)
_OUTCOMES: Mapping[VerdictOutcome, Message] = {
    "faster": Message("faster"),
    "slower": Message("slower"),
    "cannot_tell": Message("cannot tell"),
    "noise_unknown": Message("noise unknown"),
}
_NOT_COMPARED = Message("not compared")
_NO_CHANGE = Message("no change")
_FASTEST = Message(
    "**{best:name}** is the fastest of the {n:count}: every other one is slower than "
    "it beyond the noise."
)
_ONE_OF = Message("The fastest of the {n:count} is **one of these**: {names}.")
_OTHERS_SLOWER = Message(
    "Each of the others is slower than at least one variant, beyond the noise."
)
_NONE_APART = Message(
    "At this noise it **cannot be told which of the {n:count} is the fastest**: {names}."
)
_NOT_APART = Message("At this noise they cannot be told apart.")
_DETECTABLE = Message(
    "A difference of {change:percent} between the first and another would have shown."
)
_DETECTABLE_BEYOND = Message(
    "Even a variant that takes twice as long might not have shown: more blocks on a quiet machine "
    "show smaller differences."
)
_UNKNOWN = Message(
    "{best:name} has the shortest time. The noise is unknown, so {others} may be as fast."
)
_CONTROL = Message(
    "{best:name} has the shortest time, but the two copies of the baseline differ, so this machine "
    "was not steady: it cannot be told from {others}."
)
_NONE = Message("No two of these have times that can be compared.")
_UNRANKED = Message(
    "Not ranked, because their times do not compare with those of {baseline:name}: {names}."
)


def best_parts(multiple: MultipleComparison) -> tuple[Part, ...]:
    """Which sides may be the fastest, in pieces: at this noise, and what cannot be told apart."""
    if len(multiple.comparisons) == 1:  # says what the page says of that pair
        return verdict_parts(multiple.comparisons[0])
    best, names = multiple.best, [side.name for side in multiple.sides]
    members = [names[at] for at in best.members]
    told: list[tuple[Part, ...]] = []
    if not members:
        told.append(_NONE.parts())
    elif len(members) == 1:
        told.append(_FASTEST.parts(best=members[0], n=len(members) + len(best.ruled_out)))
    elif best.noise != "known":
        message = _UNKNOWN if best.noise == "unknown" else _CONTROL
        told.append(message.parts(best=members[0], others=_names(members[1:])))
    else:
        total = len(members) + len(best.ruled_out)
        if best.ruled_out:
            told.append(_ONE_OF.parts(n=total, names=_names(members)))
            told.append(_NOT_APART.parts())
        else:
            told.append(_NONE_APART.parts(n=total, names=_names(members)))
        if best.detectable is not None:
            told.append(_detectable(best.detectable))
        if best.ruled_out:
            told.append(_OTHERS_SLOWER.parts())
    if best.unranked and members:
        out = _names([names[at] for at in best.unranked])
        told.append(_UNRANKED.parts(baseline=names[0], names=out))
    return passage(*told)


_NAME, _NEXT_NAME = Message("{name:name}"), Message("{names}, {name:name}")


def _detectable(change: float) -> tuple[Part, ...]:
    """Return the smallest difference that would have shown; beyond 100 % only what to do."""
    if change > 1:
        return _DETECTABLE_BEYOND.parts()
    return _DETECTABLE.parts(change=change)


def _names(names: Sequence[str]) -> Said:
    """Names in a sentence, each of which is shown, and cut, by itself."""
    told = _NAME.of(name=names[0])
    for name in names[1:]:
        told = _NEXT_NAME.of(names=told, name=name)
    return told


def best_sentence(multiple: MultipleComparison) -> str:
    """`best_parts` as text. Names in it come from files."""
    return "".join(part.text for part in best_parts(multiple))


_EVERYTHING = Message("Everything is compared with {baseline:name}.")
_ALL_BUT_TIMES = Message("Everything but run times is compared with {baseline:name}.")


def basis_sentences(multiple: MultipleComparison) -> str:
    """What is compared with what, by which times, and how it is corrected."""
    if len(multiple.comparisons) == 1:
        return paragraph(
            verdict_basis(multiple.comparisons[0].verdict),
            correction_sentence(multiple),
            _of_outputs(multiple),
        )
    verdicts = [comparison.verdict for comparison in multiple.comparisons]
    timed = [verdict for verdict in verdicts if verdict.speedup is not None]
    times = dict.fromkeys(filter(None, map(samples_text, timed or verdicts)))
    against = _EVERYTHING if multiple.best.members else _ALL_BUT_TIMES
    told = against.text(baseline=multiple.baseline.name)
    ranks = _lines(multiple, _ranks_of)
    return paragraph(told, *times, *ranks, correction_sentence(multiple), _of_outputs(multiple))


def _ranks_of(comparison: Comparison) -> list[str]:
    """How the two sides are ranks of one job, which the answer rests on."""
    notes = trust(comparison.diagnostics).notes
    return [diagnostic_sentence(note) for note in notes if note.code == "ranks_of_one_job"]


def _of_outputs(multiple: MultipleComparison) -> str:
    """Whose outputs the differences are from, where it is not the baseline of the table; '' where
    none is known."""
    if "output_difference" not in multiple.columns:
        return ""
    if not multiple.is_one_recording:
        return say("Output differences are from the baseline that each was recorded with.")
    record = multiple.sides[0].experiment
    recorded = record.record.settings.baseline if record else ""
    if recorded == multiple.baseline.label:
        return ""
    return say(
        "Output differences are from {baseline:name}, the recorded baseline.", baseline=recorded
    )


def correction_sentence(multiple: MultipleComparison) -> str:
    """How verdicts and intervals are corrected; '' without an interval."""
    level = _level(multiple)
    if level is None:
        return ""
    looks = {
        len(side.experiment.record.settings.looks) for side in multiple.sides if side.experiment
    }
    if len(multiple.sides) == 2 and level <= 1 - SHOWN_ALPHA:
        return say("The interval is at 95 %.")
    message = _CORRECTED_LOOKS if max(looks, default=1) > 1 else _CORRECTED
    return message.text(level=level_text(level))


def interval_head(multiple: MultipleComparison) -> Said:
    """Return what stands over the intervals: '99.29 % interval'."""
    level = _level(multiple)
    return _INTERVAL.of() if level is None else _INTERVAL_AT.of(level=level_text(level))


def _level(multiple: MultipleComparison) -> float | None:
    """The confidence at which each interval holds at least; None without one."""
    alphas = {c.verdict.alpha for c in multiple.comparisons if c.verdict.corrected is not None}
    return 1 - max(alphas) if alphas else None


_INTERVAL = Message("interval")
_INTERVAL_AT = Message("{level} interval")


_CORRECTED = Message(
    "Results and intervals are corrected for several candidates (Bonferroni): each interval is at "
    "{level}, so that all of them hold together at 95 %."
)
_CORRECTED_LOOKS = Message(
    "Results and intervals are corrected for several candidates (Bonferroni) and for looks during "
    "the recording (Pocock): each interval is at {level}, so that all of them hold together at "
    "95 %."
)


def speedup_text(entry: Entry) -> str:
    """'2.15×'; a dash where none is shown."""
    return say("{speedup:factor}", speedup=shown_speedup(entry))


def shown_speedup(entry: Entry) -> float | None:
    """Return the speedup; None of the baseline, where there is no time, and where no change is
    shown, of which a ratio would be one."""
    verdict = entry.verdict
    return None if verdict is None or verdict.reason == "no_change" else verdict.speedup


def has_speedups(multiple: MultipleComparison) -> bool:
    """Return whether a speedup of any side is shown."""
    return any(shown_speedup(entry) is not None for entry in multiple.entries)


def interval_text(entry: Entry) -> str:
    """'2.14× to 2.17×', corrected for several candidates; '' without one."""
    interval = entry.verdict.corrected if entry.verdict and shown_speedup(entry) else None
    return "" if interval is None else range_text(interval)


def range_text(interval: Interval) -> str:
    """'2.14× to 2.17×'."""
    return say("{low:factor} to {high:factor}", low=interval.low, high=interval.high)


def result_text(entry: Entry) -> str:
    """'faster', 'cannot tell'; that it is the baseline, or does not compare with it."""
    if entry.verdict is None:
        return BASELINE.text()
    if entry.verdict.speedup is None:
        return _NOT_COMPARED.text()
    if entry.verdict.reason == "no_change":
        return _NO_CHANGE.text()
    return _OUTCOMES[entry.verdict.outcome].text()


def figure_cells(entries: Sequence[Entry], code: str) -> list[str]:
    """A figure of each side with its unit, which times and sizes share, '~' for estimates, a dash
    where there is none."""
    quantities = [entry.figures.get(code) for entry in entries]
    known = [quantity for quantity in quantities if quantity is not None]
    column = column_of_quantities(known) if known else None
    return [units.MISSING if one is None else quantity_text(one, column) for one in quantities]


def bases_sentence(multiple: MultipleComparison) -> str:
    """What the figures rest on, and what those that are not measured were computed with."""
    return paragraph(
        _bases(multiple, multiple.columns),
        say("Small-op ratio, short-op ratio and light time are from the profile."),
        assumptions_sentence(*multiple.comparisons),
    )


def measured_sentence(multiple: MultipleComparison, codes: Sequence[str]) -> str:
    """What those of these figures rest on that a side has."""
    return _bases(multiple, [code for code in codes if code in multiple.columns])


def _bases(multiple: MultipleComparison, codes: Sequence[str]) -> str:
    of: dict[str, list[str]] = {}
    for code in codes:
        of.setdefault(column_basis(multiple, code), []).append(column_text(multiple, code).label)
    told = [
        say("{figures} ({basis})", figures=listed(labels), basis=basis)
        for basis, labels in of.items()
    ]
    return say("What they rest on: {figures}.", figures=listed(told))


# Doubts about comparing at all; those about single operators are left to the comparison of a pair.
_ABOUT_ALL = (
    "different_models", "different_sizes", "models_unknown", "model_not_shown",
    "different_phases", "capture_and_replay", "different_work",
    "same_variant", "same_file",
    "graphs_of_two_models",
    "heavy_counts_differ",
    "operator_counts_differ", "quantised", "large_output_difference", "outputs_not_compared",
    "one_class",
    "boundaries_included", "requests_at_once",
    "ranks_apart", "worlds_differ",
    "device_counts_differ", "devices_differ", "engines_differ", "engine_versions_differ",
    "providers_differ", "translated",
    "levels_differ",
    "tools_differ", "formats_differ", "versions_differ",
    "recordings_differ", "compared_cut_short", "compared_open_end", "compared_rows_lost", "control",
    "load_seen", "load",
    "device_busy", "stopped_device", "stopped_interrupted", "stopped_seconds", "runs_differ",
    "runs_unknown",
    "communication_differs",
)  # fmt: skip
_APART = Message(
    "{names:name}: recorded apart from {baseline:name}, so neither machine nor drift is controlled."
)
_NONE_OF_TABLE = Message("No doubt about this table was found.")
_PAIR_DOUBTS = Message(
    "{n:count} doubt concerns the profiles of a single pair: compare that pair to see it.",
    "{n:count} doubts concern the profiles of single pairs: compare those pairs to see them.",
)
_MORE = Message(
    "{n:count} more concerns the profiles of a single pair: compare that pair to see it.",
    "{n:count} more concern the profiles of single pairs: compare those pairs to see them.",
)


def column_text(multiple: MultipleComparison, code: str) -> FigureText:
    """Name and definition of a column's figure: where no file marks its runs, the time of a file is
    no latency, and where one does not give its batch size a rate is none of samples."""
    texts = [figure_text(comparison, code) for comparison in multiple.comparisons]
    if code == "throughput":
        return max(texts, key=lambda text: text != FIGURES[code])
    return texts[0] if len({text.label for text in texts}) == 1 else FIGURES[code]


def column_basis(multiple: MultipleComparison, code: str) -> str:
    """What the figures of a column rest on: 'measured'."""
    quantities = [entry.figures[code] for entry in multiple.entries if code in entry.figures]
    known = dict.fromkeys(one.basis for one in quantities if one.value is not None)
    return " / ".join(BASES[basis].text() for basis in known)


def doubt_lines(multiple: MultipleComparison) -> tuple[str, ...]:
    """What speaks against the comparisons, each sentence once, with the sides that it is of where
    it is not of all: 'fused, int8: …'."""
    is_pair = len(multiple.comparisons) == 1
    lines = []
    apart = [
        side.name
        for side, comparison in zip(multiple.sides[1:], multiple.comparisons, strict=True)
        if comparison.verdict.pairing not in ("blocks", "paired_files")
        and not _are_ranks(comparison)
    ]
    if apart:
        lines.append(_APART.text(names=", ".join(apart), baseline=multiple.baseline.name))
    lines += _lines(multiple, lambda comparison: _doubts_of(comparison, is_pair=is_pair))
    if of_pairs := _doubts_of_pairs(multiple):
        lines.append(_PAIR_DOUBTS.text(n=of_pairs))
    return tuple(lines)


def doubts_counted_text(multiple: MultipleComparison) -> str:
    """Return how many doubts speak against the table, and how many against single pairs, whose
    profiles it has no figure of."""
    of_pairs = _doubts_of_pairs(multiple)
    own = doubts_counted(len(doubt_lines(multiple)) - bool(of_pairs))
    if not of_pairs:
        return own
    if not has_doubts(multiple):
        return paragraph(_NONE_OF_TABLE.text(), _PAIR_DOUBTS.text(n=of_pairs))
    return paragraph(own, _MORE.text(n=of_pairs))


def has_doubts(multiple: MultipleComparison) -> bool:
    """Return True where one speaks against the table."""
    return len(doubt_lines(multiple)) > bool(_doubts_of_pairs(multiple))


def _doubts_of_pairs(multiple: MultipleComparison) -> int:
    """Return how many doubts concern the profiles of single pairs; 0 of one pair alone."""
    if len(multiple.comparisons) == 1:
        return 0
    specific = [
        one for comparison in multiple.comparisons for one in trust(comparison.diagnostics).specific
    ]
    return len({diagnostic_sentence(one) for one in specific if one.code not in _ABOUT_ALL})


def _are_ranks(comparison: Comparison) -> bool:
    return comparison.ranks is not None and comparison.ranks.is_one_job


def _doubts_of(comparison: Comparison, *, is_pair: bool) -> list[str]:
    """What speaks against one of the comparisons; of a pair, whose answer says why its noise is not
    known, every doubt."""
    reason = comparison.verdict.reason
    is_told = is_pair or _are_ranks(comparison)
    is_told = is_told or reason in (None, "within_noise", "no_change", *OTHER_WORK)
    told = [] if is_told else [why_not_told(comparison.verdict)]
    specific = trust(comparison.diagnostics).specific
    return told + [
        diagnostic_sentence(note) for note in specific if is_pair or note.code in _ABOUT_ALL
    ]


def _lines(
    multiple: MultipleComparison, told_of: Callable[[Comparison], Sequence[str]]
) -> list[str]:
    """What is told of each comparison, each sentence once, with the sides that it is of where it is
    not of all: 'fused, int8: …'."""
    of: dict[str, list[str]] = {}
    for side, comparison in zip(multiple.sides[1:], multiple.comparisons, strict=True):
        for sentence in dict.fromkeys(told_of(comparison)):
            of.setdefault(sentence, []).append(side.name)
    return [
        sentence
        if len(names) == len(multiple.comparisons)
        else _OF.text(names=", ".join(names), doubt=sentence)
        for sentence, names in of.items()
    ]


_OF = Message("{names:name}: {doubt:name}")
TIMELINES_HELP = Message(
    "One run of each side, or one of the units of work that are compared, or the whole file where "
    "neither is known, as profiled, on one "
    "time scale, in the order of the table. A click on an operator shows the same one "
    "everywhere, as far as names and graphs tell."
)
PARETO_TITLE = Message("Speed against accuracy and memory")
PARETO_HELP = Message(
    "Each variant by its latency, and by what it costs: the largest difference of its outputs "
    "/ their largest value, and its peak memory. Filled: no variant that is shown to be faster "
    "costs no more (Pareto front). Differences up to 1e-4, and memory within 1 %, count as equal."
)
PARETO_FRONT = Message("Pareto front")
ROUNDING = Message("What lies below this line is rounding.")
_FRONT = Message("Pareto front of {costs}: {names:name}.")
_BEATEN = Message(
    "Each of the others is slower, beyond the noise, than a variant that costs no more."
)
_EQUAL = {
    "output_difference": Message("Output differences up to 1e-4 count as equal."),
    "memory": Message("Memory within 1 % counts as equal."),
}


def front_sentence(multiple: MultipleComparison, found: Pareto) -> str:
    """The sides of the Pareto front. Names come from files."""
    names = ", ".join(multiple.sides[at].name for at in found.front)
    costs = listed([FIGURES[code].label for code in ("latency", *found.costs)])
    others = len(found.points) > len(found.front)
    beaten = _BEATEN.text() if others else ""
    equal = [_EQUAL[code].text() for code in found.costs] if others else []
    return paragraph(_FRONT.text(costs=costs, names=names), beaten, *equal)


def front_text(multiple: MultipleComparison, found: Pareto, at: int) -> str:
    """How the side at `at` stands to the Pareto front; '' where nobody knows."""
    point = next((one for one in found.points if one.side == at), None)
    if point is None:
        return ""
    if not point.dominated_by:
        return say("on it")
    return say("beaten by {name:name}", name=multiple.sides[point.dominated_by[0]].name)


def point_text(name: str, point: Point, cost: Cost) -> str:
    """'fused: 4.91 ms, peak memory 93.4 MB'. The name comes from a file."""
    value = point.costs[cost] or 0.0
    return say(
        "{name:name}: {latency:duration}, {cost} {value}",
        name=name,
        latency=point.latency_ns,
        cost=FIGURES[cost].label,
        value=units.data_size(value) if cost == "memory" else units.small_number(value),
    )
