"""Variants of two environments of one engine: what an upgrade changed is not put down to fusion."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.multiple.ladder import ladder
from fusescope.analysis.compare.side import engines_differ, environments_differ
from fusescope.analysis.experiment import Engine, Experiment
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.wording import change_title
from fusescope.analysis.wording.diagnostics import diagnostic_sentence

SAMPLE = Path("sample_traces", "cases", "torch_transformer.zip")
NAMES = {
    "eager": ("torch@2.12:eager", "2.12.1"),
    "captured": ("torch@2.12:captured", "2.12.1"),
    "unfused": ("torch@2.13:unfused", "2.13.0"),
    "fused": ("torch@2.13:fused", "2.13.0"),
}


def renamed(names: dict[str, tuple[str, str]]) -> Experiment:
    """The sample as if its variants had run in environments of these names and versions."""
    value = read(Source(SAMPLE.name, SAMPLE.read_bytes()))
    assert isinstance(value, Experiment)
    record = value.record

    def keys(of: dict[str, Any]) -> dict[str, Any]:
        return {names[name][0]: one for name, one in of.items() if name in names}

    variants = [
        msgspec.structs.replace(
            one, name=names[one.name][0], engine=Engine("torch", names[one.name][1], "CPU")
        )
        for one in record.variants
        if one.name in names
    ]
    settings = msgspec.structs.replace(record.settings, baseline=variants[0].name)
    record = msgspec.structs.replace(record, variants=variants, settings=settings)
    return replace(
        value,
        record=record,
        traces=keys(dict(value.traces)),
        graphs=keys(dict(value.graphs)),
        matches=keys(dict(value.matches)),
        not_fused=keys(dict(value.not_fused)),
    )


@pytest.fixture(scope="module")
def apart() -> Comparison:
    """An eager run in one version against the compiled one in the next."""
    found = renamed(NAMES)
    return compare(*choose_sides(found, None, "torch@2.12:eager", "torch@2.13:fused"))


def codes(comparison: Comparison) -> dict[str, str]:
    return {note.code: diagnostic_sentence(note) for note in comparison.diagnostics}


def test_names_say_the_environment_and_the_variant_that_it_has() -> None:
    record = renamed(NAMES).record
    assert record.environment_of("torch@2.12:eager") == "torch@2.12"
    assert record.own_name("torch@2.12:eager") == "eager"
    plain = msgspec.structs.replace(record.variants[0], name="torch:fused")
    one = msgspec.structs.replace(record, variants=[plain])
    assert (one.environment_of("torch:fused"), one.own_name("torch:fused")) == ("torch", "fused")
    denied = msgspec.structs.replace(plain, name="torch@a:without:cpp_fused_0:1")
    one = msgspec.structs.replace(record, variants=[denied])
    assert one.own_name(denied.name) == "without:cpp_fused_0:1"


def test_the_change_is_of_the_versions(apart: Comparison) -> None:
    assert environments_differ(apart.baseline, apart.candidate)
    assert not engines_differ(apart.baseline, apart.candidate)
    assert change_title(apart) == "Where the change came from: engine (torch@2.12 → torch@2.13)"
    told = codes(apart)
    assert told["engine_versions_differ"] == (
        "The sides ran in different versions: torch 2.12.1 and torch 2.13.0. The change is that of "
        "everything in which they differ: the compiler, its kernels, the libraries of both and "
        "what is fused."
    )
    assert "paired_engines" in told and "paired" not in told
    assert not {"engines_differ", "versions_differ", "recordings_differ"} & told.keys()


def test_groups_rest_on_what_both_hold_of_the_model(apart: Comparison) -> None:
    fusion = apart.fusion
    assert fusion.source == "graphs" and fusion.mapped_nodes == fusion.original_nodes > 0


def test_steps_are_those_of_one_environment(apart: Comparison) -> None:
    record = renamed(NAMES).record
    assert ladder(record, ["torch@2.12:eager", "torch@2.13:fused"]) is None
    one = renamed({name: (f"torch@2.13:{name}", "2.13.0") for name in NAMES}).record
    found = ladder(one, ["torch@2.13:eager", "torch@2.13:fused"])
    assert found is not None and len(found.steps) == 3
    both = renamed(
        {**{name: (f"torch@2.13:{name}", "2.13.0") for name in NAMES},
         "eager": ("torch@2.12:fused", "2.12.1")}
    ).record  # fmt: skip
    found = ladder(both, ["torch@2.13:captured", "torch@2.13:fused"])
    assert found is not None and [step.before.variant for step in found.steps] == [
        "torch@2.13:captured", "torch@2.13:unfused",
    ]  # fmt: skip


def test_two_variants_of_one_environment_have_no_such_doubt() -> None:
    found = renamed(NAMES)
    one = compare(*choose_sides(found, None, "torch@2.13:unfused", "torch@2.13:fused"))
    assert "engine_versions_differ" not in codes(one)
    assert change_title(one) == "What fusion bought"
