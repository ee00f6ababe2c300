"""Recording: what a user asks for, and the plan that it comes to."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Literal

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import ExperimentRecord, Try
from fusescope.analysis.spelling import nearest
from fusescope.analysis.text import shown
from fusescope.collectors import kernels, variants, zoo
from fusescope.collectors.environments.catalogue import OWN, engine_of, kind_of, takes_onnx
from fusescope.collectors.files import cache
from fusescope.collectors.fusion import rules
from fusescope.collectors.jax import names as jax_names
from fusescope.collectors.kernels.native import compiler
from fusescope.collectors.mindspore import names as mindspore_names
from fusescope.collectors.openvino import names as openvino_names
from fusescope.collectors.recording import placing, several
from fusescope.collectors.recording.blocks import PROFILED_ROUNDS
from fusescope.collectors.torch import names as torch_names
from fusescope.collectors.variants import Variant
from fusescope.collectors.workers import machine
from fusescope.collectors.workers.drawn import GivenInput
from fusescope.collectors.workers.jobs import PrepareJob
from fusescope.collectors.workers.placement import AS_IT_IS, Placement

MAX_THREADS_PER_CORE = 4
_NAMES = {"torch": torch_names, "jax": jax_names, "mindspore": mindspore_names}
_NUMBER = r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
_UNIFORM = re.compile(f"uniform {_NUMBER} to {_NUMBER}$")  # as inputs.drawn calls it
Value = str | int | float | bool


@dataclass(frozen=True)
class Plan:
    """A recording with everything found that it names. `model` is the name of the model, `path`
    where its file lies, None for one that is built in. `settings` are what the records of
    variants, by name, say beside their own."""

    model: str
    path: Path | None
    variants: tuple[Variant, ...]
    baseline: str
    settings: Mapping[str, dict[str, Value]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def names(self) -> tuple[str, ...]:
        """Those of the variants."""
        return tuple(variant.name for variant in self.variants)


@dataclass(frozen=True)
class Recording:
    """What to record.

    `model` is a zoo name or a path. `out` may be a file or a folder; nothing is overwritten.
    Beside each `custom:` variant its `segments:` is recorded. `ablate` adds the variants of an
    ablation: `unfused`, `fused`, and `without:` and `only:` each optimizer that matters, for torch
    `without:` each of the largest fusions. `blocks`
    None means sequential looks at 8, 14 and 24. `seconds` is a
    time budget for everything. `memory_bytes` limits the address space of each engine process
    (80 % of the free memory by default), `run_timeout` is how long loading and a few runs of one
    variant may take. `rules` holds the text of the rule file of each `rules:` variant, by name; for
    rules that are built in none is needed. `models` has the file of each `model:` variant, by name:
    another model with the same inputs and outputs. `custom_op_library` is the user's own library of
    operators, registered in every session: code that is run, so only the command line sets it.
    `sha256` is what the model must have, '' for any.
    `own_pass` also tries our own fusion pass on the model, so that the page can say where it would
    fuse what the engine does not. `tries` says of variants which findings they answer; one of them
    that cannot be recorded is left out, and the file says why.
    The `runtime` openvino takes the models that ONNX Runtime does. With torch, jax or mindspore,
    `model` is `file.py:function`, whose code is run, so only the command line sets it, or one that
    is built in (`torch:mlp`, `jax:mlp`, `mindspore:mynet`), also without the name of the engine.
    An environment of the user's is named behind its engine (`torch@nightly`).
    With `runtimes`, several engines, each of them runs variants of the ONNX model, which are called
    `<engine>:<variant>`; `runtime` says nothing then. Several environments of torch, jax or
    mindspore also run a model of that engine. `placement` is the data type of the model,
    `given` are inputs of a module for torch, in place of those that its function returns.
    """

    model: str
    out: Path | None = None
    variants: tuple[str, ...] = ("eager", "unfused", "fused")
    ablate: bool = False
    baseline: str | None = None
    batch: int | None = None
    threads: int | None = None
    blocks: int | None = None
    rounds: int | None = None
    seconds: float | None = None
    seed: int = 0
    spin: bool = False
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=lambda: MappingProxyType({}))
    inputs: Path | None = None
    input_ranges: Mapping[str, tuple[float, float]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    memory_bytes: int | None = None
    allow_external_data: bool = True
    rules: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    models: Mapping[str, Path] = field(default_factory=lambda: MappingProxyType({}))
    custom_op_library: Path | None = None
    command: str = ""
    profiled_rounds: int = PROFILED_ROUNDS
    run_timeout: float = 300.0
    own_pass: bool = True
    tries: tuple[Try, ...] = ()
    sha256: str = ""
    runtime: str = OWN
    runtimes: tuple[str, ...] = ()
    placement: Placement = AS_IT_IS
    given: tuple[GivenInput, ...] = ()

    @property
    def engine(self) -> str:
        """The engine that runs it, whatever its environment is called; of several engines, which
        run an ONNX model, ONNX Runtime."""
        kind = several.only_kind(self.runtimes)
        if kind in _NAMES and self._is_of(_NAMES[kind]):
            return kind
        return OWN if self.runtimes else kind_of(self.runtime)

    def _is_of(self, names: ModuleType) -> bool:
        """Whether the model is one of that engine's own, not an ONNX model."""
        file = self.model if self.model.endswith(".py") else self.model.rpartition(":")[0]
        return file.endswith(".py") or self.model.startswith(names.PREFIX)

    @classmethod
    def like(cls, record: ExperimentRecord, model: str = "") -> Recording:
        """A recording of the model of that one, or of its file `model`, with its inputs and
        threads. Values that came from a file are drawn."""
        inputs = record.model.inputs
        drawn = {one.name: _UNIFORM.search(one.source) for one in inputs}
        return cls(
            model=model or record.model.name,
            batch=None if model else record.model.batch,
            shapes={one.name: one.shape for one in inputs if one.shape} if model else {},
            input_ranges={
                name: (float(found[1]), float(found[2])) for name, found in drawn.items() if found
            },
            threads=record.settings.threads,
            spin=record.settings.spin,
            seed=record.settings.seed,
            sha256=record.model.sha256 if model else "",
        )

    def plan(self) -> Plan:
        """What is certain before the model is read. Raises FuseScopeError for what cannot be
        recorded, before anything starts."""
        if self.runtimes:
            several.check_engines(self.runtimes, run_onnx=takes_onnx(self.engine))
        if self.runtimes or (self.engine != OWN and takes_onnx(self.engine)):
            self._check_engine_options()
        is_beside = bool(self.runtimes) and takes_onnx(self.engine)
        placing.check(self.placement, self.engine, is_beside=is_beside)
        found = self._variants()
        names = [variant.name for variant in found]
        if self.baseline is not None and self.baseline not in names:
            raise FuseScopeError(
                "baseline_not_recorded", baseline=self.baseline[:60], variants=", ".join(names)
            )
        placing.check_variants(self.placement, names)
        self._check_numbers(found)
        again = next((variant.name for variant in found if variant.spin and self.spin), None)
        if again is not None:
            raise FuseScopeError("all_spin_already", variant=again)
        if self.inputs is not None and not self.inputs.is_file():
            raise FuseScopeError("inputs_missing", where=str(self.inputs))
        baseline = self.baseline or baseline_of(found, self.runtimes)
        if self.given and self.engine != "torch":
            raise FuseScopeError("given_of_others", runtime=self.engine)
        if not takes_onnx(self.engine):
            return self._engine_plan(found, baseline)
        if zoo.find(self.model) is not None:
            return Plan(self.model, None, found, baseline)
        path = Path(self.model)
        if path.suffix == ".py" or self.model.rpartition(":")[0].endswith(".py"):
            if self.runtimes:
                raise FuseScopeError("code_beside", model=shown(self.model, 120))
            raise FuseScopeError("engine_not_said", model=shown(self.model, 120))
        if not path.is_file():
            raise _no_model(self.model)
        return Plan(path.stem, path.absolute(), found, baseline)

    def prepare_job(self, plan: Plan, folder: Path) -> PrepareJob:
        """What makes the working copy of the model in that folder."""
        model = plan.model if plan.path is None else str(plan.path)
        if not takes_onnx(self.engine):
            function = "" if self.model.endswith(".py") else ":" + self.model.rpartition(":")[2]
            model = plan.model if plan.path is None else f"{plan.path}{function}"
        return PrepareJob(
            model=model,
            folder=str(folder),
            zoo=plan.path is None,
            cache=str(cache.folder()),
            seed=self.seed,
            batch=self.batch,
            shapes=dict(self.shapes),
            inputs=str(self.inputs.absolute()) if self.inputs else None,
            input_ranges=dict(self.input_ranges),
            allow_external_data=self.allow_external_data,
            expand_functions=variants.LIBRARY in plan.variants,
            placement=self.placement,
            given=self.given,
        )

    def _variants(self) -> tuple[Variant, ...]:
        """Those that are named, with the cuts of kernels and what an ablation needs."""
        if not self.variants and not self.ablate:
            raise FuseScopeError("no_variants")
        if self.runtimes:
            return several.variants_of(self.variants, self.runtimes)
        if self.engine != OWN:
            engine = engine_of(self.runtime).name
            needed_names = ("unfused", "fused") if self.ablate else ()
            names = (*self.variants, *needed_names)
            return tuple(dict.fromkeys(variants.of_engine(name, engine) for name in names))
        named = [variants.find(name) for name in self.variants]
        for variant in named:
            if variant.kind == "rules":
                rules.check(variant.argument, self.rules.get(variant.name))
            if variant.kind == "model":
                self._check_file(variant)
            if variant.kind == "custom":
                kernels.check_compiler()
            if variant.kind == "inside":
                compiler.found()
            if variant.kind == "library" and self.custom_op_library is None:
                raise FuseScopeError("library_not_given", variant=variant.name)
        # Files of the recording have these names, and some disks do not tell capitals.
        if len({name.casefold() for name in self.variants}) < len(named):
            raise FuseScopeError("variant_given_twice")
        needed = map(variants.find, ("unfused", "fused") if self.ablate else ())
        return tuple(dict.fromkeys((*variants.with_cuts(named), *needed)))

    def _check_file(self, variant: Variant) -> None:
        file = self.models.get(variant.name)
        if file is None:
            raise FuseScopeError("other_model_not_given", variant=variant.name)
        if not file.is_file():
            raise FuseScopeError("other_model_missing", where=shown(str(file), 120))

    def _engine_plan(self, found: tuple[Variant, ...], baseline: str) -> Plan:
        """Raises FuseScopeError for options that only ONNX models have."""
        for option, given in (
            ("--batch", self.batch is not None),
            ("--shape", bool(self.shapes)),
            ("--inputs", self.inputs is not None),
            ("--input-range", bool(self.input_ranges) and not self.given),
            ("--custom-op-library", self.custom_op_library is not None),
        ):
            if given:
                raise FuseScopeError("option_of_onnx_only", option=option, runtime=self.engine)
        lonely = sorted(set(self.input_ranges) - {one.name for one in self.given})
        if lonely:
            raise FuseScopeError("range_of_no_input", input=lonely[0][:60])
        if self.ablate and self.engine == "jax":
            raise FuseScopeError("jax_no_ablation")
        if self.ablate and self.engine == "mindspore":
            raise FuseScopeError("mindspore_no_ablation")
        names: ModuleType = _NAMES[self.engine]
        name = self.model.removeprefix(names.PREFIX)
        if name in names.BUILT_IN:
            return Plan(names.PREFIX + name, None, found, baseline)
        if self.model.startswith(names.PREFIX):
            known = [names.PREFIX + one for one in names.BUILT_IN]
            raise FuseScopeError(
                _unknown_model(self.engine),
                model=shown(self.model, 120),
                known=", ".join(known),
                nearest=nearest(self.model, known),
            )
        file, _, function = self.model.rpartition(":")
        is_runnable = self.engine == "torch" and self.model.endswith(torch_names.RUNNABLE)
        if is_runnable:
            file, function = self.model, ""
        path = Path(file)
        if path.suffix != ".py" or not (function.isidentifier() or is_runnable):
            raise FuseScopeError(
                _other_form(self.engine),
                model=shown(self.model, 120),
                nearest=nearest(self.model, names.BUILT_IN),
            )
        if not path.is_file():
            raise FuseScopeError("torch_file_missing", where=shown(file, 120))
        name = f"{path.stem}-{function}" if function else path.stem
        return Plan(name, path.absolute(), found, baseline)

    def _check_engine_options(self) -> None:
        """Raises FuseScopeError for what only ONNX Runtime has of all engines that take ONNX
        models, and what a recording of several engines has not."""
        for option, given in (
            ("--custom-op-library", self.custom_op_library is not None),
            ("--ablate", self.ablate),
            ("--spin", self.spin),
        ):
            if given and self.runtimes:
                raise FuseScopeError("option_not_beside", option=option)
            if given:
                raise FuseScopeError("option_of_own_only", option=option, runtime=self.engine)

    def _check_numbers(self, found: Sequence[Variant]) -> None:
        for option, minimum, maximum, value in (
            ("--batch", 1, 1 << 20, self.batch),
            ("--threads", 1, MAX_THREADS_PER_CORE * machine.logical_cores(), self.threads),
            *(
                (variant.name, 1, MAX_THREADS_PER_CORE * machine.logical_cores(), variant.threads)
                for variant in found
                if variant.threads
            ),
            ("--blocks", 1, 1000, self.blocks),
            ("--rounds", 1, 10_000, self.rounds),
            ("profiled_rounds", 1, 1000, self.profiled_rounds),
            ("--seed", 0, 1 << 32, self.seed),
        ):
            if value is not None and not minimum <= value <= maximum:
                raise FuseScopeError(
                    "number_out_of_range",
                    option=option,
                    given=value,
                    smallest=minimum,
                    largest=maximum,
                )
        for option, amount in (
            ("--seconds", self.seconds),
            ("--timeout", self.run_timeout),
            ("--memory-limit", self.memory_bytes),
        ):
            if amount is not None and not 0 < amount < math.inf:
                raise FuseScopeError("number_too_small", option=option, given=f"{amount:g}")
        for name, shape in self.shapes.items():
            if any(size < 1 for size in shape):
                raise FuseScopeError("dimension_below_one", input=name[:60])
        for name, (low, high) in self.input_ranges.items():
            if not -math.inf < low <= high < math.inf:
                raise FuseScopeError("range_malformed", input=name[:60])


