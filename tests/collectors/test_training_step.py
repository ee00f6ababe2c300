"""A training step as a function of the user's describes it, with stand-ins for what torch has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.torch.given.training import Described, Training, described, train


class Tensor:
    """Stands for a tensor of one number, which has an identity of its own."""

    def __init__(self, value: float, requires_grad: bool = True) -> None:
        self.value, self.requires_grad = value, requires_grad
        self.grad: Tensor | None = None

    @property
    def data(self) -> Tensor:
        return self

    def clone(self) -> Tensor:
        return Tensor(self.value)

    def copy_(self, other: Tensor) -> None:
        self.value = other.value


class Module:
    """Two weights, one of which is not trained, and the parts of it that are modules."""

    def __init__(self) -> None:
        self.kept, self.frozen, self.is_training = Tensor(2.0), Tensor(3.0, False), False
        self.parts: list[Any] = []

    def __call__(self, x: float) -> float:
        return self.kept.value * x

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        yield from (("kept", self.kept), ("frozen", self.frozen))

    def modules(self) -> list[Any]:
        return [self, *self.parts]

    def train(self) -> None:
        for one in self.modules():
            one.is_training = True


class Dropout:
    is_training = False

    def eval(self) -> None:
        self.is_training = False


class Momentum:
    """Keeps a tensor and a number of each weight, which it makes in its first step."""

    def __init__(self, weights: list[Tensor]) -> None:
        self.weights = weights
        self.state: dict[Tensor, dict[str, Any]] = {}

    def step(self) -> None:
        for weight in self.weights:
            held = self.state.setdefault(weight, {"mean": Tensor(0.0), "steps": 0})
            held["mean"].value += 1.0
            held["steps"] += 1
            weight.value -= held["mean"].value


def made(**more: Any) -> tuple[Module, Training]:
    module = Module()
    step = described({"module": module, "optimizer": Momentum, **more}, "net.py")
    assert step is not None
    return module, Training(step, "net.py")


def test_what_is_no_description_is_a_model_as_before() -> None:
    assert described((Module(), ()), "net.py") is None
    assert described({"x": 1}, "net.py") is None


def test_a_description_has_its_parts() -> None:
    step = described({"module": "m", "inputs": (1,), "targets": 2, "loss": max}, "net.py")
    assert step == Described("m", (1,), (2,), max, None)
    own = described({"module": "m"}, "net.py")
    assert own is not None and own.inputs is None and own.targets == ()
    assert own.loss({"loss": 5}) == 5  # as modules of Hugging Face return it


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"lr": 1}, "torch_training_key"),
        ({"loss": 1}, "torch_training_no_function"),
        ({"optimizer": "adam"}, "torch_training_no_function"),
    ],
)
def test_what_is_wrong_with_a_description_is_said(more: dict[str, Any], code: str) -> None:
    with pytest.raises(FuseScopeError) as caught:
        described({"module": "m", **more}, "net.py")
    assert caught.value.code == code and caught.value.where == "net.py"


def test_a_module_without_weights_to_train_is_refused() -> None:
    module = Module()
    module.kept.requires_grad = False
    step = described({"module": module}, "net.py")
    assert step is not None
    with pytest.raises(FuseScopeError, match="No weight of the module is trained"):
        Training(step, "net.py")


def test_every_step_begins_with_the_same() -> None:
    """The optimizer has stepped once: it keeps 1.0 and 1. One step more takes 2.0 away from 2.0."""
    module, training = made()

    def step() -> None:
        module.kept.grad = Tensor(1.0)
        training.optimizer.step()

    mean = Tensor(7.0)
    training.begin({"mean": mean}, step)
    assert module.kept.value == 2.0 and mean.value == 7.0 and module.kept.grad is None
    assert training.gradients() == []
    state = training.state()
    assert list(state) == ["kept", "kept.mean"] and state["kept.mean"].value == 1.0
    before = {name: tensor.clone() for name, tensor in state.items()}
    for _ in range(2):
        step()
        assert module.kept.value == 0.0 and training.optimizer.state[module.kept]["steps"] == 2
        assert [one.value for one in training.gradients()] == [1.0]
        for name, tensor in training.state().items():  # as a session does
            tensor.copy_(before[name])
        training.restart()
        assert training.optimizer.state[module.kept]["steps"] == 1
    assert module.frozen.value == 3.0


def test_what_is_of_one_kind_is_compared_as_one() -> None:
    """Numbers are not: the optimizer keeps a mean and a count of each weight."""
    module, training = made()
    training.begin({}, training.optimizer.step)
    assert [[one.value for one in kind] for kind in training.by_kind()] == [[2.0], [1.0]]
    module.kept.grad = Tensor(0.5)
    assert [[one.value for one in kind] for kind in training.by_kind()] == [[0.5], [2.0], [1.0]]


def test_the_step_is_told_by_its_parts() -> None:
    assert made()[1].name == "forward, backward, Momentum"
    assert made(optimizer=None)[1].name == "forward, backward"
    text = made()[1].text("*inputs[:1]", ", inputs[1]")
    assert "loss_of(model(*inputs[:1]), inputs[1])" in text and "optimizer.step()" in text
    assert "optimizer" not in made(optimizer=None)[1].text("", "")


def test_an_optimizer_that_is_there_is_taken() -> None:
    module = Module()
    own = Momentum([module.kept])
    step = described({"module": module, "optimizer": own}, "net.py")
    assert step is not None and Training(step, "net.py").optimizer is own


def test_dropout_is_off_and_all_else_trains() -> None:
    module = Module()
    module.parts = [Dropout(), Module()]
    train(module)
    assert [one.is_training for one in module.modules()] == [True, False, True]
