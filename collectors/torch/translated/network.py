"""An ONNX model as a module of torch, and its tensors as they are when that runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from fusescope.analysis.text import clean_text
from fusescope.collectors.torch.calls import Call, Run
from fusescope.collectors.torch.translated.backend import TorchBackend, Traced
from fusescope.collectors.translation import program as programs
from fusescope.collectors.translation.operators import translated
from fusescope.collectors.translation.program import Program
from fusescope.collectors.translation.shaping import VIEWS
from fusescope.collectors.workers.given import load_inputs
from fusescope.collectors.workers.jobs import SessionSettings

ENGINE = "torch"


@dataclass(frozen=True)
class Network:
    """`module` computes the program. `steps` says which step of its graph makes a tensor of the
    program, `weights` what the program calls a parameter."""

    module: torch.fx.GraphModule
    program: Program
    inputs: dict[str, torch.Tensor]
    steps: Mapping[str, torch.fx.Node]
    weights: Mapping[str, str] = field(default_factory=dict)

    def named_tensors(self) -> dict[int, tuple[str, bool]]:
        """Address of the data -> the model's name, and whether it is constant."""
        found = {
            parameter.data_ptr(): (self.weights[name], True)
            for name, parameter in self.module.named_parameters()
        }
        return found | {tensor.data_ptr(): (name, False) for name, tensor in self.inputs.items()}

    def run(self) -> Run:
        """The program's own nodes as the calls of a run, with the tensors that they make."""
        kept = _Kept(self.module)
        kept.run(*self.inputs.values())
        made = Run(constant=set(self.weights.values()), given=[*self.program.inputs])
        made.values |= {name: kept.values[node] for name, node in self.steps.items()}
        made.values |= self.inputs
        made.outputs = [*self.program.outputs]
        for step in self.program.steps:
            writes = [name for name in step.outputs if name in self.steps]
            if writes:
                reads = [name for name in step.inputs if name]
                is_view = step.op_type in VIEWS
                made.calls.append(Call(step.op_type, reads, writes, is_view=is_view))
        return made


class _Kept(torch.fx.Interpreter):  # type: ignore[misc]
    """Runs a graph and keeps what every step made."""

    def __init__(self, module: torch.fx.GraphModule) -> None:
        super().__init__(module, garbage_collect_values=False)
        self.values: dict[torch.fx.Node, Any] = {}

    def run_node(self, n: torch.fx.Node) -> Any:
        """One step."""
        self.values[n] = super().run_node(n)
        return self.values[n]


def load(settings: SessionSettings) -> Network:
    """The program of a recording, with its inputs. Raises FuseScopeError for a form of an operator
    that is not translated."""
    program, weights, held = programs.load(Path(settings.program))
    backend = TorchBackend()
    given = load_inputs(settings)
    values = {name: backend.given(name, given[name]) for name in program.inputs}
    found = translated(program, weights, held, values, backend, ENGINE)
    outputs = []
    for name in program.outputs:
        one = found[name]
        outputs.append(one if isinstance(one, Traced) else backend.constant(name, one.array))
    backend.graph.output(tuple(one.node for one in outputs))
    module = torch.fx.GraphModule(backend.root, backend.graph)
    module.eval().requires_grad_(False)
    made = {name for step in program.steps for name in step.outputs if name}
    steps = {name: one.node for name, one in found.items()
             if name in made and isinstance(one, Traced)}  # fmt: skip
    inputs = {name: torch.from_numpy(given[name]).clone() for name in program.inputs}
    weights_of = {own: clean_text(name, 200) for own, name in backend.named.items()}
    return Network(module, program, inputs, steps, weights_of)
