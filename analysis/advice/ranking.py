"""Ranking: patterns that several models miss, by what fusing them would save in all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fusescope.analysis.advice.finding import Finding, Gain, Unknown
from fusescope.analysis.advice.kinds.missed import missed_fusion
from fusescope.analysis.advice.prediction import together
from fusescope.analysis.advice.subject import Subject


@dataclass(frozen=True)
class Judged:
    """One model: the name of its recording, the variant, its un-profiled run in ns, and what it
    misses, with gains of that run; `unanswered` is why that cannot be told."""

    name: str
    variant: str
    run_ns: float
    missed: tuple[Finding, ...] = ()
    unanswered: Unknown | None = None


@dataclass(frozen=True)
class Missed:
    """A pattern that is missed for the same reason: the names of the models, most gain first, and
    the finding in the first of them; places and the gain of one run of each are of all."""

    pattern: str
    blocked_by: str
    models: tuple[str, ...]
    places: int
    gain: Gain
    largest: Finding


@dataclass(frozen=True)
class Ranking:
    """Patterns, most gain first; `run_ns` is one run of each judged model together."""

    models: tuple[Judged, ...]
    missed: tuple[Missed, ...]
    run_ns: float


def judged(name: str, subject: Subject) -> Judged:
    """What one variant misses. Of a recording without un-profiled runs, as profiled."""
    run_ns = subject.unprofiled_ns or subject.operators_ns
    found = missed_fusion(subject)
    if isinstance(found, str):
        return Judged(name, subject.side.label, run_ns, unanswered=found)
    missed = tuple(
        replace(one, gain=one.gain.scaled(subject.unprofiled_part))
        for one in found
        if one.gain is not None
    )
    return Judged(name, subject.side.label, run_ns, missed)


def ranking(models: Sequence[Judged]) -> Ranking:
    """All of them together, each model counted with one run."""
    alike: dict[tuple[str, str], list[tuple[str, Finding, Gain]]] = {}
    for model in models:
        for one in model.missed:
            if one.gain is not None:
                key = (str(one.values["pattern"]), str(one.values["blocked_by"]))
                alike.setdefault(key, []).append((model.name, one, one.gain))
    missed = [_missed(*key, found) for key, found in alike.items()]
    run_ns = sum(model.run_ns for model in models if model.unanswered is None)
    ordered = sorted(missed, key=lambda one: one.gain.value, reverse=True)
    return Ranking(tuple(models), tuple(ordered), run_ns)


def _missed(pattern: str, blocked_by: str, found: list[tuple[str, Finding, Gain]]) -> Missed:
    found = sorted(found, key=lambda one: one[2].value, reverse=True)
    return Missed(
        pattern,
        blocked_by,
        tuple(dict.fromkeys(name for name, _, _ in found)),
        sum(int(str(finding.values["places"])) for _, finding, _ in found),
        together(*(gain for _, _, gain in found)),
        found[0][1],
    )
