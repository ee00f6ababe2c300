"""How each variant is compiled: what inductor's settings are, and what it hands out meanwhile."""

from __future__ import annotations

import contextlib
import operator
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import torch
import torch._inductor
import torch._inductor.codecache
import torch._inductor.config as inductor
import torch._inductor.debug
from torch._inductor.codegen.cpp import CppScheduling
from torch._inductor.custom_graph_pass import CustomGraphPass

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.torch.denial import Denial
from fusescope.collectors.torch.hearing import hearing
from fusescope.collectors.torch.names import WITHOUT
from fusescope.collectors.torch.reasons import Told
from fusescope.collectors.workers.jobs import Denied

Settings = Mapping[str, Any]

_GIVEN_TANGENTS = re.compile(r"^\s+(?:\w+, )*tangents_\d+(?:, \w+)*,? = args$", re.MULTILINE).search
_ONE_FUNCTION_A_NODE = "MAX_FUSED_KERNEL_ARGS_NUM"


class _Realise(CustomGraphPass):  # type: ignore[misc]
    """Marks computed tensors to be stored, with a denial only those of its kernel: pointwise chains
    are inlined otherwise. Of each graph it adds the names of all nodes that are not views."""

    def __init__(self, made: Compiled, denial: Denial | None, *, every: bool) -> None:
        super().__init__()
        self._made, self._denial, self._every = made, denial, every

    def __call__(self, graph: torch.fx.Graph) -> None:
        computed = self._made.computed.setdefault(len(self._made.modules), {})
        for node in graph.nodes:
            if node.op != "call_function" or _is_view(node):
                continue
            value = node.meta.get("val")
            is_tensor = isinstance(value, torch.Tensor)
            of = node.args[0] if node.target is operator.getitem else node
            if of is node:
                computed[node.name] = value.numel() * value.element_size() if is_tensor else 0
            if is_tensor and (self._every or (self._denial and self._denial.stores(of))):
                node.meta["inductor_realize_to_strides"] = True

    def uuid(self) -> str:
        if self._denial is not None:
            return self._denial.uuid()
        return f"fusescope: {'every tensor' if self._every else 'nothing'} is stored"


_UNFUSED: Settings = {
    "max_fusion_size": 1,
    "epilogue_fusion": False,
    "cpp.max_horizontal_fusion_size": 1,
}


def _is_view(node: torch.fx.Node) -> bool:
    """Whether what the operator returns shares memory with what it reads."""
    schema = getattr(node.target, "_schema", None)
    return schema is not None and any(value.alias_info is not None for value in schema.returns)


ALWAYS: Settings = {"compile_threads": 2, "trace.provenance_tracking_level": 1}
SETTINGS: Mapping[str, Settings] = {
    "captured": {},
    "unfused": _UNFUSED,
    "fused": {},
    "freezing": {"freezing": True},
}


@dataclass
class Compiled:
    """What inductor made while one variant was compiled, in order: `modules` of generated code and
    their `sources`, and by the number of a graph its own account of which kernel holds which nodes,
    by handle ('cpp_fused_gelu_1:3'): there is none of what computes gradients. `computed` has its
    nodes that are not views with the bytes of what they compute, where the variant has to be
    checked, and `told` what the compiler said of kernels that it left apart."""

    sources: list[str] = field(default_factory=list)
    modules: list[ModuleType] = field(default_factory=list)
    provenance: dict[int, dict[str, list[str]]] = field(default_factory=dict)
    computed: dict[int, dict[str, int]] = field(default_factory=dict)
    told: dict[int, Told] = field(default_factory=dict)

    @property
    def backward(self) -> set[int]:
        """The numbers of the graphs that compute gradients: they are given tangents."""
        return {graph for graph, source in enumerate(self.sources) if _GIVEN_TANGENTS(source)}


def settings_of(variant: str, *, profiled: bool) -> dict[str, Any]:
    """Inductor's settings for that variant, by name."""
    lite = torch._inductor.lite_mode_options if variant == "captured" else {}
    events = {"cpp.enable_kernel_profile": True} if profiled else {}
    own = SETTINGS["fused" if variant.startswith(WITHOUT) else variant]
    return {**ALWAYS, **lite, **own, **events}


@contextlib.contextmanager
def compiling(
    variant: str,
    *,
    profiled: bool = False,
    denied: Denied | None = None,
    mapped: bool = False,
) -> Iterator[Compiled]:
    """What is compiled in here is compiled as that variant, without the kernel `denied`. `mapped`
    notes what is computed also of a variant that needs no check. Raises FuseScopeError where this
    release of torch does not allow it."""
    settings = settings_of(variant, profiled=profiled)
    unknown = [name for name in settings if not _has(name)]
    unfused = variant == "unfused"
    if unknown or (unfused and not hasattr(CppScheduling, _ONE_FUNCTION_A_NODE)):
        raise FuseScopeError(
            "torch_setting_missing",
            variant=variant,
            setting=unknown[0] if unknown else _ONE_FUNCTION_A_NODE,
            version=torch.__version__,
        )
    made = Compiled()
    denial = None if denied is None else Denial(denied, made.modules)
    if unfused or mapped or denial is not None:
        settings["post_grad_custom_post_pass"] = _Realise(made, denial, every=unfused)
    if denial is not None:
        settings["inductor_choices_class"] = lambda: denial
    with contextlib.ExitStack() as stack:
        stack.enter_context(inductor.patch(settings))
        if denial is not None:
            stack.enter_context(denial.denying())
        stack.enter_context(_watched(made))
        stack.enter_context(hearing(lambda: len(made.modules), made.told))
        if unfused:
            stack.enter_context(_replaced(CppScheduling, _ONE_FUNCTION_A_NODE, 0))
        yield made


def _has(name: str) -> bool:
    at: Any = inductor
    for part in name.split("."):
        if not hasattr(at, part):
            return False
        at = getattr(at, part)
    return True


@contextlib.contextmanager
def _watched(made: Compiled) -> Iterator[None]:
    """Keeps what inductor makes on the way."""
    cache, debug = torch._inductor.codecache.PyCodeCache, torch._inductor.debug
    load, dump = cache.load_by_key_path, debug.dump_inductor_provenance_info

    def loading(key: str, path: str, *args: Any, **kwargs: Any) -> Any:
        module = load(key, path, *args, **kwargs)
        if hasattr(module, "call"):
            made.modules.append(module)
            with open(path, encoding="utf-8") as file:
                made.sources.append(file.read())
        return module

    def dumping() -> Any:
        told = dump()
        if told.get("cppCodeToPost"):
            held = told["cppCodeToPost"].items()
            latest = len(made.modules) - 1
            made.provenance[latest] = {handle: list(nodes) for handle, nodes in held}
        return told

    with (
        _replaced(cache, "load_by_key_path", staticmethod(loading)),
        _replaced(debug, "dump_inductor_provenance_info", dumping),
    ):
        yield


@contextlib.contextmanager
def _replaced(of: Any, name: str, by: Any) -> Iterator[None]:
    known = of.__dict__[name]
    setattr(of, name, by)
    try:
        yield
    finally:
        setattr(of, name, known)
