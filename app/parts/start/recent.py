"""Recent: what somebody opened or recorded last, for the landing page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fusescope.analysis.experiment import Experiment
from fusescope.analysis.messages import Message
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.fleet.sentences import ranks_text
from fusescope.app.sources import choices, fleets, places
from fusescope.app.state.opened import Opened
from fusescope.app.store import records

MAX_LISTED = 4
_PAIR = Message("{baseline:name} and {candidate:name}")
_JOB = Message("ranks {ranks} of one job")
_VARIANT = Message("{model:name}: {baseline:name} and {candidate:name}")


@dataclass(frozen=True)
class Recent:
    """A file, a recording, a pair or ranks of a job: its name, when it was used last in ISO 8601
    ('' for now), and the ids that a page opens it by, two for a pair; of a trace that is kept the
    SHA-256 of its file as `content`, of ranks what stands for them in addresses as `fleet`."""

    name: str
    used: str
    ids: tuple[str, ...]
    content: str = ""
    fleet: str = ""


def recent(
    opened: Mapping[str, Opened], pair: choices.Pair, kept: Iterable[Recent] = ()
) -> list[Recent]:
    """Return what was used last, the newest in front: the ranks of a job, the pair of this session
    and files that are open, then recordings and what the library has `kept`, by their date. What is
    open and kept is told once: by its content, since files of several recordings have one name."""
    of_session = [*_of_job(opened), *_of_session(opened, pair), *_of_files(opened)]
    dated = sorted([*_recorded(), *kept], key=lambda one: one.used, reverse=True)
    ids = {one.ids for one in of_session}
    traces = (file.value for file in opened.values() if isinstance(file.value, Trace))
    contents = {trace.meta.sha256 for trace in traces}
    new = (one for one in dated if one.ids not in ids and one.content not in contents)
    return [*of_session, *new][:MAX_LISTED]


def _of_job(opened: Mapping[str, Opened]) -> list[Recent]:
    """Return the ranks of a job among the open files, as one thing; nothing without any."""
    ranks = fleets.open_ranks(opened.values())
    name = _JOB.text(ranks=ranks_text(list(ranks)))
    return [Recent(name, "", (), fleet=fleets.OPEN)] if ranks else []


def _of_session(opened: Mapping[str, Opened], pair: choices.Pair) -> list[Recent]:
    """Return the pair that this session compared last, unless it is a sample."""
    baseline, candidate = pair
    if baseline is None or candidate is None:
        return []
    labels = {choice.id: choice.label for choice in choices.choices(opened, pair)}
    if not {baseline, candidate} <= labels.keys() or choices.is_sample(candidate):
        return []
    name = _PAIR.text(baseline=labels[baseline], candidate=labels[candidate])
    return [Recent(name, "", (baseline, candidate))]


def _of_files(opened: Mapping[str, Opened]) -> list[Recent]:
    """Return the files that are open, except samples and ranks of a job, the newest in front."""
    of_job = {file.id for file in fleets.open_ranks(opened.values()).values()}
    files = []
    for file in reversed(list(opened.values())):
        if choices.is_sample(file.id) or file.id in of_job:
            continue
        if isinstance(file.value, Experiment):
            baseline, candidate = choices.suggested([file])
            ids = tuple(id_ for id_ in (baseline, candidate) if id_ is not None)
            files.append(Recent(file.name, "", ids))
        else:
            files.append(Recent(file.name, "", (file.id,)))
    return files


def _recorded() -> list[Recent]:
    """Return the recordings of this machine, the newest in front."""
    recordings = []
    for path in places.experiments(MAX_LISTED).values():
        record, pair = records.record_at(path), records.recorded_pair(path)
        if record is None or pair[0] is None or pair[1] is None:
            continue
        baseline, candidate = (id_.partition("/")[2] for id_ in (pair[0], pair[1]))
        name = _VARIANT.text(model=record.model.name, baseline=baseline, candidate=candidate)
        recordings.append(Recent(name, record.created[:16], (pair[0], pair[1])))
    return recordings
