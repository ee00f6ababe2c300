"""Models for jax: built in, or what a function of a user's file returns."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import clean_text
from fusescope.collectors.jax import networks
from fusescope.collectors.jax.names import PREFIX
from fusescope.collectors.jax.translated import network
from fusescope.collectors.jax.translated.network import Network
from fusescope.collectors.workers.jobs import SessionSettings
from fusescope.collectors.workers.placement import Placement

_VARYING_SEED = 20_242


@dataclass(frozen=True)
class Loaded:
    """`call` on `inputs` is the model; `sha256` is of its source and its inputs, `file` where its
    source is. `network` is what was translated from ONNX."""

    call: Callable[..., Any]
    inputs: tuple[Any, ...]
    sha256: str
    file: str
    network: Network | None = None

    @property
    def where(self) -> str:
        """The name of its file."""
        return Path(self.file).name

    def leaves(self) -> list[tuple[str, jax.Array]]:
        """Name and value of every array that is fed, weights among them; as the ONNX model calls
        them, where there is one."""
        if self.network is not None:
            return [*zip(self.network.names, jax.tree.leaves(self.inputs), strict=True)]
        paths, _ = jax.tree_util.tree_flatten_with_path(self.inputs)
        return [(clean_text(f"input{jax.tree_util.keystr(at)}", 120), leaf) for at, leaf in paths]

    def varied(self) -> Loaded:
        """The same model with its numbers moved a little, as weights often repeat values (biases of
        0, scales of 1), by which tensors cannot be told apart."""
        chance = np.random.default_rng(_VARYING_SEED)

        def moved(leaf: jax.Array) -> jax.Array:
            if not jnp.issubdtype(leaf.dtype, jnp.floating):
                return leaf
            drawn = chance.random((2, *leaf.shape), dtype=np.float32)
            return (leaf * (1 + 0.2 * drawn[0]) + 0.05 * drawn[1]).astype(leaf.dtype)

        return replace(self, inputs=jax.tree.map(moved, self.inputs))


def of(settings: SessionSettings) -> Loaded:
    """The model of a recording. Raises FuseScopeError as `load` does."""
    if not settings.program:
        return load(settings.model, settings.placement)
    made, inputs = network.load(settings)
    return Loaded(made, inputs, "", settings.program, made)


def load(spec: str, placement: Placement) -> Loaded:
    """The model, with its numbers in the type of the placement. Runs the file: only for what the
    user named on the command line. Raises FuseScopeError where it does not return a function and
    its inputs."""
    if spec.startswith(PREFIX):
        path, function = str(Path(networks.__file__)), spec.removeprefix(PREFIX)
    else:
        path, _, function = spec.rpartition(":")
    where = Path(path).name
    source = Path(path).read_bytes()
    module = ModuleType("fusescope_model")
    module.__file__ = path
    sys.modules[module.__name__] = module
    if str(Path(path).parent) not in sys.path:
        sys.path.insert(0, str(Path(path).parent))
    try:
        exec(compile(source, path, "exec"), module.__dict__)  # noqa: S102 - the user asked for it
        make = getattr(module, function, None)
        made = make() if callable(make) else None
        if not callable(make):
            raise FuseScopeError("torch_no_function", where=where, function=function[:60])
        if not isinstance(made, tuple) or len(made) != 2 or not callable(made[0]):
            raise FuseScopeError("jax_no_model", where=where, function=function[:60])
        call, inputs = made
    except FuseScopeError:
        raise
    except Exception as error:
        reason = clean_text(f"{type(error).__name__}: {error}", 200)
        raise FuseScopeError("jax_file_raised", where=where, reason=reason) from error
    inputs = _arrays(inputs if isinstance(inputs, tuple) else (inputs,), where)
    if placement.dtype:
        inputs = jax.tree.map(partial(_converted, dtype=placement.dtype), inputs)
    return Loaded(call, inputs, _hash(source, function, jax.tree.leaves(inputs)), path)


def _converted(leaf: jax.Array, dtype: str) -> jax.Array:
    return leaf.astype(dtype) if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf


def _arrays(inputs: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    """The inputs as JAX's arrays. Raises FuseScopeError for one that is none, or if there is
    none."""

    def array(at: Any, leaf: Any) -> jax.Array:
        try:
            return jnp.asarray(leaf)
        except (TypeError, ValueError, OverflowError) as error:
            name = clean_text(f"input{jax.tree_util.keystr(at)}", 120)
            kind = clean_text(type(leaf).__name__, 60)
            raise FuseScopeError("jax_no_array", where=where, input=name, kind=kind) from error

    made: tuple[Any, ...] = jax.tree_util.tree_map_with_path(array, inputs)
    if not jax.tree.leaves(made):
        raise FuseScopeError("jax_no_input", where=where)
    return made


def _hash(source: bytes, function: str, leaves: list[jax.Array]) -> str:
    digest = hashlib.sha256(source + b"\0" + function.encode())
    for leaf in leaves:
        digest.update(f"\0{leaf.dtype}{leaf.shape}".encode())
        digest.update(np.ascontiguousarray(leaf).tobytes())
    return digest.hexdigest()
