"""A simulated job of many ranks: the traces that PyTorch's profiler would have written of it.

Nodes of several devices train one model: every layer ends with an all-reduce inside the node,
every step with two all-reduces across nodes. Who arrives last makes the others wait, as in a real
job; clocks of the ranks are not set alike, and single kernels are slow by chance.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

_START_US = 2_915_995_397_000.0
_PEER = "nccl"
_GEMM = "ampere_bf16_s16816gemm_bf16_{}_ldg8_f2f_tn"
_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
_ELEMENTWISE = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::{}<c10::BFloat16>, "
    "std::array<char*, 2ul> >(int)"
)
_KERNELS = (
    # operator of the host, kernel, µs, shapes
    ("aten::mm", _GEMM.format("128x128"), 95.0, [[512, 1024], [1024, 3072]]),
    ("flash_attn::_flash_attn_forward",
     "void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4> >(Flash_fwd_params)", 60.0,
     [[1, 512, 16, 64], [1, 512, 16, 64], [1, 512, 16, 64]]),
    ("triton_poi_fused_add_gelu_mul_0", "triton_poi_fused_add_gelu_mul_0", 4.0, [[512, 4096]]),
    ("aten::addmm", _GEMM.format("256x128"), 110.0, [[512], [512, 4096], [4096, 1024]]),
)  # fmt: skip
_FUSED = 2  # its place among them
_UNFUSED = tuple(
    (f"aten::{name}", _ELEMENTWISE.format(functor), 1.5, [[512, 4096]])
    for name, functor in (
        ("add", "CUDAFunctor_add"),
        ("gelu", "GeluFunctor"),
        ("mul", "MulFunctor"),
    )
)
_OPTIMIZER = (
    "aten::_fused_adamw_",
    "void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4> >(int)",
    45.0,
    [[]],
)
_NOISE = 0.02  # standard deviation of ln(time) of a kernel
_HICCUPS = 0.002  # share of kernels that take five times as long
_GAP_US = 4.0
_INSIDE_US, _ACROSS_US = 55.0, 180.0  # transfer of the all-reduces
_PART_BYTES = 256 * 1024
_INSIDE, _ACROSS = 512 * 1024, 12 * 2**20  # elements


@dataclass(frozen=True)
class Job:
    """What is simulated: `nodes` x `devices` ranks, and what is wrong with which of them.

    `slow` is a rank whose matrix products take `factor` times as long, `link` the place in its node
    of the ranks whose all-reduce across nodes takes three times as long, `unfused` a rank that lost
    a fusion. `truncated` is a rank whose file ends in the middle.
    """

    nodes: int = 8
    devices: int = 8
    steps: int = 3
    layers: int = 4
    seed: int = 0
    slow: int | None = None
    factor: float = 1.2
    link: int | None = None
    unfused: int | None = None
    truncated: int | None = None
    repeats: int = 1  # of the kernels of a layer, for longer traces

    @property
    def ranks(self) -> int:
        return self.nodes * self.devices


def write(job: Job, folder: Path) -> list[Path]:
    """One file for each rank, by rank, written as the job goes on: of no rank is more in memory
    than what is written next."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"rank{rank}.json" for rank in range(job.ranks)]
    for path in paths:
        path.unlink(missing_ok=True)

    def append(rank: int, part: bytearray) -> None:
        if len(part) >= _PART_BYTES:
            _flush(paths[rank], part)

    for rank, part in enumerate(_Simulation(job, append).run()):
        _flush(paths[rank], part)
        if rank == job.truncated:
            os.truncate(paths[rank], paths[rank].stat().st_size * 3 // 5)
    return paths


def _flush(path: Path, part: bytearray) -> None:
    with path.open("ab") as file:
        file.write(part)
    part.clear()


def traces(job: Job) -> Iterator[bytes]:
    """The file of each rank, rank 0 first, all of them in memory."""
    for rank, data in enumerate(_Simulation(job, lambda rank, part: None).run()):
        yield bytes(data[: len(data) * 3 // 5] if rank == job.truncated else data)


def _head(job: Job, rank: int) -> bytes:
    header = {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "numSms": 108}],
        "distributedInfo": {
            "backend": _PEER,
            "rank": rank,
            "world_size": job.ranks,
            "pg_count": len(_groups(job)),
            "pg_config": [
                {"pg_name": name, "pg_desc": text, "pg_size": len(ranks), "ranks": list(ranks)}
                for name, (text, ranks) in _groups(job).items()
                if rank in ranks
            ],
        },
        "record_shapes": 1,
        "baseTimeNanoseconds": 1727650800000000000,
    }
    return msgspec.json.encode(header)[:-1] + b',"traceEvents":['


def _groups(job: Job) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Name -> what it is for, and its ranks."""
    found: dict[str, tuple[str, tuple[int, ...]]] = {"0": ("default_pg", tuple(range(job.ranks)))}
    for node in range(job.nodes):
        first = node * job.devices
        found[f"{1 + node}"] = ("tensor", tuple(range(first, first + job.devices)))
    for place in range(job.devices):
        name = f"{1 + job.nodes + place}"
        found[name] = ("data", tuple(range(place, job.ranks, job.devices)))
    return found


class _Simulation:
    """Every rank's own time in µs, moved on by kernels and by waiting for each other."""

    def __init__(self, job: Job, written: Callable[[int, bytearray], None]) -> None:
        """`written` is told of each event what the file of its rank has at its end."""
        self._job = job
        self._written = written
        self._encode = msgspec.json.Encoder().encode_into
        self._chance = np.random.default_rng(job.seed)
        self._now = np.zeros(job.ranks)
        self._offset = _START_US + self._chance.uniform(0, 5e5, job.ranks)  # no common clock
        self._parts = [bytearray(_head(job, rank)) for rank in range(job.ranks)]
        self._is_first = [True] * job.ranks
        self._ids = np.zeros(job.ranks, dtype=int)
        self._sequence: dict[str, int] = {}

    def run(self) -> Iterator[bytearray]:
        """The end of the file of each rank, rank 0 first."""
        job = self._job
        groups = _groups(job)
        inside = [name for name, (text, _) in groups.items() if text == "tensor"]
        across = [name for name, (text, _) in groups.items() if text == "data"]
        for step in range(job.steps):
            begin = self._now.copy()
            for _ in range(job.layers):
                for rank in range(job.ranks):
                    for _ in range(job.repeats):
                        self._layer(rank)
                for name in inside:
                    self._all_reduce(name, groups[name], _INSIDE, _INSIDE_US)
            for _ in range(2):
                for place, name in enumerate(across):
                    factor = 3.0 if place == job.link else 1.0
                    self._all_reduce(name, groups[name], _ACROSS, _ACROSS_US * factor)
            for rank in range(job.ranks):
                self._kernel(rank, *_OPTIMIZER)
            self._step(step, begin)
        for rank, part in enumerate(self._parts):
            part += b'],"traceName":"rank%d.json"}' % rank
            yield part

    def _layer(self, rank: int) -> None:
        for place, (op, kernel, us, shapes) in enumerate(_KERNELS):
            if place == _FUSED and rank == self._job.unfused:
                for other in _UNFUSED:
                    self._kernel(rank, *other)
                continue
            is_slow = rank == self._job.slow and "gemm" in kernel
            self._kernel(rank, op, kernel, us * (self._job.factor if is_slow else 1), shapes)

    def _kernel(
        self, rank: int, op: str, kernel: str, us: float, shapes: Sequence[Sequence[int]]
    ) -> None:
        chance = self._chance
        took = us * float(np.exp(chance.normal(0, _NOISE)))
        took *= 5 if chance.random() < _HICCUPS else 1
        start = self._now[rank] + chance.exponential(_GAP_US) * 0.25
        self._launched(rank, op, kernel, start, took, {}, shapes)
        self._now[rank] = start + took

    def _all_reduce(
        self, name: str, group: tuple[str, tuple[int, ...]], elements: int, us: float
    ) -> None:
        text, ranks = group
        at = self._sequence[name] = self._sequence.get(name, -1) + 1
        members = list(ranks)
        end = self._now[members].max() + us * float(np.exp(self._chance.normal(0, _NOISE)))
        listed = ", ".join(map(str, ranks)) if len(ranks) <= 30 else ""
        args = {
            "Collective name": "allreduce",
            "In msg nelems": elements,
            "Out msg nelems": elements,
            "Group size": len(ranks),
            "dtype": "BFloat16",
            "Process Group Name": name,
            "Process Group Description": text,
            "Process Group Ranks": f"[{listed}]",
            "Seq": at,
        }
        for rank in ranks:
            stop = end + self._chance.uniform(0, 0.5)
            self._launched(
                rank, "nccl:all_reduce", _REDUCE,
                self._now[rank], stop - self._now[rank], args, [[elements]], stream=20,
            )  # fmt: skip
            self._now[rank] = stop

    def _launched(
        self,
        rank: int,
        op: str,
        kernel: str,
        start: float,
        took: float,
        args: dict[str, object],
        shapes: Sequence[Sequence[int]],
        stream: int = 7,
    ) -> None:
        """The operator of the host, the call that launches, and what ran on the device."""
        self._ids[rank] += 1
        id_ = int(self._ids[rank])
        host = max(0.0, start - 12.0)
        dims = {"Input Dims": shapes, "Input type": ["c10::BFloat16"] * len(shapes)}
        self._event(rank, "cpu_op", op, host, 3.0, {"External id": id_, **dims}, 416)
        call = {"External id": id_, "correlation": id_}
        self._event(rank, "cuda_runtime", "cudaLaunchKernel", host + 0.5, 1.5, call, 416)
        device = {**call, "device": 0, "stream": stream, "grid": [77, 1, 1], "block": [128, 1, 1]}
        self._event(rank, "kernel", kernel, start, took, {**device, **args}, stream)

    def _step(self, step: int, begin: np.ndarray) -> None:
        for rank in range(self._job.ranks):
            start = 0.0 if step == 0 else float(begin[rank]) - 14.0
            end = float(self._now[rank]) + (1.0 if step == self._job.steps - 1 else -14.0)
            self._event(
                rank, "user_annotation", f"ProfilerStep#{step + 5}", start, end - start, {}, 416
            )

    def _event(
        self,
        rank: int,
        cat: str,
        name: str,
        ts: float,
        dur: float,
        args: dict[str, object],
        tid: int,
    ) -> None:
        event = {
            "ph": "X",
            "cat": cat,
            "name": name,
            "pid": 0 if cat == "kernel" else 416,
            "tid": tid,
            "ts": round(float(self._offset[rank] + ts), 3),
            "dur": round(max(float(dur), 0.001), 3),
            "args": args,
        }
        part = self._parts[rank]
        if not self._is_first[rank]:
            part += b","
        self._is_first[rank] = False
        self._encode(event, part, -1)
        self._written(rank, part)
