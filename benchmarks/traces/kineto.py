"""A PyTorch profiler trace of a GPU with Python stacks."""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchmarks.traces.times import us

_PID = 416
_STEP_EVENTS = 20_000
_FRAMES = (
    *(f"torch/nn/modules/module.py({line}): _call_impl" for line in range(1500, 1560)),
    *(f"nn.Module: Linear_{number}" for number in range(200)),
    *(f"<built-in method linear of type object at 0x7f{at:08x}>" for at in range(60)),
)
_OPS = tuple(
    f"aten::{name}"
    for name in [
        "linear",
        "addmm",
        "mul",
        "add",
        "view",
        "reshape",
        "transpose",
        "t",
        "matmul",
        "softmax",
        "_softmax",
        "layer_norm",
        "native_layer_norm",
        "copy_",
        "to",
        "_to_copy",
        "slice",
        "as_strided",
        "expand",
        "bmm",
        "gelu",
        "cat",
        "select",
        "narrow",
    ]
)
_CALLS = ("cudaStreamIsCapturing", "cudaEventRecord", "cudaMemcpyAsync", "cudaStreamSynchronize")
_KERNELS = (
    (
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
        "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"
    ),
    (
        "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_64x3_tn_"
        "align8>(Params)"
    ),
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "triton_poi_fused__to_copy_add_mul_0",
    "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>(Flash_fwd_params)",
    *(f"triton_red_fused_native_layer_norm_{number}" for number in range(60)),
)
_STREAMS = (7, 7, 7, 20)


def kineto(
    count: int,
    seed: int = 0,
    *,
    names: int = 0,
    streams: int = 0,
    step_events: int = _STEP_EVENTS,
) -> Iterator[str]:
    """A PyTorch profiler trace of a GPU with Python stacks, about `count` events, a line each, in
    steps of about `step_events`.

    With `names` kernels have so many different names in turn, with `streams` they run on so many
    streams.
    """
    yield (
        '{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "X", "numSms": 304}], '
        '"record_shapes": 1, "with_stack": 1, "displayTimeUnit": "ms", '
        '"baseTimeNanoseconds": 1727650800000000000, "traceEvents": [\n'
    )
    yield f'{{"name":"process_name","ph":"M","ts":0.000,"pid":{_PID},"tid":0,"args":{{}}}}'
    host = _Host(random.Random(seed), names, streams)
    step = 0
    while host.count < count:
        until = min(count, host.count + step_events)
        start = host.now
        while host.count < until:
            host.frame(0)
        host.add(
            start, f'"user_annotation","name":"ProfilerStep#{step}","pid":{_PID},"tid":{_PID}', ""
        )
        step += 1
        yield from host.flush()
    yield '\n],"traceName": "trace.json"}\n'


class _Host:
    """A thread that calls functions in functions, operators in these, and launches in those."""

    def __init__(self, chance: random.Random, names: int, streams: int) -> None:
        self.now = 2_915_995_397_672_546
        self.count = 0
        self._chance = chance
        self._names, self._streams = names, streams
        self._kernels = 0
        self._free: dict[int, int] = {}
        self._lines: list[str] = []

    def frame(self, depth: int) -> None:
        """A Python function, with what it calls."""
        place, start = self._open()
        for _ in range(self._chance.randrange(1, 3)):
            if depth < 18 and self._chance.random() < 0.8:
                self.frame(depth + 1)
            elif self._chance.random() < 0.4:
                self.op(0)
        self._pass()
        name = self._chance.choice(_FRAMES)
        ids = f'"Python parent id":{place // 2},"Python id":{place},"Ev Idx":{place}'
        self._close(place, start, "python_function", name, ids)

    def op(self, depth: int) -> None:
        """An operator, with those it calls and perhaps a launch."""
        place, start = self._open()
        if depth < 3 and self._chance.random() < 0.5:
            self.op(depth + 1)
        elif self._chance.random() < 0.75:
            self._launch(place)
        self._pass()
        size = place % 97
        inputs = (
            '"Record function id":0,"Concrete Inputs":["[1, 77]","4","0","","False",""],'
            '"Input type":["float","float","Scalar","","Scalar",""],'
            f'"Input Strides":[[{size},1],[],[],[],[],[]],"Input Dims":[[8,{size}],[{size},64],'
            "[],[],[],[]]"
        )
        name = self._chance.choice(_OPS)
        ids = f'"External id":{place},{inputs},"Ev Idx":{place}'
        self._close(place, start, "cpu_op", name, ids)

    def add(self, start: int, head: str, arguments: str, end: int | None = None) -> None:
        """One finished event of any kind, from `start` to now in ns."""
        end = self.now if end is None else end
        self._lines.append(_timed(head, start, end - start, arguments))
        self.count += 1

    def flush(self) -> Iterator[str]:
        """The lines so far."""
        yield from (f",\n{line}" for line in self._lines)
        self._lines.clear()

    def _launch(self, external: int) -> None:
        for _ in range(self._chance.randrange(0, 7)):
            start = self.now
            self._pass()
            head = (
                f'"cuda_runtime","name":"{self._chance.choice(_CALLS)}","pid":{_PID},"tid":{_PID}'
            )
            self.add(start, head, f'"cid":48,"correlation":{self.count}')
        start, id_ = self.now, self.count
        self._pass()
        head = f'"cuda_runtime","name":"cudaLaunchKernel","pid":{_PID},"tid":{_PID}'
        self.add(start, head, f'"External id":{external},"cid":211,"correlation":{id_}')
        number, self._kernels = self._kernels, self._kernels + 1
        stream = number % self._streams if self._streams else self._chance.choice(_STREAMS)
        name = self._chance.choice(_KERNELS)
        if self._names:
            name = f"kernel_of_shape_{number % self._names}_bf16"
        begin = max(self._free.get(stream, 0), self.now + 2_000)
        end = begin + 1 + int(self._chance.lognormvariate(9, 1.2))
        self._free[stream] = end + 500
        self.add(
            begin,
            f'"kernel","name":"{name}","pid":0,"tid":{stream}',
            f'"External id":{external},"device":0,"stream":{stream},"correlation":{id_},'
            f'"grid":[77,1,1],"block":[128,1,1],"registers per thread":32,"shared memory":0,'
            f'"blocks per SM":0.712963,"warps per SM":5.703704,"est. achieved occupancy %":9',
            end,
        )
        arrow = f'"id":{id_},"pid":%d,"tid":%d,"ts":%s,"cat":"ac2g","name":"ac2g"'
        self._lines.append('{"ph":"s",' + arrow % (_PID, _PID, us(start)) + "}")
        self._lines.append('{"ph":"f",' + arrow % (0, stream, us(begin)) + ',"bp":"e"}')
        self.count += 2

    def _open(self) -> tuple[int, int]:
        place = len(self._lines)
        self._lines.append("")
        self.count += 1
        self._pass()
        return place, self.now

    def _close(self, place: int, start: int, category: str, name: str, arguments: str) -> None:
        self._pass()
        head = f'"{category}","name":"{name}","pid":{_PID},"tid":{_PID}'
        self._lines[place] = _timed(head, start, self.now - start, arguments)

    def _pass(self) -> None:
        self.now += 1 + int(self._chance.expovariate(1 / 900))


def _timed(head: str, start_ns: int, dur_ns: int, arguments: str) -> str:
    return (
        f'{{"ph":"X","cat":{head},"ts":{us(start_ns)},"dur":{us(dur_ns)},"args":{{{arguments}}}}}'
    )
