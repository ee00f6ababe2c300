"""What an engine's internals are looked for, and what is said where a release lacks some. Neither
torch nor jax is needed: modules of their names stand in, with what a release has."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

Releases = Callable[..., Any]


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[Releases]:
    """stand_in('torch', {'torch': {...}, 'torch._inductor': {...}}) puts these modules in place,
    with what they have, and imports the engine's internals anew."""

    def put(engine: str, modules: dict[str, dict[str, Any]]) -> Any:
        for name in [one for one in sys.modules if one.partition(".")[0] == engine]:
            monkeypatch.delitem(sys.modules, name)
        for name, values in modules.items():
            module = ModuleType(name)
            module.__dict__.update(values, __path__=[])
            monkeypatch.setitem(sys.modules, name, module)
            above, _, last = name.rpartition(".")
            if above:
                setattr(sys.modules[above], last, module)
        internals = f"fusescope.collectors.{engine}.internals"
        sys.modules.pop(internals, None)
        return importlib.import_module(internals)

    yield put
    for engine in ("torch", "jax"):
        sys.modules.pop(f"fusescope.collectors.{engine}.internals", None)


def torch_modules(version: str) -> dict[str, dict[str, Any]]:
    """All that is used of TorchInductor."""
    scheduling = SimpleNamespace(MAX_FUSED_KERNEL_ARGS_NUM=500, codegen_node=1, flush=1)
    config = {
        "max_fusion_size": 64,
        "epilogue_fusion": True,
        "post_grad_custom_post_pass": None,
        "cpp": SimpleNamespace(max_horizontal_fusion_size=16, enable_kernel_profile=False),
        "trace": SimpleNamespace(provenance_tracking_level=0),
    }
    noted = {"set_kernel_post_grad_provenance_tracing": 1}
    inductor = "torch._inductor"
    return {
        "torch": {"__version__": version},
        inductor: {"lite_mode_options": {"use_dce": False}},
        f"{inductor}.config": config,
        f"{inductor}.codegen": {},
        f"{inductor}.codegen.cpp": {"CppScheduling": scheduling, **noted},
        f"{inductor}.custom_graph_pass": {"CustomGraphPass": type("CustomGraphPass", (), {})},
        f"{inductor}.choices": {
            "InductorChoices": type("InductorChoices", (), {"can_fuse": staticmethod(bool)})
        },
        f"{inductor}.virtualized": {"V": SimpleNamespace(set_choices_handler=1)},
        f"{inductor}.codecache": {"PyCodeCache": SimpleNamespace(load_by_key_path=1)},
        f"{inductor}.debug": {"dump_inductor_provenance_info": 1, **noted},
        f"{inductor}.scheduler": {"WhyNoFuse": SimpleNamespace(__call__=1)},
        f"{inductor}.exc": {"InductorError": type("InductorError", (RuntimeError,), {})},
    }


def test_a_release_of_torch_that_was_tested_lacks_nothing(stand_in: Releases) -> None:
    """A setting that is None is there: no pass of the user's is set."""
    internals = stand_in("torch", torch_modules("2.14.1+cu130"))
    assert [part for part in internals.PLACES if internals.missing(part)] == []
    assert internals.settings() == {} and internals.why_no_code() == ""
    assert internals.needed_for("captured") == internals.needed_for("unfused") == ""
    assert [one.__name__ for one in internals.COMPILER_ERRORS] == ["InductorError"]


def test_what_a_release_of_torch_lacks_is_said_by_name(stand_in: Releases) -> None:
    modules = torch_modules("2.99.0")
    del modules["torch._inductor"]["lite_mode_options"]
    del modules["torch._inductor.debug"]["dump_inductor_provenance_info"]
    del modules["torch._inductor.scheduler"]
    internals = stand_in("torch", modules)
    assert internals.needed_for("captured") == "torch._inductor.lite_mode_options"
    assert internals.needed_for("unfused") == "torch._inductor.debug.dump_inductor_provenance_info"
    assert internals.needed_for("fused") == internals.needed_for("eager") == ""
    assert not internals.has("said") and internals.has("denial") and internals.has("code")
    assert internals.settings() == {
        "release_untested": "tested were 2.9.1, 2.13.0, 2.14.1",
        "release_lacks": (
            "torch._inductor.lite_mode_options, "
            "torch._inductor.debug.dump_inductor_provenance_info, "
            "torch._inductor.scheduler.WhyNoFuse.__call__"
        ),
    }


