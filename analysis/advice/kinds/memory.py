"""Peak memory: a moment that needs much more than the rest of the trace."""

from __future__ import annotations

from fusescope.analysis.advice.finding import Finding
from fusescope.analysis.advice.subject import Answer, Subject, shown

_MIN_RATIO = 1.5  # the peak over what is allocated for half of the time
_MIN_MORE = 32 * 1024**2  # bytes by which it is larger


def peak_memory(subject: Subject) -> Answer:
    """Of one device the peak is 1.5 times what it has allocated for half of the time, and 32 MiB
    more: that of the device where it is highest."""
    uses = subject.trace.memory
    if not uses:
        return "no_memory"
    use = max(uses, key=lambda one: one.peak)
    if use.peak < _MIN_RATIO * use.usual or use.peak - use.usual < _MIN_MORE:
        return ()
    where = shown(use.peak_in) if use.peak_in else ""
    return (
        Finding(
            "peak_memory",
            values={
                "device": shown(use.device),
                "peak": use.peak,
                "usual": use.usual,
                "operator": where,
            },
            where="operators" if where else "run",
            names=(where,) if where else (),
            confidence="high",
        ),
    )
