"""Originals: the operators of a model as a compiler was given them, before it fused them."""

from __future__ import annotations

from dataclasses import dataclass

MAX_ORIGINALS = 200_000


@dataclass(frozen=True)
class Original:
    """One operator of the model.

    `name` is what the members of compiled operators call it, `op_type` its plain type ('linear'),
    '' where it is not known; `place` is its line of source code. `computes`: it is more than a
    view. `recomputed`: several kernels compute the same of it, because the compiler did not keep
    it. `traced`: the compiler says where it is; else it stands with what reads it.
    """

    name: str
    op_type: str
    place: str = ""
    computes: bool = True
    recomputed: bool = False
    traced: bool = True
