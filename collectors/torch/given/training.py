"""A training step as one run: forward, backward and a step of the optimizer.

A function of the user's describes it by a dictionary: `module`, its `inputs`, `targets` for the
loss, `loss` and `optimizer`. A step changes weights, running means and what the optimizer keeps, so
all of it is put back before each run. Needs no torch to be imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fusescope.analysis.errors import FuseScopeError

KEYS = ("module", "inputs", "targets", "loss", "optimizer")
BACKWARD, OPTIMIZER = "backward", "optimizer"  # where operators stand that no module calls
_TEXT = """\
import torch
def run(*inputs):
    with torch.enable_grad():
        loss = loss_of(model({arguments}){targets})
        loss.backward()
    {step}
    return loss
"""


@dataclass(frozen=True)
class Described:
    """A training step as a function of the user's described it. `inputs` is None where they are
    given on the command line; the loss is that of what the module returns and of the targets."""

    module: Any
    inputs: Any
    targets: tuple[Any, ...]
    loss: Callable[..., Any]
    optimizer: Any


def described(made: Any, where: str) -> Described | None:
    """Return the training step that a function of the file `where` described, None for what is no
    dictionary with a module. Raises FuseScopeError for one that is not what it should be."""
    if not isinstance(made, Mapping) or "module" not in made:
        return None
    for key in made:
        if key not in KEYS:
            raise FuseScopeError(
                "torch_training_key", where=where, key=str(key)[:60], known=", ".join(KEYS)
            )
    for key in ("loss", "optimizer"):
        if not (made.get(key) is None or callable(made[key]) or hasattr(made[key], "step")):
            raise FuseScopeError("torch_training_no_function", where=where, key=key)
    targets = made.get("targets", ())
    return Described(
        module=made["module"],
        inputs=made.get("inputs"),
        targets=tuple(targets) if isinstance(targets, tuple | list) else (targets,),
        loss=made.get("loss") or _own_loss,
        optimizer=made.get("optimizer"),
    )


def _own_loss(output: Any) -> Any:
    """That which a module of Hugging Face computes itself, with labels among its inputs."""
    return output["loss"] if isinstance(output, Mapping) else output.loss


class Training:
    """What one training step of a module changes beside its buffers: weights, gradients, and what
    the optimizer keeps. `optimizer` is one, or a function that makes one of the weights; None for
    forward and backward alone. Raises FuseScopeError where no weight is trained."""

    def __init__(self, step: Described, where: str) -> None:
        named = step.module.named_parameters()
        self.weights = {name: weight for name, weight in named if weight.requires_grad}
        if not self.weights:
            raise FuseScopeError("torch_training_no_weights", where=where)
        made = step.optimizer
        self.loss = step.loss
        self.optimizer = made([*self.weights.values()]) if callable(made) else made
        self._numbers: dict[tuple[str, str], Any] = {}

    @property
    def name(self) -> str:
        """The parts of the step, for people."""
        parts = ["forward", "backward"]
        return ", ".join(parts + [type(self.optimizer).__name__] * (self.optimizer is not None))

    def text(self, arguments: str, targets: str) -> str:
        """The source of one step, with these arguments of the module and of the loss."""
        step = "optimizer.step()" if self.optimizer is not None else "pass"
        return _TEXT.format(arguments=arguments, targets=targets, step=step)

    def begin(self, state: Mapping[str, Any], run: Callable[[], Any]) -> None:
        """Has the optimizer make what it keeps, by one step, and takes back what that did to the
        weights and to `state`."""
        before = [(held, held.clone()) for held in (*self.weights.values(), *state.values())]
        run()
        for held, value in before:
            held.data.copy_(value)
        self._numbers = {
            (name, key): value for name, key, value in self._kept() if not _is_tensor(value)
        }
        self.restart()

    def restart(self) -> None:
        """Takes away the gradients of the latest run, and puts back numbers that the optimizer
        keeps; its tensors are put back with the rest of the state."""
        for weight in self.weights.values():
            weight.grad = None
        kept = {} if self.optimizer is None else self.optimizer.state
        for (name, key), value in self._numbers.items():
            kept[self.weights[name]][key] = value

    def state(self) -> dict[str, Any]:
        """Every tensor that the optimizer keeps, and the weights, by name."""
        kept = {f"{name}.{key}": value for name, key, value in self._kept() if _is_tensor(value)}
        return {**self.weights, **kept}

    def gradients(self) -> list[Any]:
        """Those of the latest run, of the weights that have one."""
        found = [weight.grad for weight in self.weights.values()]
        return [one for one in found if one is not None]

    def by_kind(self) -> list[list[Any]]:
        """What a step leaves, as it is compared: all gradients, all weights, and of each kind what
        the optimizer keeps of all weights. One by one a gradient that is 0 but for rounding would
        have no size to measure a difference by."""
        kinds: dict[str, list[Any]] = {}
        for _, key, value in self._kept():
            if _is_tensor(value):
                kinds.setdefault(key, []).append(value)
        found = [self.gradients(), [*self.weights.values()], *kinds.values()]
        return [one for one in found if one]

    def _kept(self) -> list[tuple[str, str, Any]]:
        """What the optimizer keeps of each weight: (weight, what, value)."""
        kept = {} if self.optimizer is None else self.optimizer.state
        return [
            (name, str(key), value)
            for name, weight in self.weights.items()
            for key, value in kept.get(weight, {}).items()
        ]


def train(module: Any) -> None:
    """Puts the module into training mode, without dropout: each variant would drop others."""
    module.train()
    for part in module.modules():
        if type(part).__name__.endswith(("Dropout", "Dropout1d", "Dropout2d", "Dropout3d")):
            part.eval()


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "copy_")
