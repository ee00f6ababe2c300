"""Traces of steps of kernels, with times that can be checked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame
from tests.host.hosts import Span, host_of


@dataclass(frozen=True)
class Kernel:
    """A kernel of `us`, `after_us` behind the one before it; `by` is the operator that launched
    it. With `at_us` it starts so long after its step, on a stream of its own, and the next one does
    not wait for it."""

    name: str
    us: float
    op_class: str = "elementwise"
    by: str | None = None
    inputs: str | None = None
    after_us: float = 0.0
    at_us: float | None = None


Launch = tuple[int, float] | None  # thread and time in us, None where the file does not say it


def steps_of(
    steps: Sequence[Sequence[Kernel]],
    *,
    marked: bool = True,
    name: str = "t",
    spans: Sequence[Span] = (),
    launches: Sequence[Launch] = (),
    runs_us: Sequence[tuple[float, float]] = (),
) -> Trace:
    """A trace of these steps, one behind the other; without `marked` the file marks no steps, with
    `runs_us` those of the host are there instead. `spans` are of the host, in ns, `launches` of
    each kernel in order."""
    distinct = list(
        dict.fromkeys((k.name, k.op_class, k.by, k.inputs) for step in steps for k in step)
    )
    place = {key: at for at, key in enumerate(distinct)}
    of, run, starts, lengths, streams, begins, ends = [], [], [], [], [], [], []
    now = 0.0
    for number, step in enumerate(steps):
        begins.append(now)
        reached = now
        for kernel in step:
            is_beside = kernel.at_us is not None
            start = begins[-1] + kernel.at_us if kernel.at_us is not None else now + kernel.after_us
            of.append(place[kernel.name, kernel.op_class, kernel.by, kernel.inputs])
            run.append(number)
            starts.append(round(start * 1000))
            lengths.append(round(kernel.us * 1000))
            streams.append("8" if is_beside else "7")
            reached = max(reached, start + kernel.us)
            now = now if is_beside else start + kernel.us
        now = reached
        ends.append(now)
    count = len(steps) if marked else 1
    if not marked:
        begins, ends, run = [0.0], [now], [0] * len(run)
    if runs_us:
        begins, ends = [begin for begin, _ in runs_us], [end for _, end in runs_us]
    calls = [
        (start, start + ns, launch[0] if launch else None, round(launch[1] * 1000) if launch else 0)
        for start, ns, launch in zip(starts, lengths, launches, strict=False)
    ]
    return Trace(
        Meta("kineto", "test", file_name=name),
        runs_frame(
            run=list(range(count)),
            kind=["step" if marked else "file"] * count,
            start_ns=[round(begin * 1000) for begin in begins],
            dur_ns=[round((end - begin) * 1000) for begin, end in zip(begins, ends, strict=True)],
            profiled=[True] * count,
        ),
        operators_frame(
            operator=list(range(len(distinct))),
            name=[key[0] for key in distinct],
            op_type=[key[0] for key in distinct],
            op_class=[key[1] for key in distinct],
            level=["device_kernel"] * len(distinct),
            launched_by=[key[2] for key in distinct],
            inputs=[key[3] for key in distinct],
            is_communication=[key[1] == "communication" for key in distinct],
        ),
        calls_frame(
            operator=of,
            run=run,
            device=["0"] * len(of),
            stream=streams,
            start_ns=starts,
            dur_ns=lengths,
            source_row=list(range(len(of))),
        ),
        host=host_of(spans, calls) if spans or calls else None,
    )
