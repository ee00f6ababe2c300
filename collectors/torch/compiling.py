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
import torch._inductor.config as inductor

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.torch import internals
from fusescope.collectors.torch.denial import Denial
from fusescope.collectors.torch.hearing import hearing
from fusescope.collectors.torch.names import AUTOTUNED, CUDA_GRAPH, WITHOUT
from fusescope.collectors.torch.reasons import Told
from fusescope.collectors.workers.jobs import Denied

Settings = Mapping[str, Any]

_GIVEN_TANGENTS = re.compile(r"^\s+(?:\w+, )*tangents_\d+(?:, \w+)*,? = args$", re.MULTILINE).search
_SCHEDULING = "torch._inductor.codegen.cpp:CppScheduling"
_ONE_FUNCTION_A_NODE = "MAX_FUSED_KERNEL_ARGS_NUM"


class _Realise(internals.CustomGraphPass):  # type: ignore[misc]
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


ALWAYS: Settings = {
    "compile_threads": 2,
    **({"trace.provenance_tracking_level": 1} if internals.has("map") else {}),
}
SETTINGS: Mapping[str, Settings] = {
    "captured": {},
    "unfused": _UNFUSED,
    "fused": {},
    "freezing": {"freezing": True},
    AUTOTUNED: {"max_autotune": True, "coordinate_descent_tuning": True},
    CUDA_GRAPH: {"triton.cudagraphs": True},
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
    lite = internals.found(*internals.PLACES["captured"]) if variant == "captured" else {}
    events = {"cpp.enable_kernel_profile": True} if profiled and internals.has("events") else {}
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
    lacking = internals.needed_for(variant) or (internals.missing("denial") if denied else "")
    settings = {} if lacking else settings_of(variant, profiled=profiled)
    unknown = [lacking] if lacking else [name for name in settings if not _has(name)]
    unfused = variant == "unfused"
    if unknown:
        raise FuseScopeError(
            "torch_setting_missing",
            variant=variant,
            setting=unknown[0],
            version=torch.__version__,
        )
    made = Compiled()
    denial = None if denied is None else Denial(denied, made.modules)
    if (unfused or mapped or denial is not None) and internals.has("nodes"):
        settings["post_grad_custom_post_pass"] = _Realise(made, denial, every=unfused)
    if denial is not None and _has("inductor_choices_class"):  # before, its pass names it alone
        settings["inductor_choices_class"] = lambda: denial
    with contextlib.ExitStack() as stack:
        stack.enter_context(inductor.patch(settings))
        if denial is not None:
            stack.enter_context(denial.denying())
        stack.enter_context(_watched(made))
        stack.enter_context(hearing(lambda: len(made.modules), made.told))
        if unfused:
            scheduling = internals.found(_SCHEDULING)
            stack.enter_context(_replaced(scheduling, _ONE_FUNCTION_A_NODE, 0))
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
    """Keeps what inductor makes on the way, as far as this release lets it be seen."""
    cache = internals.found("torch._inductor.codecache:PyCodeCache")
    debug = internals.found("torch._inductor.debug")

    def loading(*args: Any, **kwargs: Any) -> Any:
        module = load(*args, **kwargs)
        path = getattr(module, "__file__", None) or kwargs.get("path") or args[1]
        if hasattr(module, "call"):
            made.modules.append(module)
            with open(path, encoding="utf-8") as file:
                made.sources.append(file.read())
        return module

    def dumping(*args: Any, **kwargs: Any) -> Any:
        told = dump(*args, **kwargs)
        if isinstance(told, dict) and told.get("cppCodeToPost"):
            held = told["cppCodeToPost"].items()
            latest = len(made.modules) - 1
            made.provenance[latest] = {handle: list(nodes) for handle, nodes in held}
        return told

    with contextlib.ExitStack() as stack:
        if internals.has("code"):
            load = cache.load_by_key_path
            stack.enter_context(_replaced(cache, "load_by_key_path", staticmethod(loading)))
        if internals.has("map"):
            dump = debug.dump_inductor_provenance_info
            stack.enter_context(_replaced(debug, "dump_inductor_provenance_info", dumping))
        yield


@contextlib.contextmanager
def _replaced(of: Any, name: str, by: Any) -> Iterator[None]:
    known = of.__dict__[name]
    setattr(of, name, by)
    try:
        yield
    finally:
        setattr(of, name, known)