def baseline_of(found: Sequence[Variant], runtimes: Sequence[str]) -> str:
    """The baseline of these variants where the user named none."""
    names = [variant.name for variant in found]
    return several.baseline_of(found, runtimes[0]) if runtimes else _baseline(names)


def _baseline(names: Sequence[str]) -> str:
    """The first variant whose times are those of the model without fusion, else the first that has
    times of the model at all."""
    if "unfused" in names:
        return "unfused"
    return next((name for name in names if name != openvino_names.MARKED), names[0])


def _unknown_model(
    runtime: str,
) -> Literal["jax_model_unknown", "mindspore_model_unknown", "torch_model_unknown"]:
    if runtime == "torch":
        return "torch_model_unknown"
    return "jax_model_unknown" if runtime == "jax" else "mindspore_model_unknown"


def _other_form(
    runtime: str,
) -> Literal["jax_model_form", "mindspore_model_form", "torch_model_form"]:
    if runtime == "torch":
        return "torch_model_form"
    return "jax_model_form" if runtime == "jax" else "mindspore_model_form"


def _no_model(model: str) -> FuseScopeError:
    name = shown(model, 120)
    if Path(model).is_dir():
        return FuseScopeError("model_is_a_folder", model=name)
    for names in (torch_names, jax_names, mindspore_names):
        if model.startswith(names.PREFIX):
            runtime = names.PREFIX.removesuffix(":")
            return FuseScopeError("engine_not_named", model=name, runtime=runtime)
    known = [zoo_model.name for zoo_model in zoo.MODELS]
    is_name = "/" not in model and not model.endswith(".onnx")
    return FuseScopeError(
        "model_unknown_in_zoo" if is_name else "model_unknown",
        model=name,
        known=", ".join(known),
        nearest=nearest(model, known),
    )
