"""What FuseScope uses of TorchDynamo and TorchInductor beyond their public interfaces.

Other releases than those of TESTED may not have all of it. Each part is looked for before it is
used: without what compiles a variant that variant is left out, without what is heard or watched
less is known of its kernels, and the recording says what is missing.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, Literal

import torch

TESTED = ("2.9.1", "2.13.0", "2.14.1")

# captured, unfused, denial: ways of compiling. nodes: those of a graph before it is scheduled.
# code: the modules that are generated. map: which kernel computes which nodes. said: what the
# compiler says while it schedules. events: an event for each kernel in a profile.
Part = Literal["captured", "unfused", "denial", "nodes", "code", "map", "said", "events"]

_INDUCTOR = "torch._inductor"
_CPP = f"{_INDUCTOR}.codegen.cpp"
_SETTINGS = f"{_INDUCTOR}.config"
_PASS = (
    f"{_SETTINGS}:post_grad_custom_post_pass",
    f"{_INDUCTOR}.custom_graph_pass:CustomGraphPass",
)
_NOTED = "set_kernel_post_grad_provenance_tracing"
PLACES: Mapping[Part, tuple[str, ...]] = {
    "captured": (f"{_INDUCTOR}:lite_mode_options",),
    "unfused": (
        f"{_CPP}:CppScheduling.MAX_FUSED_KERNEL_ARGS_NUM",
        f"{_SETTINGS}:max_fusion_size",
        f"{_SETTINGS}:epilogue_fusion",
        f"{_SETTINGS}:cpp.max_horizontal_fusion_size",
        *_PASS,
    ),
    "denial": (
        f"{_INDUCTOR}.choices:InductorChoices.can_fuse",
        f"{_CPP}:CppScheduling.codegen_node",
        f"{_CPP}:CppScheduling.flush",
        f"{_INDUCTOR}.virtualized:V.set_choices_handler",
        *_PASS,
    ),
    "nodes": _PASS,
    "code": (f"{_INDUCTOR}.codecache:PyCodeCache.load_by_key_path",),
    "map": (
        f"{_INDUCTOR}.debug:dump_inductor_provenance_info",
        f"{_SETTINGS}:trace.provenance_tracking_level",
    ),
    "said": (
        f"{_INDUCTOR}.scheduler:WhyNoFuse.__call__",
        f"{_INDUCTOR}.debug:{_NOTED}",
        f"{_CPP}:{_NOTED}",
    ),
    "events": (f"{_SETTINGS}:cpp.enable_kernel_profile",),
}


def found(place: str) -> Any:
    """What lies there ('module:name.name'), None where nothing does."""
    module, _, names = place.partition(":")
    try:
        at: Any = importlib.import_module(module)
        for name in filter(None, names.split(".")):
            at = getattr(at, name)
    except (ImportError, AttributeError):
        return None
    return True if at is None else at  # a setting that is None is there


def missing(part: Part) -> str:
    """The first thing of the part that this release does not have, '' where it has all."""
    absent = (place for place in PLACES[part] if found(place) is None)
    return next(absent, "").replace(":", ".")


def has(part: Part) -> bool:
    """Whether this release has all of the part."""
    return not missing(part)


def needed_for(variant: str) -> str:
    """What this release lacks to compile a variant, '' where it lacks nothing. That `unfused` is
    what its name says shows on the map alone."""
    parts: Mapping[str, tuple[Part, ...]] = {
        "captured": ("captured",),
        "unfused": ("unfused", "code", "map"),
    }
    return next(filter(None, map(missing, parts.get(variant, ()))), "")


def why_no_code() -> str:
    """Why the generated code is not seen, with the releases that were tested; '' where it is."""
    place = missing("code")
    tested = ", ".join(TESTED)
    return f"PyTorch {version()} has no {place}; tested were {tested}" if place else ""


def version() -> str:
    """That of PyTorch, without what says how it was built."""
    return str(torch.__version__).partition("+")[0]


def settings() -> dict[str, str]:
    """What the settings of a variant say of a release that was not tested, and of what it lacks."""
    lacks = [name for part in PLACES if (name := missing(part))]
    untested = (
        {} if version() in TESTED else {"release_untested": f"tested were {', '.join(TESTED)}"}
    )
    return {**untested, **({"release_lacks": ", ".join(lacks)} if lacks else {})}


# Those that a class of ours is one of, or that is caught: what there is instead where they are not.
CustomGraphPass: Any = found(_PASS[1]) or object
InductorChoices: Any = found(f"{_INDUCTOR}.choices:InductorChoices") or object
COMPILER_ERRORS: tuple[type[Exception], ...] = tuple(
    one
    for place in (
        "torch._dynamo.exc:TorchDynamoException",
        f"{_INDUCTOR}.exc:InductorError",
        f"{_INDUCTOR}.exc:CppCompileError",
    )
    if isinstance(one := found(place), type) and issubclass(one, Exception)
)
