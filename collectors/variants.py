"""Variant: a named way to execute a model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message, Said
from fusescope.analysis.spelling import nearest
from fusescope.collectors import kernels
from fusescope.collectors.environments.catalogue import OWN
from fusescope.collectors.mindspore import names as mindspore_names
from fusescope.collectors.releases.version import is_release, parse_release
from fusescope.collectors.runtimes import optimizers, providers
from fusescope.collectors.workers.jobs import Optimization

Kind = Literal[
    "", "eager", "rules", "custom", "segments", "inside", "library", "int8", "dynamic", "model",
    "provider",
]  # fmt: skip


@dataclass(frozen=True)
class Variant:
    """`optimization` is ONNX Runtime's graph optimisation level. `kind` says what runs in place of
    the model, '' for the model itself (collectors/derive/ makes it), and `argument` is the part of
    the name that says which. An ablation has every optimizer but `without`, or none but
    `only`. `threads` are those inside an operator, 0 for as many as the recording has; with
    `spin` those that wait keep their cores busy, whatever the recording says. A `release` of
    ONNX Runtime runs it, '' for the installed one. `engine` is what runs it in a recording of
    several engines, '' in all others."""

    name: str
    optimization: Optimization
    summary: Message | Said = field(compare=False)
    kind: Kind = ""
    argument: str = ""
    without: str = ""
    only: str = ""
    threads: int = 0
    spin: bool = False
    release: str = ""
    engine: str = ""

    @property
    def disabled(self) -> tuple[str, ...]:
        """Optimizers that are off although their level is on."""
        if self.only:
            return optimizers.all_but(self.only)
        return (self.without,) if self.without else ()

    @property
    def optimizer(self) -> str:
        """The optimizer that an ablation is about, '' for other variants."""
        return self.without or self.only


VARIANTS = (
    Variant("eager", "none", Message("each node in a session of its own"), "eager"),
    Variant("unfused", "none", Message("the whole graph, every optimisation off")),
    Variant("basic", "basic", Message("ONNX Runtime's basic optimisations")),
    Variant("extended", "extended", Message("basic and extended optimisations")),
    Variant("fused", "all", Message("every optimisation on")),
    Variant(
        "dynamic",
        "all",
        Message("every optimisation on, dynamic dimensions of the inputs not fixed"),
        "dynamic",
    ),
    Variant("spin", "all", Message("every optimisation on, idle threads spin"), spin=True),
    Variant("int8", "all", Message("8-bit weights and activations, every optimisation on"), "int8"),
)
TORCH = (
    Variant("eager", "none", Message("PyTorch's operators one after the other")),
    Variant(
        "captured",
        "none",
        Message("the operators as one compiled graph, each with PyTorch's own kernel"),
    ),
    Variant("unfused", "none", Message("a generated kernel for each operator, every fusion off")),
    Variant("fused", "all", Message("torch.compile as it comes")),
    Variant(
        "freezing",
        "all",
        Message("torch.compile with weights as constants, so that the library can fuse into them"),
    ),
    Variant(
        "max-autotune",
        "all",
        Message("torch.compile with the fastest of several kernels, as it measured them"),
    ),
    Variant(
        "reduce-overhead",
        "all",
        Message("torch.compile with its kernels launched by a CUDA graph"),
    ),
)
JAX = (
    Variant("eager", "none", Message("JAX's operators one after the other, each a program")),
    Variant("unfused", "none", Message("one compiled program, XLA's fusion passes off")),
    Variant("fused", "all", Message("jax.jit as it comes")),
)
OPENVINO = (
    Variant(
        "marked",
        "none",
        Message(
            "the result of every operator copied out of the model, which keeps OpenVINO from "
            "fusing them"
        ),
    ),
    Variant("fused", "all", Message("OpenVINO as it comes, in float32")),
    Variant("latency", "all", Message("OpenVINO in float32 with the performance hint LATENCY")),
    Variant(
        "throughput",
        "all",
        Message(
            "OpenVINO in float32 with the performance hint THROUGHPUT, as many requests at once as "
            "it asks for"
        ),
    ),
    Variant("bf16", "all", Message("OpenVINO with bfloat16 where it computes")),
)
MINDSPORE = (
    Variant("eager", "none", Message("MindSpore's operators one after the other (PyNative)")),
    Variant(
        "unfused",
        "none",
        Message("one compiled graph of MindSpore's own kernels, graph kernels off"),
    ),
    Variant(
        "generated",
        "none",
        Message(
            "graph kernels on, a kernel that AKG generated for each operator, every fusion off"
        ),
    ),
    Variant("fused", "all", Message("graph kernels on, with every fusion")),
)
_OF_ENGINES = {"torch": TORCH, "jax": JAX, "openvino": OPENVINO, "mindspore": MINDSPORE}
KINDS_BESIDE = ("", "eager", "dynamic", "int8")  # those that can be recorded beside other engines
ABLATIONS = ("without:<Optimizer>", "only:<Optimizer>")
THREADS = "threads:<number>"
_THREADS = re.compile(r"threads:([1-9]\d{0,3})", re.ASCII)
_ABLATION = re.compile(r"(without|only):([A-Za-z]\w{0,79})", re.ASCII)
_DENIAL = re.compile(r"without:((?:\d{1,4}:)?[A-Za-z]\w{0,199}:\d{1,6})", re.ASCII)
_DENIED = Message("torch.compile with the operators of {kernel:name} each in a kernel of its own")
_WITHOUT_PASS = Message("graph kernels on, without the pass {step:name}")
RULES = "rules:<file>"
MODEL = "model:<file>"
_OF_MODEL = Message("every optimisation on, another model: {file:name}")
RELEASE = "onnxruntime==<version>"
PROVIDER = "provider:<name>"
_PROVIDER = re.compile(r"provider:([a-z]+)(?::(unfused|basic|extended))?", re.ASCII)
_BY_PROVIDER = {
    "all": Message("every optimisation on, operators run by {provider:name} where it takes them"),
    "extended": Message(
        "basic and extended optimisations, operators run by {provider:name} where it takes them"
    ),
    "basic": Message("basic optimisations, operators run by {provider:name} where it takes them"),
    "none": Message(
        "ONNX Runtime's optimisations off, operators run by {provider:name} where it takes them"
    ),
}
_OF_RELEASE = Message("every optimisation on, ONNX Runtime {version:name}")
KERNELS = ("custom:<kernel>", "segments:<kernel>", "inside:<kernel>")
LIBRARY = Variant(
    "custom:library",
    "none",
    Message("kernels of --custom-op-library in place of the model's own definitions of operators"),
    "library",
)
# Precisions that are not variants: what to say, and what to do instead.
_REFUSED = {
    "fp16": (
        Message(
            "ONNX Runtime's CPU provider runs float16 as float32, with casts around it, so "
            "neither its speed nor its accuracy would be measured"
        )
    ),
    "bf16": Message("ONNX Runtime's CPU provider has no bfloat16 kernels for convolutions"),
}
_ALIASES = {"float16": "fp16", "half": "fp16", "bfloat16": "bf16"}
_LAYOUT = "NchwcTransformer"
_WITHOUT = Message("all optimizers except {optimizer:name}")
_WITHOUT_LAYOUT = Message("all optimizers except {optimizer:name}: blocked layout off")
_ONLY = Message("only the optimizer {optimizer:name}")
_ONLY_LAYOUT = Message(
    "only the optimizer {optimizer:name}: blocked layout on, with the fusions that it does itself"
)
_OTHER_THREADS = Message(
    "every optimisation on, one thread inside an operator",
    "every optimisation on, {n:count} threads inside an operator",
)
_OPENVINO_THREADS = Message(
    "OpenVINO in float32 with one thread", "OpenVINO in float32 with {n:count} threads"
)
_BY_RULES = Message("FuseScope's own fusion pass, by the rules {rules:name}")
_OWN_KERNEL = Message("FuseScope's own kernel in place of every {operators}")
_CUT = Message("the cut of {variant:name}, without the kernel")
_INSIDE = Message(
    "every optimisation on, and FuseScope's own kernel inside the session in place of every "
    "{operators} that the engine leaves"
)
_MODEL = re.compile(r"model:(\w[\w.+-]{0,79})", re.ASCII)
_RULES = re.compile(r"rules:(\w[\w.+-]{0,79})", re.ASCII)


def is_alone(name: str) -> bool:
    """Whether the variant of that name, of any engine, has to run in processes of its own, and all
    others beside it: its idle threads spin, another release of the engine runs it, or a provider
    that brings an engine of its own."""
    if is_release(name) or name.startswith("provider:"):
        return True
    return any(one.spin for one in VARIANTS if one.name == name)


def uses_device(name: str) -> bool:
    """Whether an execution provider runs the variant of that name on a device of its own."""
    found = _PROVIDER.fullmatch(name)
    return found is not None and any(
        one.name == found[1] and one.has_device for one in providers.PROVIDERS
    )


def all_of_engine(engine: str) -> tuple[Variant, ...]:
    """Every variant of an engine beside ONNX Runtime that has a name of its own."""
    return _OF_ENGINES[engine]


def of_engine(name: str, engine: str) -> Variant:
    """The variant of that name for such an engine. Raises FuseScopeError that suggests the nearest.
    Whether there is a kernel of the name that it is without shows when the model is compiled."""
    known = {variant.name: variant for variant in _OF_ENGINES[engine]}
    listed = tuple(known)
    if engine == "torch":
        listed += ("without:<kernel>",)
        if found := _DENIAL.fullmatch(name):
            return Variant(name, "all", _DENIED.of(kernel=found[1]), argument=found[1])
    if engine == "openvino":
        listed += (THREADS,)
        if found := _THREADS.fullmatch(name):
            threads = int(found[1])
            return Variant(name, "all", _OPENVINO_THREADS.of(n=threads), threads=threads)
    if engine == "mindspore":
        passes = tuple(mindspore_names.WITHOUT + one for one in mindspore_names.PASSES)
        listed += passes
        if name in passes:
            told = name.removeprefix(mindspore_names.WITHOUT)
            return Variant(name, "all", _WITHOUT_PASS.of(step=told), argument=told)
    if name not in known:
        raise _unknown_of(engine, name, listed)
    return known[name]


def _unknown_of(engine: str, name: str, known: Sequence[str]) -> FuseScopeError:
    return FuseScopeError(
        "variant_unknown_of_engine",
        engine=engine,
        variant=name[:60],
        known=", ".join(known),
        nearest=nearest(name, known),
    )


def beside_others(name: str) -> Variant:
    """The variant of ONNX Runtime of that name, for a recording of several engines. Raises
    FuseScopeError that suggests the nearest of those that can be there."""
    try:
        return find(name)
    except FuseScopeError as error:
        if error.code != "variant_unknown":
            raise
    known = [one.name for one in VARIANTS if one.kind in KINDS_BESIDE and not one.spin]
    raise _unknown_of(OWN, name, [*known, THREADS]) from None


def find(name: str) -> Variant:
    """The variant of that name. Raises FuseScopeError that suggests the nearest.

    Whether there is an optimizer of the name in an ablation shows by its effect only.
    """
    for variant in VARIANTS:
        if variant.name == name:
            return variant
    refused = _ALIASES.get(name.lower(), name.lower())
    if refused in _REFUSED:
        raise FuseScopeError(
            "variant_cannot_be_recorded", variant=refused, reason=_REFUSED[refused]
        )
    if found := _ABLATION.fullmatch(name):
        return ablation(*found.groups())
    if found := _THREADS.fullmatch(name):
        threads = int(found[1])
        return Variant(name, "all", _OTHER_THREADS.of(n=threads), threads=threads)
    if is_release(name):
        version = parse_release(name)
        return Variant(name, "all", _OF_RELEASE.of(version=version), release=version)
    if name.startswith("rules:"):
        return _rules(name)
    if name.startswith("model:"):
        return _other_model(name)
    if name.startswith("provider:"):
        return _of_provider(name)
    if name == LIBRARY.name:
        return LIBRARY
    if name.startswith(("custom:", "segments:", "inside:")):
        return _kernel(name)
    known = [*(variant.name for variant in VARIANTS), *ABLATIONS, THREADS, RULES]
    known += [*KERNELS, LIBRARY.name, MODEL, RELEASE, PROVIDER]
    raise FuseScopeError(
        "variant_unknown", variant=name[:60], known=", ".join(known), nearest=nearest(name, known)
    )


def ablation(kind: str, optimizer: str) -> Variant:
    """`without:` or `only:` an optimizer."""
    name, is_layout = f"{kind}:{optimizer}", optimizer == _LAYOUT
    if kind == "without":
        summary = _WITHOUT_LAYOUT if is_layout else _WITHOUT
        return Variant(name, "all", summary.of(optimizer=optimizer), without=optimizer)
    summary = _ONLY_LAYOUT if is_layout else _ONLY
    return Variant(name, "all", summary.of(optimizer=optimizer), only=optimizer)


def _rules(name: str) -> Variant:
    """Rules are known by the last part of their file's name, so that no folder travels."""
    found = _RULES.fullmatch(name)
    if found is None:
        raise FuseScopeError("variant_name_impossible", variant=name[:60])
    return Variant(name, "none", _BY_RULES.of(rules=found[1]), "rules", found[1])


