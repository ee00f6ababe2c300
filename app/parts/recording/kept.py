"""Recordings on this machine, below the form of the Record page: open, rename, delete."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from fusescope.analysis import units
from fusescope.analysis.messages import say
from fusescope.app import state
from fusescope.app.parts import panels
from fusescope.app.recording import recorder
from fusescope.app.sources import places
from fusescope.app.store import records


def show(compare_page: st.Page) -> None:
    """What lies in the folder of recordings: open, rename, delete."""
    from fusescope.app.recording import kept

    found = places.experiments()
    if not found:
        return
    title = say("Recordings on this machine ({kept:count})", kept=len(found))
    if len(found) == places.MAX_EXPERIMENTS:
        title = say("The last {kept:count} recordings on this machine", kept=len(found))
    with st.expander(title, key="kept"), panels.guarded():
        name = st.selectbox(
            say("Recording"),
            list(found),
            key=state.language.told_choice("kept_name"),
            format_func=lambda name: _recording_text(name, found.get(name)),
        )
        pair = records.recorded_pair(found[name])
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            wanted = st.text_input(
                say("New name"),
                value=name.removesuffix(".zip"),
                key=f"kept_rename_{name}",
                max_chars=110,
            )
            is_renamed = st.button(say("Rename"), key="kept_rename") and wanted
            with st.popover(say("Delete …"), key="kept_delete"):
                st.text(say("Delete {file:name}? This cannot be undone.", file=name))
                is_deleted = st.button(
                    say("Delete permanently"), key="kept_delete_sure", type="primary"
                )
            if None not in pair:
                query = {"baseline": str(pair[0]), "candidate": str(pair[1])}
                st.page_link(compare_page, label=say("Open in Compare"), query_params=query)
        if is_renamed:
            with panels.guarded(say("The recording keeps its name.")):
                new = kept.rename(name, wanted)
                recorder.RECORDER.moved(found[name], found[name].with_name(new))
                state.pair.replace_files(f"recorded:{name}", f"recorded:{new}")
                st.rerun()
        if is_deleted:
            with panels.guarded(say("Nothing was deleted.")):
                kept.delete(name)
                recorder.RECORDER.moved(found[name], None)
                state.pair.replace_files(f"recorded:{name}", None)
                st.rerun()


def _recording_text(name: str, path: Path | None) -> str:
    """A recording as the list shows it."""
    record = None if path is None else records.record_at(path)
    if path is None or record is None:
        return say("{file:name} · not an experiment that can be read", file=name)
    variants = ", ".join(variant.name for variant in record.variants)
    size = units.data_size(path.stat().st_size)
    day = record.created[:16].replace("T", " ")
    return f"{name} · {record.model.name} · {variants} · {day} · {size}"
