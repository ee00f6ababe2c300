"""Exposed: communication and copies that run while nothing is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from fusescope.analysis.advice.finding import Finding
from fusescope.analysis.advice.kinds.idle import no_step
from fusescope.analysis.advice.subject import MIN_SHARE, Answer, Subject
from fusescope.analysis.metrics.device import copies_of
from fusescope.analysis.metrics.step import exposed_of_file
from fusescope.analysis.metrics.stretch import longest_exposed

if TYPE_CHECKING:
    from fusescope.analysis.ranks.waits import Waiting

_WITHIN = ("Memcpy DtoD", "Memset")
_MOSTLY = 0.6  # of the time of copies, from which the advice is about them


def communication(subject: Subject) -> Answer:
    """Communication that no computing hides takes 2 % of the mean run, or more."""
    return _exposed(
        subject, "communication", subject.operators["is_communication"].to_numpy(dtype=bool)
    )


def copies(subject: Subject) -> Answer:
    """Copies between host and device that nothing hides take 2 % of the mean run, or more."""
    mask = copies_of(subject.trace)[subject.operators["operator"].to_numpy()]
    return _exposed(subject, "copies", mask)


def _exposed(
    subject: Subject, code: Literal["communication", "copies"], mask: np.ndarray
) -> Answer:
    """Of a file that does not mark its runs, from 2 % of the time in which anything ran."""
    if not mask.any():
        return ()
    step, whole = subject.step, exposed_of_file(subject.trace)
    if step is not None:
        of_ns = least_of_ns = float(step.span_ns)
        exposed_ns = step.copies_ns if code == "copies" else step.communication_ns
    elif whole is not None and whole.busy_ns:
        of_ns, least_of_ns = subject.run_ns or float(whole.busy_ns), float(whole.busy_ns)
        exposed_ns = whole.copies_ns if code == "copies" else whole.communication_ns
    else:
        return no_step(subject)
    if exposed_ns < MIN_SHARE * least_of_ns:
        return ()
    names = subject.names(mask)
    rate = _message_rate(subject, mask) if code == "communication" else None
    waits = _waiting(subject) if code == "communication" else None
    return (
        Finding(
            code,
            values={
                "exposed_ns": exposed_ns,
                "share": exposed_ns / of_ns,
                "executions": subject.executions(mask),
                "operator": names[0],
                **({"is_within": True} if code == "copies" and _is_within(subject, mask) else {}),
                **({} if rate is None else {"rate": rate}),
                **({} if waits is None else {"wait_share": waits.share, "waits": waits.basis}),
                **(_stages(subject) if waits is not None else {}),
            },
            at_most_ns=float(exposed_ns),
            share=exposed_ns / of_ns,
            of_ns=of_ns,
            where="operators",
            names=names,
            stretch=longest_exposed(subject.trace, code),
        ),
    )


def _is_within(subject: Subject, mask: np.ndarray) -> bool:
    """Return whether most of these copies and fills stay on the device."""
    times = subject.operators["per_run_ns"].to_numpy(dtype=float)
    within = np.isin(np.array(subject.texts["op_type"], dtype=object), _WITHIN)
    return float(times[mask & within].sum()) > _MOSTLY * float(times[mask].sum())


def _waiting(subject: Subject) -> Waiting | None:
    """Return what the collectives of the file wait for other ranks; None where nothing says it."""
    from fusescope.analysis.ranks.waits import waiting

    talks = subject.trace.operators["is_communication"].to_numpy(dtype=bool)
    return waiting(subject.trace, np.flatnonzero(talks[subject.trace.calls["operator"].to_numpy()]))


def _stages(subject: Subject) -> dict[str, int | bool]:
    """Return that the side is a stage of a pipeline, as its file or the comparison says it, and of
    two stages that compute for other times the ranks of both; nothing of other files."""
    found = subject.comparison.explanation if subject.comparison is not None else None
    if found is None or found.difference != "stages":
        job = subject.trace.meta.job
        return {"is_stage": True} if job is not None and job.stage is not None else {}
    from fusescope.analysis.compare.explanation.communication import uneven_stages

    uneven = uneven_stages(found)
    if uneven is None:
        return {"is_stage": True}
    return {"is_stage": True, "longer": uneven.longer, "shorter": uneven.shorter}


def _message_rate(subject: Subject, mask: np.ndarray) -> float | None:
    """GB/s of the collectives whose messages the file sizes: bytes / time, waiting for other ranks
    included; None where it sizes none."""
    sizes = subject.under.operators["bytes"].to_numpy("float64", na_value=np.nan)
    times = subject.operators["per_run_ns"].to_numpy(dtype=float)
    counts = subject.operators["count"].to_numpy(dtype=float)
    known = mask & (sizes > 0) & (times > 0)
    return float((sizes * counts)[known].sum() / times[known].sum()) if known.any() else None
