"""The change of a run as a sum: names of its terms, the sum as a sentence and as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from fusescope.analysis.compare.ledger import JOINED_LOOSELY
from fusescope.analysis.messages import Message, paragraph, say
from fusescope.analysis.trace import RunWord
from fusescope.analysis.wording.counted import mean_text, runs_of
from fusescope.analysis.wording.noise.unknown_noise import OF_FILES
from fusescope.analysis.wording.texts import TIME_SOURCES

if TYPE_CHECKING:
    from fusescope.analysis.compare.comparison import Comparison
    from fusescope.analysis.compare.explanation.explanation import Explanation
    from fusescope.analysis.compare.ledger import Ledger, NoShares
    from fusescope.analysis.compare.ledger.reconciliation import Reconciliation

Term = Literal[
    "groups_ns",
    "ungrouped_ns",
    "communication_ns",
    "slow_ns",
    "streams_ns",
    "beyond_ns",
    "dispatch_ns",
    "profiler_bias_ns",
    "rounding_ns",
    "outlying_ns",
]
_UNSEEN = 0.0005  # of a change that is shown with three digits
SHOWN_ROUNDING_NS = 1_000  # below it, rounding is no term of its own
WATERFALL_HELP = Message(
    "From the baseline's time to the candidate's, which the verdict compares: the typical run. "
    "Slow runs lead from there to the mean run, {mean}, which the other terms add up to. Groups "
    "and ungrouped operators are changes of profiled time. Communication is a term of its own; "
    "what of it ran beside operators is taken back in the overlap of streams. Operators "
    "outside their own run ran after the run that launched them, or come from one before. Slow "
    "executions: what single ones, of more than three times their operator's median, took beyond "
    "it. Idle time is the time of a run in which nothing ran. Profiler bias is the change of (un-"
    "profiled time - profiled run span): the profiler adds time to every operator, and fusion "
    "removes operators. The picture shows each side's own: from the baseline's run to its "
    "profiled run first, and from the candidate's profiled run to its run last; likewise the "
    "overlap of streams. Every term is computed from the data by itself, and together they are "
    "the whole change."
)
TERMS: Mapping[Term, Message] = {
    "groups_ns": Message("groups"),
    "ungrouped_ns": Message("operators in no group"),
    "communication_ns": Message("communication"),
    "slow_ns": Message("slow executions"),
    "streams_ns": Message("overlap of streams"),
    "beyond_ns": Message("operators outside their own run"),
    "dispatch_ns": Message("idle time"),
    "profiler_bias_ns": Message("profiler bias"),
    "rounding_ns": Message("rounding"),
    "outlying_ns": Message("slow runs"),
}


_NO_STARTS = Message("time of the run outside operators")


def term_label(name: Term, *, has_starts: bool) -> Message:
    """Return what a term is called: without start times nothing shows whether the device was idle
    in the time of a run that no operator took."""
    return _NO_STARTS if name == "dispatch_ns" and not has_starts else TERMS[name]


NO_WATERFALL = Message(
    "The two files give no time of a whole run that can be compared, so no sum is drawn."
)


def waterfall_basis(comparison: Comparison) -> str:
    """What the waterfall's totals and bars are, and how exact their sum is."""
    of = comparison.ledger.reconciliation.of
    time = TIME_SOURCES[of]
    if of in OF_FILES:
        totals = say("Totals: {time}, measured.", time=time)
    elif any(comparison.ledger.reconciliation.slow_runs_ns):
        totals = say(
            "Totals: {time} of the typical run, measured. Slow runs lead from there to the mean "
            "run, which the other bars are of.",
            time=time,
        )
    else:
        totals = say("Totals: {time}, {mean}, measured.", time=time, mean=mean_text(comparison))
    return paragraph(
        totals,
        say("Groups: profiled time, measured."),
        grey_sentence(comparison),
        say("Hatched: not groups. The bars add up exactly to the change in whole ns."),
    )


def grey_sentence(comparison: Comparison) -> str:
    """Return what the colour grey means for a group."""
    if not comparison.verdict.has_direction:
        return say("Grey: it cannot be told whether the whole is faster or slower.")
    return say("Grey: may be faster or slower.")


def sum_sentence(comparison: Comparison) -> str:
    """The change of the run as the sum of its terms; '' where it cannot be told from noise."""
    if comparison.verdict.outcome == "cannot_tell":
        return ""
    return reconciliation_sentence(comparison.ledger.reconciliation, runs_of(comparison).word)


def shown_terms(sum_: Reconciliation) -> dict[Term, int]:
    """Return the terms of a sum that are shown, in ns: the groups', and those that are not 0;
    without those that no shown digit of the change has, such as rounding to whole ns."""
    values: dict[Term, int | None] = {name: getattr(sum_, name) for name in TERMS}
    least = {name: abs(sum_.whole_ns or 0) * _UNSEEN for name in values}
    least |= {"groups_ns": -1, "rounding_ns": max(SHOWN_ROUNDING_NS, least["rounding_ns"])}
    return {
        name: value
        for name, value in values.items()
        if value is not None and (value or name == "groups_ns") and abs(value) >= least[name]
    }


