"""Kernels of our own that can stand in for operators. This module imports no engine: it only
lists them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message
from fusescope.analysis.spelling import nearest


@dataclass(frozen=True)
class Kernel:
    """`module` holds `groups(graph, kernel) -> list[Group]` (collectors/kernels/group.py).

    `replaces` says in a sentence's middle what it stands in for. `op_types` are the only operators
    that a chain may hold, and each of them must be there; any that the module knows when empty. Of
    rows they are those that reduce, of which one must be there. `fuses` where it makes one operator
    of several.
    """

    name: str
    module: str
    replaces: Message
    op_types: tuple[str, ...] = ()
    fuses: bool = True


_CHAINS = "fusescope.collectors.kernels.elementwise"
_ROWS = "fusescope.collectors.kernels.rows"
KERNELS = (
    Kernel("elementwise", _CHAINS, Message("chain of elementwise operators")),
    Kernel("mul_add", _CHAINS, Message("chain of Mul and Add"), ("Mul", "Add")),
    Kernel("sub_mul_pow", _CHAINS, Message("chain of Sub, Mul and Pow"), ("Sub", "Mul", "Pow")),
    Kernel("add_relu", _CHAINS, Message("chain of Add and Relu"), ("Add", "Relu")),
    Kernel("mul_sigmoid", _CHAINS, Message("chain of Mul and Sigmoid"), ("Mul", "Sigmoid")),
    Kernel("softmax", _ROWS, Message("Softmax with elementwise operators"), ("Softmax",)),
    Kernel(
        "layer_norm",
        _ROWS,
        Message("normalisation in several operators, or with elementwise operators"),
        ("LayerNormalization", "ReduceMean"),
    ),
    Kernel(
        "depthwise_conv",
        "fusescope.collectors.kernels.depthwise",
        Message("depthwise convolution"),
        fuses=False,
    ),
)


def find(name: str) -> Kernel:
    """The kernel of that name. Raises FuseScopeError that suggests the nearest."""
    for kernel in KERNELS:
        if kernel.name == name:
            return kernel
    known = [kernel.name for kernel in KERNELS]
    raise FuseScopeError(
        "kernel_unknown", kernel=name[:60], known=", ".join(known), nearest=nearest(name, known)
    )


def is_compiler_there() -> bool:
    """Whether what compiles the kernels is installed."""
    return find_spec("numba") is not None


def check_compiler() -> None:
    """Raises FuseScopeError where it is not."""
    if not is_compiler_there():
        raise missing_compiler()


def missing_compiler() -> FuseScopeError:
    """What to say where numba cannot be imported."""
    return FuseScopeError("numba_missing")
