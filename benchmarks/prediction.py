"""`make calibrate-prediction`: what predictions of fusion are worth, written to docs/prediction.md.

The constants of analysis.advice.prediction are fitted to every fused convolution of the samples, by
least absolute relative error, and once more without the model that is predicted.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

import numpy as np
from scipy.optimize import nnls

from fusescope.analysis import units
from fusescope.analysis.advice import prediction
from fusescope.analysis.advice.expected import Expected, expected_fusions, fused_work
from fusescope.analysis.advice.own_kernels import own_kernel
from fusescope.analysis.advice.scorecard import Scorecard, scorecard
from fusescope.analysis.advice.settings import conditions_of
from fusescope.analysis.advice.subject import Subject
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.compare.timing.verdict import paired_verdict
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read_path

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "sample_traces"
PAGE = ROOT / "docs" / "prediction.md"
TEXT = Path(__file__).with_name("prediction.md")
MIN_GAIN = 0.02  # of what a place took, as the scorecard has it
_ROUNDS = 30


@dataclass(frozen=True)
class Place:
    """A fused convolution: its times at the peak and at the bandwidth, what it takes unfused, what
    it took, and the operators that it stands for, all in ns per run."""

    at_peak_ns: float
    at_bandwidth_ns: float
    now_ns: float
    is_depthwise: bool
    took_ns: float
    expected: Expected

    @property
    def facts(self) -> tuple[float, float, float, float]:
        """What the constants are factors of."""
        return 1.0, self.at_peak_ns, self.at_bandwidth_ns, self.now_ns


@dataclass(frozen=True)
class Recording:
    """One sample that has both variants."""

    name: str
    model: str
    card: Scorecard
    places: tuple[Place, ...]


def recordings() -> list[Recording]:
    """The samples with unfused and fused variants of which something was predicted."""
    found = []
    for path in sorted([*SAMPLES.glob("*.zip"), *(SAMPLES / "recipes").glob("*.zip")]):
        value = read_path(path)
        assert isinstance(value, Experiment)
        if not {"unfused", "fused"} <= set(value.record.names):
            continue
        sides = (side_of_variant(value, name) for name in ("unfused", "fused"))
        comparison = compare(*sides)
        card = scorecard(comparison)
        if card is not None:
            model = f"{value.record.model.name} {value.record.model.batch}"
            found.append(Recording(path.stem, model, card, tuple(_places(comparison))))
    return found


def _cuts() -> list[str]:
    """A row for each sample of a kernel of one's own: what a piece costs, and for chains of
    elementwise operators what `custom:` was predicted to save of the unfused run, and saved."""
    rows = []
    for path in sorted((SAMPLES / "recipes").glob("*.zip")):
        value = read_path(path)
        assert isinstance(value, Experiment)
        record = value.record
        for name in record.names:
            kind, _, kernel = name.partition(":")
            if kind != "segments":
                continue
            pieces = record.variant(name).settings["pieces"]
            assert isinstance(pieces, int)
            whole_ns, cut_ns = paired_verdict(record, "unfused", name).times_ns or (0.0, 0.0)
            _, ours_ns = paired_verdict(record, "unfused", f"custom:{kernel}").times_ns or (0, 0)
            predicted = "–"
            if kernel != "depthwise_conv":
                gain = own_kernel(Subject(side_of_variant(value, "unfused")), "elementwise")
                assert gain is not None
                low, high = map(units.duration, (gain.low, gain.high))
                predicted = f"{units.duration(gain.value)} ({low} to {high})"
            each = units.duration((cut_ns - whole_ns) / pieces)
            saved = units.duration(whole_ns - ours_ns)
            cells = [path.stem, str(pieces), units.duration(whole_ns), each, predicted, saved]
            rows.append(f"| {' | '.join(cells)} |")
    return rows


def _places(comparison: Comparison) -> Iterable[Place]:
    side = comparison.baseline
    subject, told = Subject(side), conditions_of(side)
    graph = side.experiment.model_graph if side.experiment else None
    assert graph is not None
    assert told is not None
    rows = comparison.ledger.rows
    after = dict(zip(rows["group"], rows["after_ns"], strict=True))
    groups = {
        frozenset(op.name for op in group.baseline): after.get(group.id)
        for group in comparison.fusion.groups
    }
    for one in expected_fusions(subject, graph, told, subject.times):
        took_ns = groups.get(frozenset(node.name for node in one.nodes))
        work = next(filter(None, (fused_work(subject, node) for node in one.nodes)), None)
        if took_ns and work is not None:
            yield Place(*work, float(took_ns), one)


def fitted(places: Sequence[Place]) -> np.ndarray:
    """fixed, a, b and c with the least absolute relative error."""
    took = np.array([place.took_ns for place in places])
    facts = np.array([place.facts for place in places])
    facts = facts / took[:, None]
    weight, found = np.ones(len(took)), np.zeros(4)
    for _ in range(_ROUNDS):
        found, _ = nnls(facts * weight[:, None], weight)
        weight = 1 / np.sqrt(np.maximum(np.abs(facts @ found - 1), 1e-3))
    return np.asarray(found)


def _without(
    recording: Recording, others: Sequence[Recording]
) -> tuple[float, list[tuple[Place, float]]]:
    """Error of the run and of each place that gained, with constants of the recordings of other
    models."""
    saved_ns, errors = 0.0, list[tuple[Place, float]]()
    card = recording.card
    for is_depthwise in (False, True):
        known = [p for one in others for p in one.places if p.is_depthwise == is_depthwise]
        own = [place for place in recording.places if place.is_depthwise == is_depthwise]
        constants = fitted(known) if own else np.zeros(4)
        for place in own:
            change = float(constants @ np.array(place.facts)) - (
                place.expected.spent_ns - place.expected.gain.value
            )
            saved_ns -= change
            measured = place.expected.spent_ns - place.took_ns
            if measured > MIN_GAIN * place.expected.spent_ns:
                error = abs(place.expected.gain.value - change - measured) / measured
                errors.append((place, error))
    run_ns = card.run_predicted.value + saved_ns
    return abs(run_ns - card.run_measured_ns) / card.run_ns, errors


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def _interval(card: Scorecard) -> str:
    whole = card.run_predicted
    value, low, high = (units.duration(ns) for ns in (whole.value, whole.low, whole.high))
    return f"{value} ({low} to {high})"


def _of_run(card: Scorecard) -> str:
    before_ns = card.run_ns + card.run_measured_ns
    return f"{units.duration(card.run_measured_ns)} of {units.duration(before_ns)}"


def _constants(of: prediction.Convolution) -> str:
    interval = f"{_percent(of.low)} to {_percent(of.high)}"
    factors = " | ".join(f"{one:g}" for one in (of.at_peak, of.at_bandwidth, of.now))
    return f"{of.fixed_ns / 1e3:.1f} µs | {factors} | {interval}"


def page() -> str:
    """docs/prediction.md."""
    found = recordings()
    rows, without = [], []
    for one in found:
        others = [other for other in found if other.model != one.model]
        run, errors = _without(one, others)
        if one.places:
            without.append((run, errors))
        card = one.card
        cells = [
            one.name,
            _interval(card),
            _of_run(card),
            _percent(card.run_error),
            _percent(card.group_error or 0.0),
            _percent(run) if one.places else "–",
            _percent(statistics.median(error for _, error in errors)) if errors else "–",
        ]
        rows.append(f"| {' | '.join(cells)} |")
    kinds: dict[str, list[float]] = {}
    for one, (_, errors) in zip((one for one in found if one.places), without, strict=True):
        for place, error in errors:
            name = f"{place.expected.pattern}{', in groups' if place.is_depthwise else ''}"
            kinds.setdefault(name, []).append(error)
    by_kind = [
        f"| {name} | {len(errors)} | {_percent(statistics.median(errors))} |"
        for name, errors in sorted(kinds.items(), key=lambda item: -len(item[1]))
    ]
    run = statistics.median(one.card.run_error for one in found)
    places = statistics.median(e for one in found for e in one.card.group_errors)
    run_without = statistics.median(error for error, _ in without)
    places_without = statistics.median(e for _, errors in without for _, e in errors)
    holds = {True: "It holds", False: "It does not hold"}
    return Template(TEXT.read_text(encoding="utf-8")).substitute(
        dense=_constants(prediction.DENSE),
        depthwise=_constants(prediction.DEPTHWISE),
        rows="\n".join(rows),
        cuts="\n".join(_cuts()),
        kinds="\n".join(by_kind),
        run=_percent(run),
        places=_percent(places),
        run_without=_percent(run_without),
        places_without=_percent(places_without),
        inside=sum(one.card.is_inside for one in found),
        count=len(found),
        verdict=f"{holds[run <= 0.10 and places <= 0.15]} for the recordings that were fitted; "
        f"{holds[run_without <= 0.10 and places_without <= 0.15].lower()} for a new model.",
    )


def main() -> None:
    """Write the page and print the constants that fit the samples best."""
    PAGE.write_text(page(), encoding="utf-8")
    every = [place for one in recordings() for place in one.places]
    for name, is_depthwise in (("dense", False), ("depthwise", True)):
        own = [place for place in every if place.is_depthwise == is_depthwise]
        constants = fitted(own)
        ratios = [place.took_ns / float(constants @ np.array(place.facts)) for place in own]
        low, high = np.quantile(ratios, (0.05, 0.95))
        print(name, len(own), constants.round(3), f"{low:.2f} to {high:.2f}")


if __name__ == "__main__":
    main()