def _other_model(name: str) -> Variant:
    """Models are known by the last part of their file's name, likewise."""
    found = _MODEL.fullmatch(name)
    if found is None:
        raise FuseScopeError("variant_name_impossible", variant=name[:60])
    return Variant(name, "all", _OF_MODEL.of(file=found[1]), "model", found[1])


def _of_provider(name: str) -> Variant:
    """Every optimisation is on unless the name of the variant with fewer follows."""
    known = [f"provider:{provider.name}" for provider in providers.PROVIDERS]
    found = _PROVIDER.fullmatch(name)
    if found is None or f"provider:{found[1]}" not in known:
        raise FuseScopeError(
            "variant_unknown",
            variant=name[:60],
            known=", ".join([*known, *(f"{one}:unfused" for one in known[:1])]),
            nearest=nearest(name, known),
        )
    provider, level = providers.find(found[1]), _level_of(found[2] or "fused")
    summary = _BY_PROVIDER[level].of(provider=provider.title)
    return Variant(name, level, summary, "provider", provider.name)


def _level_of(name: str) -> Optimization:
    return next(one.optimization for one in VARIANTS if one.name == name)


def _kernel(name: str) -> Variant:
    kind, _, argument = name.partition(":")
    kernel = kernels.find(argument)
    if kind == "custom":
        summary = _OWN_KERNEL.of(operators=kernel.replaces)
        return Variant(name, "none", summary, "custom", kernel.name)
    if kind == "inside":
        if not kernel.fuses:
            raise FuseScopeError("kernel_fuses_nothing", kernel=kernel.name)
        return Variant(name, "all", _INSIDE.of(operators=kernel.replaces), "inside", kernel.name)
    return Variant(name, "none", _CUT.of(variant=f"custom:{kernel.name}"), "segments", kernel.name)


def with_cuts(variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """The variants with `segments:` right before each `custom:` whose cut is not among them: what
    a cut costs must not be charged to the kernel. A library's kernels need no cut."""
    found: list[Variant] = []
    for variant in variants:
        if variant.kind == "custom":
            cut = find(f"segments:{variant.argument}")
            found += [] if cut in variants else [cut]
        found.append(variant)
    return tuple(found)


def file_name(variant: str) -> str:
    """The variant's name as part of a file name: not every system allows ':' there."""
    return variant.replace("==", "-").replace(":", "-")
