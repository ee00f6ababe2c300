"""What there is of a recipe: a recording of this machine, and the one that comes with FuseScope."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from fusescope.analysis.compare.timing.verdict import Verdict, paired_verdict
from fusescope.analysis.experiment import Experiment, ExperimentRecord
from fusescope.analysis.recipes import Recipe, RecipeTable, misfit, recipe_table
from fusescope.app.sources import loading, places
from fusescope.app.store import records

OWN, SHIPPED = "recorded here", "comes with FuseScope"
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True)
class Result:
    """An experiment that answers a recipe: `source` is OWN or SHIPPED, `prefix` begins the ids of
    its variants. The record comes from the file."""

    source: str
    prefix: str
    path: Path
    record: ExperimentRecord

    @property
    def date(self) -> str:
        """The day it was recorded, '' where the file gives none."""
        found = _DATE.match(self.record.created)
        return found[0] if found else ""

    def query(self, pair: tuple[str, str]) -> dict[str, str]:
        """The query of an address that compares these two variants."""
        baseline, candidate = pair
        return {
            "baseline": f"{self.prefix}/{baseline}",
            "candidate": f"{self.prefix}/{candidate}",
        }

    def verdict(self, pair: tuple[str, str]) -> Verdict:
        """How these two variants compare in time; that needs none of the traces."""
        return paired_verdict(self.record, *pair)


def recorded() -> list[Result]:
    """Every experiment in the folder of recordings, newest first."""
    files = places.experiments().items()
    read = (_result(OWN, f"recorded:{name}", path) for name, path in files)
    return [result for result in read if result is not None]


def results(recipe: Recipe, own: Iterable[Result]) -> dict[str, Result]:
    """What answers the recipe, by source: the first of `own` that does, then the shipped one.

    A result of too few blocks for a verdict stands behind one that has enough.
    """
    among = list(own)
    path = places.recipe_samples().get(recipe.name)
    if path is not None:
        shipped = _result(SHIPPED, f"recipe:{recipe.name}", path)
        among += [] if shipped is None else [shipped]
    found: dict[str, Result] = {}
    for result in among:
        if result.source not in found and misfit(recipe, result.record) is None:
            found[result.source] = result
    ranked = sorted(
        found.items(), key=lambda item: item[1].verdict(recipe.compare).interval is None
    )
    return dict(ranked)


def _result(source: str, prefix: str, path: Path) -> Result | None:
    record = records.record_at(path)
    return None if record is None else Result(source, prefix, path, record)


def table(recipe: Recipe, result: Result) -> RecipeTable:
    """The table of the recipe, made once. Raises FuseScopeError for a file that is damaged."""
    experiment = loading.experiment_at(result.path)
    return _table(recipe, experiment, recipe.name, experiment.sha256)


@st.cache_resource(max_entries=6, show_spinner=False)
def _table(_recipe: Recipe, _experiment: Experiment, name: str, sha256: str) -> RecipeTable:
    return recipe_table(_recipe, _experiment)
