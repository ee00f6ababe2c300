"""The Record page: record a model's variants on this machine and open the result in Compare."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from analysis.errors import FuseScopeError
from app import choices, panels, places, recorder, recording, state
from app.recorder import Status
from app.shapes import shapes_of

OWN_FILE = ""
BUDGETS = {15: "15 s", 30: "30 s", 60: "1 min", 180: "3 min", 0: "until decided"}
FIRST_VARIANTS = ("eager", "unfused", "fused")
RULES = "rules:"
_NO_RULE_FILES = (
    "A rule file of your own can be chosen here where it lies, as `.toml`, in a folder that the "
    "dashboard was started with: `fusescope serve --folder DIR`."
)


def show(compare_page: st.Page) -> None:
    """Draw the page; `compare_page` is where a result opens."""
    with panels.page():
        st.header("Record a model", anchor=False)
        form, beside = st.columns([2, 1], gap="large")
        with beside:
            _explain()
        with form:
            refusal = recording.refusal()
            if refusal is not None:
                st.info(refusal, icon=":material/block:")
                return
            status = recorder.RECORDER.status
            if status is not None and status.running:
                recording.running()
                return
            if status is not None:
                recording.result(status, compare_page, _recorded(status))
            _form(first=status is None or status.path is None)


def _explain() -> None:
    with st.container(border=True):
        st.subheader("How it is measured", anchor=False)
        st.markdown(
            "- Each **block** is a fresh process that runs every variant in random order, again "
            "and again.\n"
            "- The baseline runs **twice** under two names: that shows the noise.\n"
            "- The headline is **un-profiled** time; profiled runs only say where it went.\n"
            "- Recording stops after 8, 14 or 24 blocks, as soon as the answer is clear.\n"
            "- Leave the machine alone while it runs."
        )
    with st.container(border=True):
        st.markdown("On the command line there are more options, and no browser is needed:")
        st.code("fusescope collect --help", language=None)
        st.caption("Recordings lie in this folder:")
        st.code(str(places.recordings_folder()), language=None, wrap_lines=True)


def _form(*, first: bool) -> None:
    """What to record; its button stands back where a result waits to be opened."""
    from collectors.record import variant_names, zoo_models

    zoo, variants = zoo_models(), variant_names()
    state.preset_recording(zoo, variants)
    models = list(zoo) + ([OWN_FILE] if places.folders() else [])
    model = st.selectbox(
        "Model",
        models,
        index=models.index(places.FIRST_SAMPLE) if places.FIRST_SAMPLE in models else 0,
        format_func=lambda name: f"{name}: {zoo[name]}" if name else "an ONNX file of mine",
        key="record_model",
        persist_state="session",
    )
    path = ""
    if model == OWN_FILE:
        path = st.text_input(
            "Path of the ONNX file",
            key="record_path",
            max_chars=1000,
            placeholder="path below a folder that the dashboard was started with",
            help="The file must hold its weights: external data is not read from here.",
        )
    own = {f"{RULES}{name}": path for name, path in places.rule_files().items()}
    chosen = st.multiselect(
        "Variants",
        [*variants, *(name for name in own if name not in variants)],
        default=[name for name in FIRST_VARIANTS if name in variants],
        help="\n".join(f"- **{name}**: {text}" for name, text in variants.items()),
        key="record_variants",
        persist_state="session",
    )
    if not own:
        st.caption(_NO_RULE_FILES)
    ablate = st.toggle(
        "Also record what each optimizer brings",
        key="record_ablate",
        help=(
            "An ablation: the model without and with only each of the engine's optimizers that "
            "change it, up to eight. That is up to 16 more variants, so give it more time."
        ),
        persist_state="session",
    )
    budget = st.segmented_control(
        "Time budget",
        list(BUDGETS),
        default=60,
        format_func=lambda seconds: panels.segment(BUDGETS[seconds]),
        key="record_seconds",
        required=True,
        help="Rounds shrink to fit it. A large model may need longer for its first blocks.",
        persist_state="session",
    )
    left, right = st.columns(2)
    threads = left.number_input(
        "Threads",
        min_value=1,
        max_value=1024,
        value=None,
        placeholder="physical cores",
        key="record_threads",
        persist_state="session",
    )
    batch = right.number_input(
        "Batch size",
        min_value=1,
        max_value=65536,
        value=None,
        placeholder="the model's own, else 1",
        key="record_batch",
        persist_state="session",
    )
    with st.expander("More settings", key="record_more"):
        shapes = st.text_input(
            "Input shapes",
            key="record_shapes",
            max_chars=2000,
            placeholder="input=1,3,224,224; mask=1,128",
            help=(
                "Needed where the model leaves dimensions open. Write name=1,3,224,224, several "
                "inputs separated by a semicolon. An open first dimension needs none: it is the "
                "batch size, else 1."
            ),
            persist_state="session",
        )
    if st.button(
        "Record", key="record_start", type="primary", icon=":material/radio_button_checked:"
    ):
        with panels.guarded("This cannot be recorded."):
            _start(
                model or path,
                model == OWN_FILE,
                chosen,
                {name: own[name] for name in chosen if name in own},
                ablate,
                budget,
                threads,
                batch,
                shapes or "",
            )


def _start(
    model: str,
    is_path: bool,
    variants: list[str],
    rule_files: Mapping[str, Path],
    ablate: bool,
    budget: int | None,
    threads: int | None,
    batch: int | None,
    shapes: str,
) -> None:
    from app.cli.rule_files import read_variants
    from collectors.record import Recording, record

    if is_path:
        model = str(places.path_below_folders(model))
    if len(variants) < 2 and not ablate:
        raise FuseScopeError(
            "A comparison needs two variants",
            hint="Choose at least two, such as unfused and fused.",
        )
    _, rules = read_variants([f"{RULES}{path}" for path in rule_files.values()])
    job = Recording(
        model=model,
        out=recording.folder(),
        variants=tuple(variants),
        rules=rules,
        ablate=ablate,
        seconds=float(budget) if budget else None,
        threads=threads,
        batch=batch,
        shapes=shapes_of(shapes),
        allow_external_data=False,
        command="recorded on the Record page",
    )
    recorder.RECORDER.start(job, record)
    st.rerun()


def _recorded(status: Status) -> dict[str, str]:
    """The query that compares what was recorded; {} where there is nothing to compare."""
    if status.path is None:
        return {}
    baseline, candidate = choices.recorded_pair(status.path)
    if baseline is None or candidate is None:
        return {}
    return {"baseline": baseline, "candidate": candidate}
