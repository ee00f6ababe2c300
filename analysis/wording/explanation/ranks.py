"""Two files of ranks: whether they are of one job, and which stages of a pipeline they are."""

from __future__ import annotations

from fusescope.analysis.compare.explanation.communication import uneven_stages
from fusescope.analysis.compare.explanation.explanation import Explanation
from fusescope.analysis.messages import Message, Said
from fusescope.analysis.ranks.pair import RankPair

_ONE_JOB = Message("The two files are ranks {before:count} and {after:count} of one job.")
_ONE_JOB_OF = Message(
    "The two files are ranks {before:count} and {after:count} of one job of {world:count} ranks."
)
_LIKELY = Message(
    "The two files look like ranks {before:count} and {after:count} of one job, since they ran at "
    "the same time."
)
_APART = Message(
    "The two files are of ranks {before:count} and {after:count}, which by the clocks in the files "
    "did not run at the same time."
)
_UNKNOWN = Message(
    "The two files are of ranks {before:count} and {after:count}; nothing in them says whether "
    "they are of one job."
)
_OTHER_SIZES = Message(
    "The baseline is of a job of {before:ranks}, the candidate of one of {after:ranks}."
)
_STAGES = Message(
    "They are stages {before:count} and {after:count} of the {of:count} of its pipeline, which "
    "wait for one another."
)
_LIKELY_STAGES = Message("They look like two stages of its pipeline, which wait for one another.")
STAGES = Message("The two files look like two stages of one pipeline, which wait for one another.")

_STAGES_OF_TIMES = Message(
    "Rank {longer:count} computes for **{longer_ns:duration}** of a step, rank {shorter:count} for "
    "**{shorter_ns:duration}**: layers moved from rank {longer:count} to rank {shorter:count} "
    "would shorten the wait."
)


def balance_sentence(explanation: Explanation) -> list[Said]:
    """Return for how long each of two stages of one job computes and what would even that out;
    nothing of stages that compute for about as long, or of which it is not known."""
    uneven = uneven_stages(explanation)
    if uneven is None:
        return []
    return [
        _STAGES_OF_TIMES.of(
            longer=uneven.longer,
            shorter=uneven.shorter,
            longer_ns=uneven.longer_ns,
            shorter_ns=uneven.shorter_ns,
        )
    ]


def ranks_sentences(ranks: RankPair | None, *, are_stages: bool) -> list[Said]:
    """Return which ranks two files are, and whether they are stages of a pipeline, as the files
    say it or as it looks; none of files of which nothing is known."""
    if ranks is None:
        return [STAGES.of()] if are_stages else []
    return [_ranks(ranks), *([_stages(ranks)] if are_stages else [])]


def _ranks(ranks: RankPair) -> Said:
    before, after = ranks.ranks
    if ranks.relation == "other_sizes":
        return _OTHER_SIZES.of(before=ranks.worlds[0], after=ranks.worlds[1])
    if not ranks.is_one_job:
        message = _APART if ranks.relation == "other_jobs" else _UNKNOWN
        return message.of(before=before, after=after)
    if not ranks.is_named:
        return _LIKELY.of(before=before, after=after)
    if ranks.world is None:
        return _ONE_JOB.of(before=before, after=after)
    return _ONE_JOB_OF.of(before=before, after=after, world=ranks.world)


def _stages(ranks: RankPair) -> Said:
    one, other = ranks.stages
    if one is None or other is None or not ranks.are_stages:
        return _LIKELY_STAGES.of()
    return _STAGES.of(before=one[0], after=other[0], of=one[1])
