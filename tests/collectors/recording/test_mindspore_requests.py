"""What is asked of a recording for MindSpore, before any engine starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.mindspore.names import flags_of
from fusescope.collectors.record import Recording, first_variants, runtimes_of
from fusescope.collectors.recording.series import in_zip
from fusescope.collectors.workers.jobs import Lane, ProfiledRuns
from fusescope.collectors.workers.rounds import interleaved


def asked(**changes: Any) -> Recording:
    names = first_variants("mynet", "mindspore")
    return Recording(**{"model": "mynet", "runtime": "mindspore", "variants": names, **changes})


def test_a_built_in_model_needs_no_prefix_beside_the_engine(tmp_path: Path) -> None:
    for model in ("mynet", "mindspore:mynet"):
        plan = asked(model=model).plan()
        assert (plan.model, plan.path, plan.baseline) == ("mindspore:mynet", None, "unfused")
        assert asked(model=model).prepare_job(plan, tmp_path).model == "mindspore:mynet"
    assert asked().plan().names == ("eager", "unfused", "generated", "fused")
    assert asked(model="mlp", runtime="torch", variants=("fused",)).plan().model == "torch:mlp"
    assert runtimes_of("mindspore:mobilenetv2") == ("mindspore",)


def test_a_function_of_a_file_is_a_model(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("")
    recording = asked(model=f"{tmp_path}/net.py:make")
    plan = recording.plan()
    assert (plan.model, plan.path) == ("net-make", tmp_path / "net.py")
    assert recording.prepare_job(plan, tmp_path).model == f"{tmp_path}/net.py:make"


def test_each_variant_is_a_setting_of_graph_kernels() -> None:
    assert [flags_of(name) for name in asked().plan().names] == [
        None, None, "--enable_fusion_pattern_only=none", "",
    ]  # fmt: skip
    (variant,) = asked(variants=("without:graph_kernel_cluster",)).plan().variants
    assert flags_of(variant.name) == "--disable_pass=cluster.graph_kernel_cluster"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"ablate": True}, "--variants fused,without:graph_kernel_cluster"),
        ({"variants": ("captured",)}, "Known: eager, unfused, generated, fused, without:"),
        ({"variants": ("without:graph_kernel_clustr",)}, "without:graph_kernel_cluster'?"),
        ({"model": "mindspore:mynett"}, "Known models: mindspore:mynet, "),
        ({"model": "mynett"}, "a model for MindSpore. Did you mean 'mynet'? Give FILE"),
        ({"model": "net.onnx"}, "does not name a model for MindSpore"),
        ({"model": "nowhere.py:make"}, "no such Python file"),
        ({"batch": 2}, "--batch"),
        ({"model": "mindspore:mynet", "runtime": "onnxruntime", "variants": ("fused",)},
         "fusescope collect mindspore:mynet --runtime mindspore"),
    ],
)  # fmt: skip
def test_what_cannot_be_recorded_is_one_sentence(changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(FuseScopeError) as told:
        asked(**changes).plan()
    assert expected in told.value.text and "\n" not in told.value.text


def test_settings_of_the_process_are_set_before_every_run() -> None:
    told: list[str] = []

    class Session:
        def __init__(self, name: str) -> None:
            self.name = name

        def run(self) -> None:
            told.append(f"run {self.name}")

        def turn(self) -> None:
            told.append(f"turn {self.name}")

    lanes = [Lane("a", 1), Lane("b", 1)]
    runs = interleaved(lanes, [lanes, lanes[::-1]], 1, lambda lane: Session(lane.variant),
                       Session.turn)  # fmt: skip
    assert [len(one.wall_ns) for one in runs] == [2, 2]
    order = ["a", "b", "a", "b", "b", "a"]  # a warm-up, and two rounds
    assert told == [f"{what} {name}" for name in order for what in ("turn", "run")]


def test_every_file_of_a_profile_goes_into_the_zip_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "fused"
    for name in ("FRAMEWORK/a.txt", "akg_kernel_meta/b.info"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(name)
    profile = ProfiledRuns("fused", str(folder / "FRAMEWORK/a.txt"), folder=str(folder))
    assert in_zip(profile, "profiles/fused/0") == (
        "profiles/fused/0/FRAMEWORK/a.txt",
        {
            "profiles/fused/0/FRAMEWORK/a.txt": folder / "FRAMEWORK/a.txt",
            "profiles/fused/0/akg_kernel_meta/b.info": folder / "akg_kernel_meta/b.info",
        },
    )
    alone = ProfiledRuns("eager", str(tmp_path / "eager.xplane.pb"))
    name = "profiles/eager/0.xplane.pb"
    assert in_zip(alone, "profiles/eager/0") == (name, {name: tmp_path / "eager.xplane.pb"})
