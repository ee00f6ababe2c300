"""Sentences about a fleet: what is missing, which rank is slow and why, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusescope.analysis.fleet.causes import Cause
from fusescope.analysis.fleet.differing import Difference, What
from fusescope.analysis.fleet.examined import Examined
from fusescope.analysis.fleet.fleet import DamageCode, Damaged
from fusescope.analysis.fleet.links import SlowLink
from fusescope.analysis.fleet.slow_ranks import SlowRank
from fusescope.analysis.fleet.straggler_free import StragglerFree
from fusescope.analysis.messages import Message, Part, Said, Shown, listed, passage
from fusescope.analysis.operators.short_names import short_names

MAX_NAMED = 12  # ranks of a list
MAX_KERNELS = 3
NAME_CHARS = 60

_HEAD = Message(
    "{present:count} of {world:count} ranks can be compared: {steps:steps} each, "
    "{collectives:count} collectives; in {decided:count} of these one rank came clearly last by "
    "its own delay."
)
_HEAD_UNKNOWN = Message(
    "{present:count} rank can be compared: {steps:steps} each, {collectives:count} collectives; in "
    "{decided:count} of these one rank came clearly last by its own delay.",
    "{present:count} ranks can be compared: {steps:steps} each, {collectives:count} collectives; "
    "in {decided:count} of these one rank came clearly last by its own delay.",
)
_ALONE = Message(
    "{n:count} execution of a collective in a group of one rank, of {each:duration}, is in no "
    "table of waits: nobody waits in it.",
    "{n:count} executions of collectives in groups of one rank, of {each:duration} each on "
    "average, are in no table of waits: nobody waits in them.",
)
_WRITTEN = Message("The store is being written: more ranks may come.")
_MISSING = Message(
    "Rank {ranks} has no file, so nothing is known of it.",
    "Ranks {ranks} have no file, so nothing is known of them.",
)
_LEFT_OUT = Message(
    "{n:count} collective is left out: not every rank of its group has it, or not with the same "
    "size.",
    "{n:count} collectives are left out: not every rank of their group has them, or not with the "
    "same size.",
)
_DAMAGED: Mapping[DamageCode, Message] = {
    "unreadable": Message("{file:name} could not be read: {reason}."),
    "truncated": Message("{file:name} ends too early, so no figure rests on rank {rank}."),
    "rank_twice": Message("{file:name} is left out: rank {rank} is also in {other:name}."),
    "other_job": Message(
        "{file:name} is left out: it is rank {rank} of another job, of {other:name} ranks."
    ),
    "other_format": Message(
        "{file:name} is left out: rank {rank} was recorded by another profiler ({other:name})."
    ),
}
_DAMAGED_FILE = Message("its part of the store is damaged")
_SLOW = Message(
    "**Rank {rank} is slow**: of {collectives:count} collectives in which one rank clearly came "
    "last by its own delay, it was this one in {votes:count}, {share:percent} "
    "({low:percent} to {high:percent}; by chance {chance:percent}). There the median of the "
    "others waited {waited:duration} a step for it, {cost:percent} of the step."
)
_NOT_SLOW = Message(
    "**No rank is slow**: none came last more often than chance explains while the others waited "
    "at least 1 % of the steps for it."
)
_NOT_SLOW_ITSELF = Message(
    "**No rank is slow by its own delay**: none came last more often than chance explains while "
    "the others waited at least 1 % of the steps for it. Send and receive do not count, since "
    "whoever sends is always last."
)
_WAITS = Message(
    "**Rank {rank} waits {waited:duration} for rank {other}** in a step of {step:duration}: "
    "{kinds}."
)
_RANKS_WAIT = Message(
    "**Ranks {ranks} wait for rank {other}**, at most {waited:duration} in a step of "
    "{step:duration} (rank {rank}): {kinds}."
)
_IN_ONE_STEP = Message("Nearly all of that is in the step that the profiler numbers {number}.")
_ALL_IN_KIND = Message("all of it in {kind}")
_IN_KIND = Message("{ns:duration} in {kind}")
_COMPUTES_LONGER = Message(
    "Rank {other} computes for {longer:duration} in a step, rank {rank} for {shorter:duration}."
)
_NO_COLLECTIVES = Message(
    "Which rank is slow **cannot be told**: no collective is in the traces of two ranks."
)
_CAUSE = Message(
    "Before those collectives rank {rank} took {late:duration} a step longer than the median of "
    "{others:count} other ranks: {causes}."
)
_BY_OPERATOR = Message("{name:name} took {excess:duration} longer")
_BY_THE_REST = Message("everything else took {excess:duration} longer")
_LESS_BY_THE_REST = Message("everything else took {excess:duration} less")
_BY_IDLE = Message("its device had nothing to do for {excess:duration} longer")
_NO_CAUSE = Message(
    "What made rank {rank} late is **not measured**: operators and idle time explain "
    "{coverage:percent} of {late:duration} a step."
)
_LINK = Message(
    "**The link of ranks {ranks} is slow**: {kind} of {data:bytes} takes {transfer:duration}, "
    "{factor:factor} the median of the {others:count} other groups, and is the slowest in "
    "{slowest:count} of {collectives:count} ({low:percent} to {high:percent})."
)
_LINK_UNSIZED = Message(
    "**The link of ranks {ranks} is slow**: {kind} takes {transfer:duration}, {factor:factor} the "
    "median of the {others:count} other groups, and is the slowest in {slowest:count} of "
    "{collectives:count} ({low:percent} to {high:percent})."
)
_DIFFERS: Mapping[What, Message] = {
    "lost_fusion": Message(
        "**Rank {rank} lost a fusion** that {alike:count} like it have: {missing} is missing, and "
        "{extra} runs in its place."
    ),
    "other_fusion": Message(
        "**Rank {rank} has a fusion** that {alike:count} like it lack: {extra} runs in place of "
        "{missing}."
    ),
    "recompiled": Message(
        "**Rank {rank} was compiled otherwise** than {alike:count} like it: {extra} runs in place "
        "of {missing}."
    ),
    "other_library": Message(
        "**Rank {rank} runs kernels of another library** than {alike:count} like it: {extra} in "
        "place of {missing}."
    ),
    "other_counts": Message(
        "**Rank {rank} runs its kernels in other numbers** than {alike:count} like it: fewer of "
        "{missing}, more of {extra}."
    ),
    "other": Message(
        "**Rank {rank} runs other kernels** than {alike:count} like it: {extra} in place of "
        "{missing}."
    ),
}
_NOTHING = Message("nothing")
_KERNEL = Message("{name:name} ({count:number} a step)")
_MORE = Message("{names} and {n:count} more")
_FREE = Message(
    "Without the delay of rank {ranks}, a step would take ~{modelled:duration} in place of "
    "{step:duration}, **{saved:percent} less** (modelled).",
    "Without the delays of ranks {ranks}, a step would take ~{modelled:duration} in place of "
    "{step:duration}, **{saved:percent} less** (modelled).",
)
_OTHERS_LATE = Message(
    "That is less than its group waits for it: in most steps the job then waits for another rank."
)
_MAX_WAITS = 3
_SAID = 0.01  # of a wait, below which a kind of collectives is not said
_NAMED_CAUSE = 0.05  # of a delay, from which on an operator or idle time is named
_EXPLAINS = 0.5  # of a wait, from which on computing longer is the reason
# A saving below this part of what is waited for needs a word.
_LITTLE = 0.5
KINDS: Mapping[str, Message] = {
    "all_reduce": Message("all-reduce"),
    "all_gather": Message("all-gather"),
    "reduce_scatter": Message("reduce-scatter"),
    "all_to_all": Message("all-to-all"),
    "broadcast": Message("broadcast"),
    "reduce": Message("reduce"),
    "send_receive": Message("send and receive"),
    "barrier": Message("barrier"),
    "other": Message("other communication"),
}

Sentence = tuple[Part, ...]


def state_sentences(found: Examined) -> list[Sentence]:
    """What the answers rest on, and what is missing or damaged."""
    fleet = found.fleet
    counts = {
        "present": len(fleet.ranks),
        "steps": found.steps,
        "collectives": found.collectives,
        "decided": found.decided,
    }
    if fleet.world is None:
        told = [_HEAD_UNKNOWN.parts(n=len(fleet.ranks), **counts)]
    else:
        told = [_HEAD.parts(world=fleet.world, **counts)]
    if len(found.alone_ns):
        alone = _ALONE.parts(n=len(found.alone_ns), each=float(found.alone_ns.mean()))
        told = [passage(*told, alone)]
    if fleet.is_being_written:
        told.append(_WRITTEN.parts())
    if fleet.missing:
        told.append(_MISSING.parts(ranks=ranks_text(fleet.missing), n=len(fleet.missing)))
    told += [damaged_parts(one) for one in fleet.damaged]
    if found.left_out:
        told.append(_LEFT_OUT.parts(n=found.left_out))
    return told


def damaged_parts(one: Damaged) -> Sentence:
    """Why no figure rests on a file."""
    reason: str | Said | Message = one.said or _DAMAGED_FILE
    return _DAMAGED[one.code].parts(file=one.file, reason=reason, rank=one.rank, other=one.other)


def damaged_sentence(one: Damaged) -> str:
    """The same as text. Names in it come from files."""
    return text_of(damaged_parts(one))


def answer_sentences(found: Examined) -> list[Sentence]:
    """Which rank is slow and why, which link, whose kernels differ, and what that costs."""
    waits = [wait_parts(rank, found) for rank in found.awaited[:_MAX_WAITS]]
    if not found.collectives:
        told = [_NO_COLLECTIVES.parts()]
    elif not found.slow and waits:  # whom the others wait for is the answer
        told = [*waits, _NOT_SLOW_ITSELF.parts()]
        waits = []
    elif not found.slow:
        told = [_NOT_SLOW.parts()]
    else:
        causes = {cause.rank: cause for cause in found.causes}
        told = []
        for slow in found.slow:
            cause = causes.get(slow.rank)
            why = cause_parts(cause, found.steps) if cause else ()
            told.append(passage(slow_parts(slow), why))
    told += waits
    if found.straggler_free is not None:
        told.append(free_parts(found.straggler_free, found.slow))
    told += [link_parts(link) for link in found.links]
    told += [difference_parts(one) for one in found.stages.differing]
    return told


def slow_parts(slow: SlowRank) -> Sentence:
    """Which rank is slow, how sure that is, and what the others wait."""
    return _SLOW.parts(
        rank=slow.rank,
        votes=slow.votes,
        collectives=slow.collectives,
        share=slow.votes / slow.collectives,
        low=slow.low,
        high=slow.high,
        chance=slow.chance,
        waited=slow.waited_ns,
        cost=slow.cost,
    )


def wait_parts(awaited: int, found: Examined) -> Sentence:
    """Who waits for a rank, in which collectives, and why where their computing or one step tells:
    of several ranks those of the one that waits longest."""
    waits = [wait for wait in found.waits if wait.awaited == awaited]
    longest = waits[0]
    kinds = [
        _IN_KIND.of(ns=ns, kind=KINDS[kind])
        for kind, ns in longest.kinds
        if ns >= _SAID * longest.ns
    ]
    if len(kinds) == 1:
        kinds = [_ALL_IN_KIND.of(kind=KINDS[longest.kinds[0][0]])]
    message = _WAITS if len(waits) == 1 else _RANKS_WAIT
    told = message.parts(
        ranks=ranks_text([wait.rank for wait in waits]),
        rank=longest.rank,
        other=awaited,
        waited=longest.ns,
        step=longest.step_ns,
        kinds=_joined(kinds),
    )
    if longest.in_step is not None:
        told = passage(told, _IN_ONE_STEP.parts(number=longest.in_step))
    computing = {split.rank: split.computing_ns for split in found.by_rank}
    shorter, longer = computing.get(longest.rank), computing.get(awaited)
    if shorter is None or longer is None or longer - shorter < _EXPLAINS * longest.ns:
        return told
    why = _COMPUTES_LONGER.parts(rank=longest.rank, other=awaited, shorter=shorter, longer=longer)
    return passage(told, why)


def cause_parts(cause: Cause, steps: int) -> Sentence:
    """What made it late in the mean of the `steps`, in parts that add up; or that this is not
    measured."""
    late = cause.late_ns / steps
    if not cause.is_measured:
        return _NO_CAUSE.parts(rank=cause.rank, coverage=cause.coverage, late=late)
    short = short_names((one.name for one in cause.operators), NAME_CHARS)
    named = [one for one in cause.operators if one.share >= _NAMED_CAUSE][:MAX_KERNELS]
    texts: list[Said] = [
        _BY_OPERATOR.of(name=short[one.name], excess=one.excess_ns / steps) for one in named
    ]
    rest = cause.late_ns - sum(one.excess_ns for one in named)
    if cause.idle_share >= _NAMED_CAUSE:
        texts.append(_BY_IDLE.of(excess=cause.idle_ns / steps))
        rest -= cause.idle_ns
    if abs(rest) >= _SAID * cause.late_ns:
        by_rest = _BY_THE_REST if rest > 0 else _LESS_BY_THE_REST
        texts.append(by_rest.of(excess=abs(rest) / steps))
    return _CAUSE.parts(rank=cause.rank, late=late, causes=_joined(texts), others=cause.others)


def link_parts(link: SlowLink) -> Sentence:
    """Which link is slow, and against what."""
    values: dict[str, Shown] = {
        "ranks": ranks_text(link.ranks),
        "kind": KINDS[link.kind],
        "transfer": link.transfer_ns,
        "factor": link.factor,
        "others": link.groups - 1,
        "slowest": link.slowest,
        "collectives": link.collectives,
        "low": link.low,
        "high": link.high,
    }
    if link.bytes is None:
        return _LINK_UNSIZED.parts(**values)
    return _LINK.parts(data=link.bytes, **values)


def difference_parts(one: Difference) -> Sentence:
    """How the kernels of a rank differ."""
    return _DIFFERS[one.what].parts(
        rank=one.rank,
        alike=one.alike,
        missing=_kernels(one.missing),
        extra=_kernels(one.extra),
    )


def difference_sentence(one: Difference) -> str:
    """The same as text. Names in it come from files."""
    return text_of(difference_parts(one))


def free_parts(free: StragglerFree, slow: Sequence[SlowRank]) -> Sentence:
    """What a step would cost without the slow ranks."""
    ranks = sorted(one.rank for one in slow)
    told = _FREE.parts(
        ranks=ranks_text(ranks),
        n=len(ranks),
        modelled=free.modelled_ns,
        step=free.step_ns,
        saved=free.saved,
    )
    is_little = len(slow) == 1 and free.saved < _LITTLE * slow[0].cost
    return passage(told, _OTHERS_LATE.parts() if is_little else ())


def ranks_text(ranks: Sequence[int]) -> str:
    """'0-7, 9 and 12'; beyond twelve pieces the rest is left out: '…'."""
    pieces: list[str] = []
    ordered = sorted(ranks)
    start = 0
    for at in range(1, len(ordered) + 1):
        if at == len(ordered) or ordered[at] != ordered[at - 1] + 1:
            first, last = ordered[start], ordered[at - 1]
            pieces += [str(first)] if first == last else (
                [str(first), str(last)] if last == first + 1 else [f"{first}-{last}"]
            )  # fmt: skip
            start = at
    if len(pieces) > MAX_NAMED:
        pieces = [*pieces[:MAX_NAMED], "…"]
    return listed(pieces)


def text_of(parts: Sequence[Part]) -> str:
    """A sentence as text. Names in it come from files."""
    return "".join(part.text for part in parts)


_AND = Message("{first} and {last}")
_NEXT = Message("{first}, {next}")


def _joined(texts: Sequence[Said]) -> Said:
    if not texts:
        return _NOTHING.of()
    told = texts[0]
    for at, text in enumerate(texts[1:], start=2):
        is_last = at == len(texts)
        told = _AND.of(first=told, last=text) if is_last else _NEXT.of(first=told, next=text)
    return told


def _kernels(kernels: Sequence[tuple[str, float]]) -> Said:
    told = kernels[:MAX_KERNELS]
    short = short_names((name for name, _ in told), NAME_CHARS)
    shown = [_KERNEL.of(name=short[name], count=count) for name, count in told]
    names = _joined(shown)
    more = len(kernels) - len(shown)
    return _MORE.of(names=names, n=more) if more else names
