"""A recording of several engines: which variants of theirs, and the workers of each."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Engine
from fusescope.analysis.text import shown
from fusescope.collectors import variants
from fusescope.collectors.environments import chosen
from fusescope.collectors.environments.catalogue import (
    ENGINES,
    OWN,
    engine_of,
    is_named,
    kind_of,
    takes_onnx,
)
from fusescope.collectors.openvino.names import MARKED
from fusescope.collectors.recording import placing
from fusescope.collectors.variants import Variant
from fusescope.collectors.workers.addressing import named
from fusescope.collectors.workers.placement import AS_IT_IS
from fusescope.collectors.workers.pool import WorkerPool

FIRST = "fused"  # every engine has it


def only_kind(engines: Sequence[str]) -> str:
    """The one engine of which all are environments; '' where they are of several."""
    kinds = {kind_of(engine) for engine in engines}
    return kinds.pop() if len(kinds) == 1 else ""


def check_engines(engines: Sequence[str], *, run_onnx: bool = True) -> None:
    """Raises FuseScopeError for an engine that there is not, that is not installed, is named twice,
    or that runs no ONNX models, where they are to `run_onnx`."""
    for engine in engines:
        if run_onnx and not takes_onnx(engine) and not engine_of(engine).is_translated_to:
            raise FuseScopeError("runtime_not_beside", engine=engine)
        chosen.python_of(engine)
        if engines.count(engine) > 1:
            raise FuseScopeError("runtime_twice", engine=engine)


def variants_of(names: Sequence[str], engines: Sequence[str]) -> tuple[Variant, ...]:
    """Those that the names stand for: of one engine where a name begins with that
    (`openvino:fused`), else of each. Raises FuseScopeError for what an engine does not have, for
    what belongs to a recording of one engine, and for an engine without variants."""
    found: list[Variant] = []
    for name in names:
        engine, colon, rest = name.partition(":")
        is_known = engine == OWN or kind_of(engine) in ENGINES or is_named(engine)
        if colon and engine not in engines and is_known:
            raise FuseScopeError(
                "variant_of_engine_left_out", variant=shown(name, 80), engine=engine
            )
        is_of_one = colon and engine in engines
        found += [_variant(rest, engine)] if is_of_one else [_variant(name, e) for e in engines]
    for engine in engines:
        if all(one.engine != engine for one in found):
            raise FuseScopeError("runtime_without_variants", engine=engine)
    return tuple(dict.fromkeys(found))


def engines_beside() -> tuple[str, ...]:
    """Those that can run one ONNX model in one recording, ONNX Runtime first."""
    others = (one for one in ENGINES.values() if one.takes_onnx or one.is_translated_to)
    return OWN, *(one.name for one in others)


def offered(engines: Sequence[str]) -> tuple[Variant, ...]:
    """The variants that a recording of these engines can have, by their names in it: `fused` of
    each in front, then the others of each."""
    found = []
    for engine in engines:
        kind = kind_of(engine)
        listed = variants.VARIANTS if kind == OWN else variants.all_of_engine(kind)
        for one in listed:
            if not placing.has_variant(AS_IT_IS, one.name):
                continue
            with suppress(FuseScopeError):
                found.append(_variant(one.name, engine))
    return tuple(sorted(found, key=lambda one: one.name != named(one.engine, FIRST)))


def _variant(name: str, engine: str) -> Variant:
    kind = kind_of(engine)
    found = variants.beside_others(name) if kind == OWN else variants.of_engine(name, kind)
    is_denial = kind != OWN and bool(found.argument)
    is_own_kind = found.kind not in variants.KINDS_BESIDE or found.spin
    if is_own_kind or found.optimizer or found.release or is_denial:
        raise FuseScopeError("variant_of_one_engine", variant=named(engine, name)[:80])
    return replace(found, name=named(engine, name), engine=engine)


def baseline_of(found: Sequence[Variant], first: str) -> str:
    """`fused` of that engine, else the first of its variants that has times of the model."""
    own = [one.name for one in found if one.engine == first]
    usual = named(first, FIRST)
    timed = [name for name in own if name != named(first, MARKED)]
    return usual if usual in own else (timed or own)[0]


def with_engines(pool: WorkerPool, engines: Sequence[str]) -> WorkerPool:
    """The pool of FuseScope's own Python with workers of each engine."""
    own = {
        engine: replace(
            pool,
            name=f"{pool.name}, {engine}",
            python=None if engine == OWN else chosen.python_of(engine),
            prefix="" if kind_of(engine) == OWN else f"{kind_of(engine)}.",
            brought=chosen.brought_to(engine),
        )
        for engine in engines
    }
    return replace(pool, engines=own)


def translated_to(engines: Sequence[str]) -> tuple[str, ...]:
    """Those that run what FuseScope makes of an ONNX model."""
    return tuple(one for one in engines if not takes_onnx(one))


def facts_of(engine: str, own_version: str) -> Engine:
    """The engine as the experiment names it; `own_version` is that of FuseScope's own ONNX
    Runtime."""
    kind = kind_of(engine)
    provider = "CPUExecutionProvider" if kind == OWN else "CPU"
    return Engine(kind, own_version if engine == OWN else chosen.version_of(engine), provider)
