"""What was predicted beside what came, in words."""

from __future__ import annotations

from fusescope.analysis.advice.finding import Gain
from fusescope.analysis.advice.scorecard import Scorecard
from fusescope.analysis.messages import Message, paragraph, say
from fusescope.analysis.wording.noise.slow_executions import SLOW_IS_TOLD

SCORECARD_TITLE = Message("What was predicted, and what came")
SCORECARD_HELP = Message(
    "FuseScope predicts from the baseline alone what each fusion saves. Beside it is what the "
    "candidate measured, both as profiled. The formula and how it holds for other models: "
    "docs/prediction.md."
)
HEADS = {
    "pattern": Message("Pattern"),
    "places": Message("Places"),
    "predicted": Message("Predicted saving"),
    "measured": Message("Measured saving"),
}
_RUN = Message(
    "Predicted from the baseline alone: the mean run as profiled changes by "
    "{value:signed_duration} ({low:signed_duration} to {high:signed_duration}). Measured: "
    "{measured:signed_duration}. The predicted run is {error:percent} off."
)
_STEADY_RUN = Message(
    "Predicted from the baseline alone: without slow executions, the mean run as profiled changes "
    "by {value:signed_duration} ({low:signed_duration} to {high:signed_duration}). Measured: "
    "{measured:signed_duration}. The predicted run is {error:percent} off. Slow executions add "
    "{slow_before:duration} to the baseline's mean run and {slow_after:duration} to the "
    "candidate's."
)
_OF_PLACES = Message(
    "The places that are scored changed by {change:signed_duration} in all; of other operators and "
    "of idle time nothing is predicted."
)
_OUTSIDE = Message("The measured saving is outside the predicted interval.")


def scorecard_sentence(card: Scorecard) -> str:
    """Return how far the prediction of the run and of its places held."""
    whole, (slow_before, slow_after) = card.run_predicted, card.slow_ns
    has_slow = any(ns > SLOW_IS_TOLD * card.run_ns for ns in card.slow_ns)
    sentences = [
        (_STEADY_RUN if has_slow else _RUN).text(
            value=-whole.value,
            low=-whole.high,
            high=-whole.low,
            measured=-card.run_measured_ns,
            error=card.run_error,
            slow_before=slow_before,
            slow_after=slow_after,
        )
    ]
    if not card.is_inside:
        sentences.append(_OUTSIDE.text())
    if card.scores:
        sentences.append(_OF_PLACES.text(change=-sum(one.measured_ns for one in card.scores)))
    if card.group_error is not None:
        sentences.append(
            say(
                "Of the one place that got faster, the saving is {error:percent} off.",
                "Of {n:count} places that got faster, half are predicted to within "
                "{error:percent}.",
                n=len(card.group_errors),
                error=card.group_error,
            )
        )
    if card.unscored:
        sentences.append(
            say(
                "One more place became part of a larger group and is not scored: "
                "{change:signed_duration} of what is predicted of the run are its.",
                "{n:count} more places became part of larger groups and are not scored: "
                "{change:signed_duration} of what is predicted of the run are theirs.",
                n=card.unscored,
                change=-card.unscored_ns,
            )
        )
    return paragraph(*sentences)


def interval_text(gain: Gain) -> str:
    """'6.99 ms (4.60 ms to 7.96 ms)'."""
    return say(
        "{value:duration} ({low:duration} to {high:duration})",
        value=gain.value,
        low=gain.low,
        high=gain.high,
    )
