"""A recording of rules: what runs, what is told of it, and that its groups are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from fusescope.analysis.advice import missed_fusions
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.limits import DEFAULT_LIMITS
from fusescope.analysis.readers import read_path
from fusescope.analysis.redaction import redacted
from fusescope.collectors import variants
from tests.collectors.short_recordings import run, short

RULES = 'level = "O2"  # no more\n# a remark\nexclude = ["head/*"]\n'


def test_rules_are_a_variant(tmp_path: Path) -> None:
    file, _ = run(
        short(
            "conv_bn_relu",
            tmp_path,
            variants=("unfused", "rules:mine.toml", "rules:O1"),
            rules={"rules:mine.toml": 'level = "O2"\n# a remark\n'},
        )
    )
    by_name = {variant.name: variant for variant in file.record.variants}
    mine, o1 = by_name["rules:mine.toml"], by_name["rules:O1"]
    assert mine.settings["rules"] == 'level = "O2"'
    assert mine.settings["fusion_level"] == "O2"
    assert mine.settings["fused_groups"] == "1 × Conv + BatchNormalization + Relu"
    assert (mine.settings["nodes_before_fusion"], mine.settings["nodes_after_fusion"]) == (3, 1)
    assert mine.settings["graph_optimization"] == "none"
    assert (mine.nodes, o1.nodes) == (1, 2)
    for variant in (mine, o1):
        assert variant.output_difference is not None
        assert variant.output_difference.relative is not None
        assert variant.output_difference.relative < 1e-4
    assert mine.graph is not None
    assert [node.op_type for node in file.graph(mine.graph).nodes] == ["FusedConv"]

    trace = read_path(file.path, DEFAULT_LIMITS)
    comparison = compare(*choose_sides(trace, None, "unfused", "rules:mine.toml"))
    [group] = comparison.fusion.groups
    assert group.kind == "fused"
    assert [op.op_type for op in group.original] == ["Conv", "BatchNormalization", "Relu"]
    assert [op.op_type for op in group.candidate] == ["FusedConv"]


def test_a_file_without_rules_allows_everything(tmp_path: Path) -> None:
    file, _ = run(
        short(
            "conv_bn_relu",
            tmp_path,
            variants=("unfused", "rules:no-head.toml"),
            rules={"rules:no-head.toml": ""},
        )
    )
    assert file.record.variants[1].settings["fusion_level"] == "O3"
    assert file.record.variants[1].settings["rules"] == ""


def test_a_recording_says_what_our_own_pass_would_fuse(tmp_path: Path) -> None:
    """ONNX Runtime never fuses Mul + Add; the pass does, and the page says so."""
    file, steps = run(
        short("mul_add", tmp_path, variants=("unfused", "basic"), own_pass=True, batch=None)
    )
    assert "Trying FuseScope's own fusion pass" in [str(step.message) for step in steps]
    experiment = read_path(file.path, DEFAULT_LIMITS)
    assert isinstance(experiment, Experiment) and experiment.own_fusions is not None
    [miss] = missed_fusions(compare(*choose_sides(experiment, None, "unfused", "basic")))
    assert miss.own_places == 1
    plain = redacted(experiment)
    assert isinstance(plain, Experiment) and plain.own_fusions == experiment.own_fusions


def test_a_module_that_the_model_lacks_ends_the_recording(tmp_path: Path) -> None:
    with pytest.raises(FuseScopeError, match="exclude names 'head/.*no node matches"):
        run(
            short(
                "conv_bn_relu",
                tmp_path,
                variants=("unfused", "rules:mine.toml"),
                rules={"rules:mine.toml": RULES},
            )
        )
    assert not list(tmp_path.glob("*.zip"))


def test_what_the_engine_may_still_do(tmp_path: Path) -> None:
    file, _ = run(
        short(
            "conv_bn_relu",
            tmp_path,
            variants=("unfused", "rules:then.toml"),
            rules={"rules:then.toml": 'level = "O1"\noptimization = "extended"'},
        )
    )
    [_, then] = file.record.variants
    assert then.settings["graph_optimization"] == "extended"
    assert (then.settings["nodes_after_fusion"], then.nodes) == (2, 1)


@pytest.mark.parametrize("name", ["rules:", "rules:a/b.toml", "rules:.hidden", "rules:a\nb"])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(FuseScopeError, match="cannot be the name of a variant"):
        variants.find(name)


def test_a_variant_is_known_by_its_name_alone() -> None:
    found = variants.find("rules:conv-1.toml")
    assert (found.kind, found.argument, found.optimization) == ("rules", "conv-1.toml", "none")
