"""The recording of a recipe: what it does, how long it takes, its start and its progress."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import streamlit as st

from analysis.experiment import ExperimentRecord
from analysis.recipes import Recipe
from analysis.wording import recipes as words
from app import panels, recorder, recording
from app.recipe_results import OWN, Result

QUICK_BLOCKS = 2  # enough to see that everything runs


def show(recipe: Recipe, found: Mapping[str, Result], compare_page: st.Page) -> None:
    """The button that records it; in its place what runs now, or why nothing can."""
    status = recorder.RECORDER.status
    if status is not None and status.running:
        recording.running()
        return
    if status is not None and status.recipe == recipe.name:
        recording.result(status, compare_page, {})
    with st.container(border=True):
        st.subheader("Run it here", anchor=False)
        st.caption(panels.own(words.settings_text(recipe)))
        refusal = recording.refusal(compiler=recipe.needs_compiler)
        if refusal is not None:
            st.caption(panels.own(f"It would take {length(recipe, found)}."))
            st.info(refusal, icon=":material/block:")
        else:
            _form(recipe, found)
        st.caption("The same on the command line:")
        st.code(f"fusescope recipe {recipe.name}", language=None)


def length(recipe: Recipe, found: Mapping[str, Result], blocks: int | None = None) -> str:
    """About how long recording takes here, by the last recording of the same settings if any."""
    return words.length_text(recipe.seconds(_like(recipe, found), blocks))


def _like(recipe: Recipe, found: Mapping[str, Result]) -> ExperimentRecord | None:
    """The record of this machine whose runs take as long as those of the recipe."""
    record = found[OWN].record if OWN in found else None
    if record is None or recipe.batch not in (None, record.model.batch):
        return None
    return record if recipe.threads in (None, record.settings.threads) else None


def _form(recipe: Recipe, found: Mapping[str, Result]) -> None:
    """How long it may take, and the button."""
    blocks = st.radio(
        "How long",
        [recipe.blocks, QUICK_BLOCKS],
        format_func=lambda count: f"{count} blocks, {length(recipe, found, count)}",
        key=f"recipe_blocks_{recipe.name}",
        help="A block is a fresh process that runs every step. Below 5 there is no interval and "
        "no verdict; 2 show that everything runs.",
    )
    by = "work at assumed rates" if _like(recipe, found) is None else "the last recording here"
    st.caption(f"Estimated from {by}. Leave the machine alone while it runs.")
    if st.button("Run", key="recipe_run", type="primary", icon=":material/play_arrow:"):
        with panels.guarded("This recipe cannot be run."):
            _start(recipe, None if blocks == recipe.blocks else blocks)


def _start(recipe: Recipe, blocks: int | None) -> None:
    from app import recipes
    from collectors.record import record

    path = recording.folder() / f"{recipe.name}-{date.today():%Y-%m-%d}.zip"
    job = recipes.recording(recipe, path, blocks=blocks)
    job.check()
    recorder.RECORDER.start(job, record, recipe=recipe.name)
    st.rerun()
