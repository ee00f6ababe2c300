"""Scorecard: what was predicted from the unfused side alone, beside what fusion then brought."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from fusescope.analysis.advice import prediction
from fusescope.analysis.advice.expected import expected_fusions
from fusescope.analysis.advice.finding import Gain
from fusescope.analysis.advice.settings import conditions_of
from fusescope.analysis.advice.subject import Subject
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.timing.latency import are_paired

# A saving below this part of the time that its operators took says nothing in per cent of itself.
_MIN_GAIN = 0.02


@dataclass(frozen=True)
class Score:
    """One pattern of the model: places that were scored, their predicted saving, the measured one,
    both together and in ns per run, and what the operators took before."""

    pattern: str
    places: int
    predicted: Gain
    measured_ns: float
    spent_ns: float


@dataclass(frozen=True)
class Scorecard:
    """`scores` by pattern, most time first; `unscored` places became part of groups that hold more
    than the pattern; `unscored_ns` of the predicted saving of the run is theirs, so that this and
    the scores add up to it. `group_errors` are |predicted - measured| / measured of each place that
    gained; `run_predicted` and `run_measured_ns` are the saving of the whole run as profiled
    without slow executions, `run_ns` the run that is left, and `slow_ns` what slow executions add
    to the mean run of either side."""

    scores: tuple[Score, ...]
    unscored: int
    unscored_ns: float
    group_errors: tuple[float, ...]
    run_predicted: Gain
    run_measured_ns: float
    run_ns: float
    slow_ns: tuple[float, float] = (0.0, 0.0)

    @property
    def group_error(self) -> float | None:
        """The median error of the saving of a place; None without any."""
        return median(self.group_errors) if self.group_errors else None

    @property
    def run_error(self) -> float:
        """The error of the predicted run, as a part of the run that was measured."""
        return abs(self.run_predicted.value - self.run_measured_ns) / self.run_ns

    @property
    def is_inside(self) -> bool:
        """Whether the measured saving of the run lies in the predicted interval."""
        return self.run_predicted.low <= self.run_measured_ns <= self.run_predicted.high


def scorecard(comparison: Comparison) -> Scorecard | None:
    """Predictions from the baseline, an engine that optimises nothing, held against the candidate,
    the same engine with all of it on. None for any other pair, and where nothing was predicted."""
    baseline, candidate = comparison.baseline, comparison.candidate
    graph = baseline.experiment.model_graph if baseline.experiment else None
    before, after = conditions_of(baseline), conditions_of(candidate)
    if graph is None or before is None or after is None or baseline.label == candidate.label:
        return None
    # Other cuts, fewer bits, another machine or engine would be charged to the prediction.
    if (
        baseline.own_name == "eager"
        or candidate.is_quantised
        or not are_paired(baseline, candidate)
    ):
        return None
    if before.level != "none" or after.level != "all" or after.disabled or after.only:
        return None
    if comparison.fusion.source != "graphs" or not comparison.has_changes:
        return None
    subject = Subject(baseline)
    expected = expected_fusions(subject, graph, before, subject.times)
    if not expected:
        return None
    gains = dict(
        zip(comparison.ledger.rows["group"], comparison.ledger.rows["gain_ns"], strict=True)
    )
    groups = {
        frozenset(op.name for op in group.baseline): gains.get(group.id)
        for group in comparison.fusion.groups
    }
    measured = [(one, groups.get(frozenset(node.name for node in one.nodes))) for one in expected]
    known = [(one, float(gain)) for one, gain in measured if gain is not None]
    by_pattern: dict[str, list[Score]] = {}
    for one, gain in known:
        score = Score(one.pattern, 1, one.gain, gain, one.spent_ns)
        by_pattern.setdefault(one.pattern, []).append(score)
    fused = Subject(candidate)
    run_ns, left_ns = subject.run_ns or 0.0, fused.run_ns or 0.0
    return Scorecard(
        scores=tuple(
            sorted(map(_together, by_pattern.values()), key=lambda score: -score.spent_ns)
        ),
        unscored=len(expected) - len(known),
        unscored_ns=sum(
            one.gain.value
            for one, (_, gain) in zip(expected, measured, strict=True)
            if gain is None
        ),
        group_errors=tuple(
            abs(one.gain.value - gain) / gain
            for one, gain in known
            if gain > _MIN_GAIN * one.spent_ns
        ),
        run_predicted=prediction.together(*(one.gain for one in expected)),
        run_measured_ns=run_ns - left_ns,
        run_ns=left_ns,
        slow_ns=(subject.slow_ns, fused.slow_ns),
    )


def _together(scores: list[Score]) -> Score:
    return Score(
        scores[0].pattern,
        len(scores),
        prediction.together(*(score.predicted for score in scores)),
        sum(score.measured_ns for score in scores),
        sum(score.spent_ns for score in scores),
    )