def reconciliation_sentence(sum_: Reconciliation, word: RunWord = "runs") -> str:
    """The change as the sum of its terms, of runs that are called that; '' where there is no change
    to explain."""
    if sum_.delta_ns is None:
        return ""
    shown = ""
    for name, value in shown_terms(sum_).items():
        term = say(
            "{term} {change:signed_duration}",
            term=term_label(name, has_starts=sum_.has_starts),
            change=value,
        )
        shown = say("{start}, {next}", start=shown, next=term) if shown else term
    change = sum_.whole_ns
    if sum_.of in OF_FILES:
        return say(
            "Change of the time in operators: {change:signed_duration} = {terms}.",
            change=change,
            terms=shown,
        )
    whole = _TYPICAL_RUN if any(sum_.slow_runs_ns) else _MEAN[word]
    return whole.text(change=change, terms=shown)


def beside_explanation(comparison: Comparison) -> str:
    """Return how groups and what changed by the order of operators belong together, and which row
    holds an execution that is far longer than the others; '' where the one is not shown beside the
    other, or all operators are in groups and none stands out."""
    found = comparison.explanation
    if found is None:
        return ""
    if not comparison.is_explained:
        fused = comparison.ledger.has_gains and _fused_ns(found)
        left_out = any(each.count for change in found.changes for each in change.long_ones)
        is_apart = comparison.ledger.reconciliation.slow_ns and left_out
        return paragraph(
            *([_BESIDE_PROVEN.text()] if fused else []),
            *([_OTHER_SLOW.text()] if is_apart else []),
        )
    # Where slow executions are a term of their own no row holds them.
    long_ones = (
        []
        if comparison.ledger.reconciliation.slow_ns
        else [
            _LONG_ONE.text(kernel=(each.after or each.before)[0].name, ns=each.change_ns)
            for each in found.changes
            if each.code == "outlier"
        ]
    )
    if found.has_other_kernels or not comparison.ledger.reconciliation.ungrouped_ns:
        return paragraph(*long_ones)
    return paragraph(_beside(found), _ALL_EXECUTIONS.text(), *long_ones)


def _beside(found: Explanation) -> str:
    if fused_ns := _fused_ns(found):
        return _BESIDE_FUSED.text(ns=fused_ns)
    return _BESIDE.text()


def _fused_ns(found: Explanation) -> int:
    return sum(each.change_ns for each in found.changes if each.code in ("fused", "split"))


_ALL_EXECUTIONS = Message(
    "A row holds every execution of the operators that it names, so its change need not be that of "
    "one sentence above."
)
_OTHER_SLOW = Message(
    "What changed, above, compares each execution with those at its own place, so the single long "
    "ones that it leaves out are not all of the slow executions here."
)
_LONG_ONE = Message(
    "The row of {kernel:name} also holds the {ns:signed_duration} of one long execution."
)
_BESIDE = Message(
    "These groups join operators by class and by what launched them. What changed, above, follows "
    "the order of the operators: what was replaced, added or removed there is in no group here "
    "where nothing else joins it."
)
_BESIDE_FUSED = Message(
    "These groups join operators by class and by what launched them, which shows no fusion: what "
    "changed, above, follows the order of the operators, and has {ns:signed_duration} of it. What "
    "was fused, replaced, added or removed there is in no group here where nothing else joins it."
)
_BESIDE_PROVEN = Message(
    "What changed, above, follows the order of the operators, so a place there is not always one "
    "of these groups: it may hold several, a part of one, and operators of the framework of groups "
    "that count as kept here."
)
_TYPICAL_RUN = Message("Change of the typical run: {change:signed_duration} = {terms}.")
_MEAN: Mapping[RunWord, Message] = {
    "runs": Message("Change of the mean run: {change:signed_duration} = {terms}."),
    "steps": Message("Change of the mean step: {change:signed_duration} = {terms}."),
    "repetitions": Message("Change of the mean repetition: {change:signed_duration} = {terms}."),
}


_MARKED = Message(
    "Shares of the change are not shown: one side also copies the result of every operator "
    "out of the model, so its run is not that of the model."
)
_NO_SHARES: Mapping[tuple[NoShares, bool], Message] = {
    ("within_noise", False): Message(
        "Shares of the change are not shown: the 95 % interval of the change of the mean, "
        "{low:signed_duration} to {high:signed_duration}, includes no change."
    ),
    ("within_noise", True): Message(
        "Shares of the change of the time in operators are not shown: its 95 % interval, "
        "{low:signed_duration} to {high:signed_duration}, includes no change."
    ),
    ("cancels", False): Message(
        "Shares of the change are not shown: gains and losses cancel each other. The change "
        "is less than half of what the lines add up to without their signs."
    ),
    ("cancels", True): Message(
        "Shares of the change of the time in operators are not shown: gains and losses cancel each "
        "other. The change is less than half of what the lines add up to without their signs."
    ),
    ("marked", False): _MARKED,
    ("marked", True): _MARKED,
}


def no_speedups_sentence(ledger: Ledger) -> str:
    """Why some lines have no speedup; '' where every group is known to be of the same work."""
    if not ledger.rows["known_by"].isin(JOINED_LOOSELY).any():
        return ""
    return say(
        "Groups joined only by class or launcher have no speedup: their two sides need not do the "
        "same work."
    )


def no_shares_sentence(ledger: Ledger) -> str:
    """Why no line has a share of the change; '' where they have."""
    if ledger.no_shares is None or ledger.reconciliation.delta_ns is None:
        return ""
    total = ledger.reconciliation
    message = _NO_SHARES[ledger.no_shares, total.of in OF_FILES]
    return message.text(low=total.low_ns, high=total.high_ns)
