"""Recordings of AMD's profilers: results.json of rocprofv3, and of rocprof before it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

_T0 = 8_819_330_200_067_564  # ns
_KERNELS = (
    "Cijk_Alik_Bljk_HHS_BH_MT128x64x32_MI16x16x16x1_SN_K1",
    "void addition_kernel<float>(float*, float const*, float const*, int, int)",
    *(f"triton_poi_fused_add_relu_{number}" for number in range(60)),
)
_CALLS = ("hipLaunchKernel", "hipGetDevice", "hipSetDevice", "hipStreamSynchronize")
_LEAST = 1_000  # ns


def results(count: int, seed: int = 0) -> Iterator[str]:
    """rocprofv3's JSON of `count` records: half are dispatches, half calls of HIP."""
    chance = random.Random(seed)
    names = [
        {"kernel_id": number, "code_object_id": 1, "formatted_kernel_name": name}
        for number, name in enumerate(_KERNELS)
    ]
    agents = [{"id": {"handle": 7002}, "type": 2, "node_id": 1, "product_name": "MI300X"}]
    strings = {"buffer_records": [{"kind": "HIP_RUNTIME_API", "operations": _CALLS}]}
    tool = {"metadata": {"pid": 4711}, "agents": agents, "strings": strings}
    tool |= {"kernel_symbols": names}
    yield '{"rocprofiler-sdk-tool": [' + json.dumps(tool)[:-1] + ', "buffer_records": {'
    yield '"kernel_dispatch": ['
    now = _T0
    for at in range(count // 2):
        dur = _LEAST + int(chance.lognormvariate(9, 1))
        yield (
            f'{", " if at else ""}{{"size": 64, "kind": 11, "operation": 2, "thread_id": 4711, '
            f'"correlation_id": {{"internal": {at}, "external": 0}}, "start_timestamp": {now}, '
            f'"end_timestamp": {now + dur}, "dispatch_info": {{"size": 64, "agent_id": '
            f'{{"handle": 7002}}, "queue_id": {{"handle": {1 + at % 3 // 2}}}, "kernel_id": '
            f'{chance.randrange(len(_KERNELS))}, "dispatch_id": {at + 1}, '
            '"private_segment_size": 0, "group_segment_size": 0, '
            '"workgroup_size": {"x": 256, "y": 1, "z": 1}, '
            '"grid_size": {"x": 65536, "y": 1, "z": 1}}, "stream_id": {"handle": 0}}'
        )
        now += dur + 900
    yield '], "hip_api": ['
    now = _T0 - 20_000
    for at in range(count - count // 2):
        dur = _LEAST + int(chance.lognormvariate(8, 1))
        yield (
            f'{", " if at else ""}{{"size": 56, "kind": 0, "operation": {at % len(_CALLS)}, '
            f'"correlation_id": {{"internal": {at}, "external": 0}}, "start_timestamp": {now}, '
            f'"end_timestamp": {now + dur}, "thread_id": 4711}}'
        )
        now += dur + 400
    yield "]}}]}"


def timeline(count: int, seed: int = 0) -> Iterator[str]:
    """The timeline that rocprof wrote, of `count` events: half are kernels, half calls of HIP."""
    chance = random.Random(seed)
    yield '{ "traceEvents":[{}\n'
    for pid, name in ((2, "CPU HIP API"), (6, "GPU0")):
        yield f',{{"args":{{"name":"{name}"}},"ph":"M","pid":{pid},"name":"process_name"}}\n'
    calls = now = _T0
    for at in range(count // 2):
        dur = _LEAST + int(chance.lognormvariate(9, 1))
        name = chance.choice(_KERNELS)
        for pid, title, start, more in (
            (2, _CALLS[at % len(_CALLS)], calls, '"pid":"4711","tid":"4711"'),
            (6, name, now, f'"queue-id":"{at % 3 // 2}","stream-id":"0","pid":"4711","tid":"4711"'),
        ):
            yield (
                f',{{"ts":"{start // 1000}","dur":"{dur // 1000}","ph":"X","pid":{pid},'
                f'"tid":{4711 if pid == 2 else at % 3 // 2},"name":"{title}","args":{{'
                f'"BeginNs":"{start}","EndNs":"{start + dur}",{more},"Name":"{title}",'
                f'"DurationNs":"{dur}"}}}}\n'
            )
        now += dur + 900
        calls += dur + 400
    yield '], "otherData":{"Device id":"0"}}'
