"""The activity of the host in what the profilers of Ascend write: operators of the framework,
Python, marks, and calls of CANN, on the threads that they share.

PyTorch hands launches over in a queue: one thread puts an operator into it (Enqueue), another takes
it out (Dequeue@) and calls CANN. The flow of the framework begins on the former, that of the driver
(HostToDevice) on the latter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fusescope.analysis.host_activity import ANNOTATION, FRAME, OPERATOR, RUNTIME, HostActivity
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers.building.call_stacks import Frames, Moments, innermost, stacks_of
from fusescope.analysis.readers.building.coded import Whole
from fusescope.analysis.readers.building.host.spans import HostSpans, host_activity
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.stacks import Stacks
from fusescope.analysis.trace import Diagnostic

_KIND_OF_CATEGORY = {
    "cpu_op": OPERATOR, "enqueue": OPERATOR, "dequeue": OPERATOR, "python_function": FRAME,
    "user_annotation": ANNOTATION, "async_task_queue": OPERATOR,
}  # fmt: skip
_KIND_OF_PROCESS = (
    ("cann", RUNTIME), ("cpu op", OPERATOR), ("mindspore", OPERATOR), ("python", OPERATOR),
)  # fmt: skip
# Names of operators: 'aten::add', 'Conv2D'; a mark has none: 'Optimizer.step#SGD.step'.
_OPERATOR = re.compile(r"\w+\Z|[\w.]+::|autograd::engine")
_PYTHON = re.compile(r".{0,400}\.py(?:\(\d{1,9}\))?: |<built-in |<method |nn\.Module: ")
_MODULE = "nn.Module: "
_CANN = re.compile(r"(?:AscendCL|ACL)@")


def kind_of(category: object, process: str) -> int | None:
    """Return the kind of the spans of a category and process, None where they are none of a thread
    of the host."""
    if isinstance(category, str) and category in _KIND_OF_CATEGORY:
        return _KIND_OF_CATEGORY[category]
    lower = process.lower()
    return next((kind for name, kind in _KIND_OF_PROCESS if lower.startswith(name)), None)


def kind_by_name(kind: int, name: str) -> int:
    """Return the kind of a span of this kind with that name: marks and Python frames stand among
    operators."""
    if kind != OPERATOR:
        return kind
    if _PYTHON.match(name):
        return FRAME
    return OPERATOR if _OPERATOR.match(name) or "@" in name else ANNOTATION


def shown_name(name: str) -> str:
    """Return the name of a call of CANN as programs have it: 'aclrtMalloc' of
    'AscendCL@aclrtMalloc'."""
    return _CANN.sub("", name, count=1)


@dataclass(frozen=True)
class Launched:
    """When and on which thread something was launched, for each task of the devices; threads are
    numbers, and of no meaning where the time is not known."""

    threads: Ints
    times: Whole

    @classmethod
    def none(cls, count: int) -> Launched:
        """Of so many tasks none."""
        zeros = np.zeros(count, dtype="int64")
        return cls(zeros, Whole(zeros, np.zeros(count, dtype=bool)))

    def moments(self, rows: Ints) -> Moments:
        """Those that are known, of tasks in these rows of the file."""
        at = np.flatnonzero(self.times.known)
        return Moments(self.threads[at], self.times.numbers[at], rows[at])


@dataclass(frozen=True)
class AscendHost:
    """Spans of threads, and when each task was launched and handed to CANN; `names` and `threads`
    say what numbers are."""

    spans: HostSpans
    names: Sequence[str]
    threads: Sequence[str]
    launched: Launched
    submitted: Launched
    forward: Launched  # of each span that computes gradients, its operator of the forward pass

    def activity(self, rows: Ints, limits: Limits) -> tuple[HostActivity | None, list[Diagnostic]]:
        """The activity of the host, and notes; `rows` are the rows of the file of the tasks, below
        0 for those that are left out. A task without a flow of the framework was launched where
        that of the driver begins."""
        by_framework, by_driver = self.launched.times, self.submitted.times
        is_known = by_framework.known
        launched = Launched(
            np.where(is_known, self.launched.threads, self.submitted.threads),
            Whole(
                np.where(is_known, by_framework.numbers, by_driver.numbers),
                is_known | by_driver.known,
            ),
        )
        return host_activity(
            self.spans,
            self._kept(launched, rows).moments(rows),
            self.names,
            [("", thread) for thread in self.threads],
            limits,
            self._kept(self.submitted, rows).moments(rows),
        )

    def stacks(self, rows: Ints, limits: Limits) -> Stacks | None:
        """The Python frames and operators around the launch of each task by the framework; None
        where the file has none."""
        spans = self.spans.take(np.flatnonzero(np.isin(self.spans.kinds, (FRAME, OPERATOR))))
        frames = Frames(spans.lanes, spans.starts, spans.lengths, spans.names, self.names)
        moments = self._kept(self.launched, rows).moments(rows)
        return stacks_of(frames, moments, limits, self._forward_of(moments))

    def _forward_of(self, moments: Moments) -> Moments | None:
        """When and on which thread the forward operator of moments began that lie in a backward
        one; of those in a module inside that, which runs again, none. None where the file names no
        modules."""
        is_module = np.array([name.startswith(_MODULE) for name in self.names], dtype=bool)
        spans = self.spans
        modules = np.flatnonzero(is_module[spans.names])
        backward = np.flatnonzero(self.forward.times.known)
        if not len(modules) or not len(backward):
            return None
        holders = np.concatenate([modules, backward])
        numbers = np.concatenate([np.full(len(modules), -1), backward])
        at = innermost(
            Frames(
                spans.lanes[holders], spans.starts[holders], spans.lengths[holders], numbers, ()
            ),
            moments,
        )
        held = np.where(at >= 0, numbers[at], -1)
        linked = np.flatnonzero(held >= 0)
        made_by = held[linked]
        return Moments(
            self.forward.threads[made_by],
            self.forward.times.numbers[made_by],
            moments.rows[linked],
        )

    def _kept(self, launched: Launched, rows: Ints) -> Launched:
        """The same without tasks that are left out."""
        times = launched.times
        return Launched(launched.threads, Whole(times.numbers, times.known & (rows >= 0)))


def named(names: Iterable[str]) -> tuple[list[str], Ints]:
    """Return the names that are shown, each once, and the place of each of `names` among them."""
    places: dict[str, int] = {}
    of = [places.setdefault(shown_name(name), len(places)) for name in names]
    return list(places), np.array(of, dtype="int64")
