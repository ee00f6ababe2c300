"""Logs of torch.compile and traces of what it compiled, written by hand for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

HEAD = "V1124 15:29:57.661000 23064 torch/_dynamo/utils.py:2350] "
KEY = "fabc"


def entry(head: Mapping[str, Any], payload: str = "") -> str:
    """A line of a log with what stands below it."""
    below = "".join(f"\t{line}\n" for line in payload.split("\n")) if payload else ""
    told = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    return f"{HEAD}{json.dumps({**head, **told})}\n{below}"


def artifact(name: str, payload: str) -> str:
    return entry({"artifact": {"name": name, "encoding": "string"}}, payload)


def graph_text(nodes: Mapping[str, str]) -> str:
    """A printed graph: name -> right-hand side."""
    lines = [f'        {name}: "f32[8]" = {code};  x = None' for name, code in nodes.items()]
    head = [
        "class GraphModule(torch.nn.Module):",
        '    def forward(self, L_x_: "f32[8]"):',
        "        l_x_ = L_x_",
        "",
        "        # File: /home/user/model.py:9 in forward, code: y = f(x)",
    ]
    return "\n".join([*head, *lines, "        return (y,)"])


def code_text(steps: Sequence[str]) -> str:
    """The part of a generated program that calls its kernels: 'cpp_fused_add_0:1', …"""
    lines = ["# AOT ID: ['0_inference']", "    def call(self, args):"]
    for step in steps:
        lines += [
            f"        # [Provenance debug handles] {step}",
            f"        {step.rpartition(':')[0]}(buf0)",
        ]
    return "\n".join(lines)


def log_text(
    given: Mapping[str, str],
    optimised: Mapping[str, str],
    steps: Mapping[str, Sequence[str]],
    sources: Mapping[str, Sequence[str]],
    key: str = KEY,
    order: Sequence[str] | None = None,
) -> str:
    """A log of one graph. `steps`: 'kernel:number' -> nodes of the optimised graph, in the order of
    the program unless `order` says it."""
    mapping = {
        "preToPost": {},
        "postToPre": {name: list(of) for name, of in sources.items()},
        "cppCodeToPost": {step: list(nodes) for step, nodes in steps.items()},
    }
    parts = [
        artifact("before_pre_grad_graph", graph_text(given)),
        artifact("inductor_post_grad_graph", graph_text(optimised)),
        entry({"inductor_output_code": {"filename": "c.py"}}, code_text(order or list(steps))),
        artifact("inductor_provenance_tracking_node_mappings", json.dumps(mapping)),
        artifact("fx_graph_cache_miss", json.dumps({"key": key})),
    ]
    return "".join(parts)


def event(cat: str, name: str, ts: float, dur: float, **args: Any) -> dict[str, Any]:
    return {
        "ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, "args": args,
    }  # fmt: skip


def trace_text(events: Sequence[Mapping[str, Any]]) -> bytes:
    return json.dumps(
        {"schemaVersion": 1, "deviceProperties": [], "traceEvents": list(events)}
    ).encode()


def compiled_steps(names: Sequence[str], steps: int = 2, calls: int = 1, key: str = KEY) -> bytes:
    """A trace of steps with calls of a compiled graph that run operators of these names."""
    events = []
    for step in range(steps):
        at = 1000.0 * step
        events.append(event("user_annotation", f"ProfilerStep#{step}", at, 900))
        for call in range(calls):
            start = at + 10 + call * 400
            events.append(event("cpu_op", "Torch-Compiled Region: 0/0", start, 390))
            events.append(
                event("user_annotation", f"## Call CompiledFxGraph {key} ##", start + 5, 380)
            )
            events += [
                event("cpu_op", name, start + 10 + 10 * place, 5)
                for place, name in enumerate(names)
            ]
    return trace_text(events)


def eager_steps(names: Sequence[str | tuple[str, ...]], steps: int = 2) -> bytes:
    """A trace of steps of eager mode: names of operators, each with those that it calls."""
    events = []
    for step in range(steps):
        at = 1000.0 * step
        events.append(event("user_annotation", f"ProfilerStep#{step}", at, 900))
        for place, given in enumerate(names):
            name, *inner = (given,) if isinstance(given, str) else given
            start = at + 10 + 20 * place
            events.append(event("cpu_op", name, start, 18))
            events += [
                event("cpu_op", one, start + 2 + 4 * at_, 3) for at_, one in enumerate(inner)
            ]
    return trace_text(events)


# An operator of the host, one that it calls ('' for none), and the kernels that are launched.
Launched = tuple[str, str, tuple[str, ...]]


def device_steps(
    program: Sequence[Launched], steps: int = 2, key: str = "", kernel_us: float = 5
) -> bytes:
    """A trace of a GPU: operators that launch kernels, as files of PyTorch 2.13 have them, in a
    call of a compiled graph where there is a `key`. The device runs behind the host."""
    events = []
    number = 0
    for step in range(steps):
        at = 1000.0 * step
        events.append(event("user_annotation", f"ProfilerStep#{step}", at, 900))
        if key:
            events += [
                event("cpu_op", "Torch-Compiled Region: 0/0", at + 10, 880),
                event("user_annotation", f"## Call CompiledFxGraph {key} ##", at + 15, 870),
            ]
        for place, (name, inner, kernels) in enumerate(program):
            start = at + 20 + 40 * place
            events.append(event("cpu_op", name, start, 36))
            if inner:
                events.append(event("cpu_op", inner, start + 2, 32))
            for launch, kernel in enumerate(kernels):
                number += 1
                called = start + 4 + 10 * launch
                events += [
                    event("cuda_driver", "cuLaunchKernelEx", called, 4, correlation=number),
                    {
                        **event("kernel", kernel, called + 50, kernel_us, correlation=number,
                                device=0, stream=7),
                        "pid": 0,
                        "tid": 7,
                    },
                ]  # fmt: skip
    return trace_text(events)