def test_without_generated_code_there_is_no_graph_and_no_proof(stand_in: Releases) -> None:
    modules = torch_modules("2.99.0")
    del modules["torch._inductor.codecache"]
    internals = stand_in("torch", modules)
    place = "torch._inductor.codecache.PyCodeCache.load_by_key_path"
    assert internals.why_no_code() == (
        f"PyTorch 2.99.0 has no {place}; tested were 2.9.1, 2.13.0, 2.14.1"
    )
    assert internals.needed_for("unfused") == place


def test_classes_that_ours_are_made_of_have_something_in_their_place(stand_in: Releases) -> None:
    modules = torch_modules("2.99.0")
    for name in ("choices", "custom_graph_pass", "exc"):
        del modules[f"torch._inductor.{name}"]
    internals = stand_in("torch", modules)
    assert internals.CustomGraphPass is object and internals.InductorChoices is object
    assert internals.COMPILER_ERRORS == ()
    assert internals.missing("denial") == "torch._inductor.choices.InductorChoices.can_fuse"


class Primitive:
    """What binds as JAX's primitives do; up to 0.8 functions stand in front of the values."""

    def __init__(self, *, has_functions: bool) -> None:
        self._has_functions = has_functions

    def get_bind_params(self, params: dict[str, Any]) -> Any:
        return (["function"], params) if self._has_functions else params

    def bind(self, *values: Any, **params: Any) -> tuple[Any, ...]:
        return (*values, params)


def jax_modules(version: str, **client: Any) -> dict[str, dict[str, Any]]:
    return {
        "jax": {"__version__": version},
        "jax._src": {},
        "jax._src.lib": {"xla_client": SimpleNamespace(**client)},
        "jax._src.core": {"EvalTrace": SimpleNamespace(process_primitive=1)},
        "jax._src.dispatch": {"xla_primitive_callable": 1},
        "jax._src.source_info_util": {"user_frames": iter, "current": lambda: "here"},
    }


@pytest.mark.parametrize("version", ["0.9.2", "0.10.2"])
def test_programs_of_xla_are_found_where_a_release_of_jax_has_them(
    stand_in: Releases, version: str
) -> None:
    both = SimpleNamespace(HloPrintOptions="options", mlir="m")
    own = {"hlo": both, "_xla": None} if version == "0.10.2" else {"_xla": both}
    internals = stand_in("jax", jax_modules(version, **own))
    assert internals.hlo("HloPrintOptions") == "options"
    assert internals.settings() == {}
    assert internals.current_source() == "here"
    assert internals.eager_trace().process_primitive == 1


def test_what_a_release_of_jax_lacks_is_said_where_it_is_used(stand_in: Releases) -> None:
    modules = jax_modules("0.99.0")
    del modules["jax._src.source_info_util"]
    del modules["jax._src.dispatch"]
    internals = stand_in("jax", modules)
    with pytest.raises(internals.Lacking, match="JAX 0.99.0 has no jax._src.lib.xla_client.hlo.Hl"):
        internals.hlo("HloPrintOptions")
    with pytest.raises(internals.Lacking, match="tested were 0.8.3, 0.9.2, 0.10.2"):
        internals.dispatching()
    with pytest.raises(internals.Lacking, match="has no _params of a compiled function"):
        internals.held_and_kept(object())
    assert internals.user_frames(None) == [] and internals.current_source() is None
    assert internals.settings() == {"release_untested": "tested were 0.8.3, 0.9.2, 0.10.2"}


def test_functions_among_parameters_are_bound_as_the_release_does(stand_in: Releases) -> None:
    internals = stand_in("jax", jax_modules("0.8.3"))
    for has_functions, before in ((False, ()), (True, ("function",))):
        primitive = Primitive(has_functions=has_functions)
        assert internals.bound(primitive, {"axis": 1}, (2, 3)) == (*before, 2, 3, {"axis": 1})
