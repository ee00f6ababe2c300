"""An ONNX Runtime profile."""

from __future__ import annotations

import random
from collections.abc import Iterator

_NODES = 500
_ORT_OPS = [
    "MatMul",
    "Add",
    "Mul",
    "Relu",
    "Softmax",
    "LayerNormalization",
    "Conv",
    "Transpose",
    "Reshape",
    "Gather",
    "Concat",
    "Slice",
    "Gelu",
    "ReduceMean",
    "Sub",
    "Div",
    "Sqrt",
    "Pow",
    "Cast",
    "Unsqueeze",
    "Split",
    "FusedMatMul",
    "SkipLayerNormalization",
    "Attention",
    "QuantizeLinear",
    "DequantizeLinear",
    "Where",
    "Expand",
    "MaxPool",
    "GlobalAveragePool",
]
_ORT_SHAPES = ("[1,128,768]", "[8,128,768]", "[1,12,128,128]", "[1,3,224,224]", "[64,64]")
_THREADS = (
    '"thread_scheduling_stats" : {"main_thread": {"thread_pool_name": "session-1-intra-op", '
    '"thread_id": "140517176589184", "block_size": [1], "core": -1, "Distribution": 0, '
    '"DistributionEnqueue": 0, "Run": 0, "Wait": 0, "WaitRevoke": 0}, "sub_threads": '
    '{"140516979107520": {"num_run": 0, "core": -1}}}'
)


def onnxruntime(count: int, seed: int = 0) -> Iterator[str]:
    """An ONNX Runtime profile of `count` node executions, 500 a run."""
    chance = random.Random(seed)
    nodes = [_node(place, chance) for place in range(_NODES)]
    session = '{"cat" : "Session","pid" :11116,"tid" :11116,"dur" :%d,"ts" :%d,"ph" : "X",'
    session += '"name" :"%s","args" : {}}'
    yield "[\n" + session % (300, 16, "model_loading_array")
    now = 400
    for first in range(0, count, _NODES):
        begin, lines = now, []
        for head, tail, mean in nodes[: count - first]:
            dur = max(1, int(mean * (1 + 0.1 * chance.gauss(0, 1))))
            lines.append(f',\n{head}{dur},"ts" :{now}{tail}')
            now += dur + chance.randint(1, 4)
        yield from lines
        yield ",\n" + session % (now - begin, begin, "model_run")
    yield "\n]\n"


def _node(place: int, chance: random.Random) -> tuple[str, str, float]:
    op, shape = chance.choice(_ORT_OPS), chance.choice(_ORT_SHAPES)
    inputs = ",".join('{"float":' + shape + "}" for _ in range(chance.choice((1, 2, 2, 3))))
    size = chance.choice((2048, 393216, 3145728))
    tail = (
        f',"ph" : "X","name" :"/encoder/layer.{place // 40}/{op}_{place}_kernel_time","args" : '
        f'{{"activation_size" : "{size}","output_size" : "{size}","input_type_shape" : [{inputs}],'
        f'"mem_requested_in_use_delta" : "{size}","mem_bytes_requested_in_use" : "18432",'
        f'"op_name" : "{op}","output_type_shape" : [{{"float":{shape}}}],'
        f'"mem_arena_held" : "1064960","mem_arena_held_delta" : "0",{_THREADS},'
        f'"parameter_size" : "{size}","mem_in_use_delta" : "2048","node_index" : "{place}",'
        '"provider" : "CPUExecutionProvider","mem_bytes_in_use" : "18432"}}'
    )
    head = '{"cat" : "Node","pid" :11116,"tid" :11116,"dur" :'
    return head, tail, chance.lognormvariate(3, 1.2)
