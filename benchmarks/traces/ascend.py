"""Timelines of an Ascend NPU: trace_view.json of torch_npu, msprof_*.json of msprof."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from benchmarks.traces.times import us

_T0 = 1_736_408_883_688_177_930  # ns
_PYTHON, _CANN, _DEVICE, _HCCL, _OVERLAP, _PMU = 4242, 320, 512, 576, 832, 768
_HOST, _QUEUE = 4242, 4243  # threads
_STEP = 2_000  # events of a step, about
_OPS = ("addmm", "mul", "add", "layer_norm", "softmax", "gelu", "bmm", "copy_", "cat", "select")
_KERNELS = ("MatMulV3", "Mul", "Add", "LayerNormV3", "SoftmaxV2", "Gelu", "BatchMatMulV2", "Cast")
_CALLS = ("AscendCL@aclrtGetDevice", "AscendCL@aclrtSetDevice", "AscendCL@aclrtSynchronizeStream")
_CORES = ("AI_CORE", "AI_VECTOR_CORE", "MIX_AIC")
_LAYERS = 400  # different operators
_DIMS = r"8,128,768;\r\n768,%d;\r\n%d;\r\n;\r\n"
_LABELS = (
    (_PYTHON, "Python", "CPU"),
    (_CANN, "CANN", "CPU"),
    (_DEVICE, "Ascend Hardware", "NPU 0"),
    (_HCCL, "HCCL", "NPU 0"),
    (_OVERLAP, "Overlap Analysis", "NPU 0"),
    (_PMU, "Acc PMU", "NPU 0"),
)


def trace_view(count: int, seed: int = 0) -> Iterator[str]:
    """A timeline of about `count` events: operators of torch that are queued, the calls of CANN,
    the tasks of the device, the flows between them, and counters; in one line."""
    timeline = _Timeline(random.Random(seed), has_framework=True)
    return timeline.text(count, ", ")


def msprof(count: int, seed: int = 0) -> Iterator[str]:
    """The same without a framework; an event a line."""
    timeline = _Timeline(random.Random(seed), has_framework=False)
    return timeline.text(count, ",\n")


class _Timeline:
    def __init__(self, chance: random.Random, *, has_framework: bool) -> None:
        self._chance = chance
        self._has_framework = has_framework
        self._now, self._free = _T0, _T0 + 50_000
        self._lines: list[str] = []
        self._task = self._layer = 0

    def text(self, count: int, between: str) -> Iterator[str]:
        """The file; processes are named behind the first operators, as torch_npu does."""
        written, step = 0, 0
        yield "["
        while written < count:
            until, start = min(_STEP, count - written), self._now
            while len(self._lines) < until:
                self._operator()
            if self._has_framework:
                name = f"ProfilerStep#{step}"
                self._span(name, _PYTHON, _HOST, start, self._now, cat="cpu_op")
            if not step:
                self._label()
            yield between.join(["", *self._lines] if written else self._lines)
            written, step = written + len(self._lines), step + 1
            self._lines.clear()
        yield "]"

    def _operator(self) -> None:
        begin = self._now
        layer = self._layer = (self._layer + 1) % _LAYERS
        op = _OPS[layer % len(_OPS)]
        if self._has_framework:
            for depth in range(self._chance.randrange(4)):
                name = f"torch/nn/modules/module.py({1500 + depth}): _call_impl"
                ids = {"Python id": self._task + depth, "Python parent id": self._task}
                self._span(name, _PYTHON, _HOST, begin, begin + 900, cat="python_function", **ids)
        self._pass()
        for _ in range(self._chance.randrange(3)):
            self._call(self._chance.choice(_CALLS))
        launched = self._now
        for _ in range(self._chance.randrange(1, 3)):
            self._launch()
        self._pass()
        if self._has_framework:
            size = layer % 97 + 1
            told: dict[str, Any] = {"Sequence number": -1, "Fwd thread id": 0}
            told["Input Dims"] = json.loads(f'"{_DIMS % (size, size)}"')
            told["Input type"] = "c10::BFloat16;\r\nc10::BFloat16;\r\nfloat;\r\nScalar;\r\nNone"
            self._span(f"aten::{op}", _PYTHON, _HOST, begin, self._now, cat="cpu_op", **told)
            queue = {"correlation_id": self._task}
            self._span(
                f"Enqueue@aclnn{op}", _PYTHON, _HOST, launched, launched + 700, "enqueue", **queue
            )
            name = f"Dequeue@aclnn{op}"
            self._span(name, _PYTHON, _QUEUE, launched, self._now, cat="dequeue", **queue)
        for _ in range(self._chance.randrange(3)):
            told = {"value": self._chance.randrange(100), "acc_id": 0}
            self._add(name="read_bandwidth", ts=us(self._now), pid=_PMU, tid=0, args=told, ph="C")

    def _launch(self) -> None:
        """A call that launches a task, and the task."""
        start, number = self._now, self._task
        self._task += 1
        self._call("Node@launch", connection_id=number)
        begin = max(self._free, self._now + 3_000)
        exact = 1_000 + self._chance.lognormvariate(9, 1)  # the clock of a device tells parts of ns
        self._free = begin + int(exact) + 600
        layer = self._layer
        kernel = _KERNELS[layer % len(_KERNELS)]
        told = {
            "Model Id": 4294967295,
            "Task Type": _CORES[layer % len(_CORES)],
            "Physic Stream Id": 2 + number % 3 // 2,
            "Task Id": number % 65536,
            "Batch Id": 0,
            "Subtask Id": 4294967295,
            "connection_id": number,
        }
        self._add(
            name=f"aclnn{kernel}_{kernel}_{kernel}_{layer}",
            pid=_DEVICE, tid=2, ts=us(begin), dur=round(exact / 1000, 7), args=told, ph="X",
        )  # fmt: skip
        self._span("Computing", _OVERLAP, 0, begin, begin + int(exact))
        arrows = [("HostToDevice", f"HostToDevice{number}", str(number), _CANN, _QUEUE)]
        if self._has_framework:
            arrows.append(("async_npu", "torch_to_npu", begin, _PYTHON, _HOST))
        for cat, name, id_, pid, tid in arrows:
            self._add(ph="s", bp="e", name=name, id=id_, pid=pid, tid=tid, ts=us(start), cat=cat)
            self._add(ph="f", bp="e", name=name, id=id_, pid=_DEVICE, tid=2, ts=us(begin), cat=cat)

    def _call(self, name: str, **more: Any) -> None:
        start = self._now
        self._pass()
        told = {"Thread Id": _QUEUE, "Mode": "ACL_RTS", "level": "acl", "id": name, **more}
        self._span(name, _CANN, _QUEUE, start, self._now, **told)

    def _label(self) -> None:
        for pid, name, label in _LABELS if self._has_framework else _LABELS[1:]:
            self._add(name="process_name", pid=pid, tid=0, args={"name": name}, ph="M")
            self._add(name="process_labels", pid=pid, tid=0, args={"labels": label}, ph="M")

    def _span(
        self,
        name: str,
        pid: int,
        tid: int,
        start: int,
        end: int,
        cat: str | None = None,
        **args: Any,
    ) -> None:
        told = {"name": name, "pid": pid, "tid": tid, "ts": us(start)}
        self._add(
            **told, dur=(end - start) / 1000, **({"cat": cat} if cat else {}), args=args, ph="X"
        )

    def _add(self, **event: Any) -> None:
        self._lines.append(json.dumps(event))

    def _pass(self) -> None:
        self._now += 1_000 + 10 * int(self._chance.expovariate(1 / 90))
