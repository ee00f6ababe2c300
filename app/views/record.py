"""The Record page: record a model's variants on this machine and open the result in Compare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import streamlit as st

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Try
from fusescope.analysis.messages import Message, Said, say
from fusescope.app import state
from fusescope.app.parts import panels
from fusescope.app.parts.heads import told
from fusescope.app.parts.recording import engines, kept, results
from fusescope.app.parts.recording import settings as settings_of
from fusescope.app.parts.recording.settings import Settings
from fusescope.app.parts.upload import models as sent_models
from fusescope.app.recording import own_models as own
from fusescope.app.recording import progress, recorder, sweep
from fusescope.app.recording.shapes import shapes_of
from fusescope.app.sources import places

OWN_FILE = ""
MAX_THREADS, MAX_BATCH = 1024, 65536
OWN_RULES = Message("FuseScope's own fusion pass with your rule file")
RULES = "rules:"
_NO_RULE_FILES = Message(
    "To choose your own rule file here, put it, as a {suffix:name} file, into a folder that the "
    "dashboard is started with: {command:name}."
)
_WITH_FOLDER = "fusescope serve --folder DIR"
_TRYING = Message(
    "This recording tries what the findings ask for. Each variant is kept if it is faster and its "
    "outputs are the same; what comes is shown beside what was predicted."
)
_HOW = (
    Message(
        "Each **block** is a fresh process that runs every variant in random order, many times."
    ),
    Message("The baseline runs **twice** under two names, which shows the noise."),
    Message("The headline is **un-profiled** time. Profiled runs only show where the time went."),
    Message(
        "Recording stops after 8, 14 or 24 blocks, as soon as the answer is clear, or when the "
        "time budget ends."
    ),
    Message("Do not use the machine for other work while the recording runs."),
)


def show(compare_page: st.Page, scaling_page: st.Page, engines_page: st.Page) -> None:
    """Draw the page; the others are where a result opens."""
    with panels.page():
        st.header(say("Record a model"), anchor=False)
        form, beside = st.columns([2, 1], gap="large")
        with beside:
            _explain()
        with form:
            refusal = progress.refusal()
            if refusal is not None:
                st.info(panels.parts_text(refusal, "gray"), icon=":material/block:")
                return
            if state.recording.starts_on_arrival():
                recorder.RECORDER.forget()  # what was recorded before is not what is tried now
            status = recorder.RECORDER.status
            if status is not None and status.running:
                state.recording.started()
                progress.running()
                return
            if status is not None and status.settings:
                progress.sweep_result(status, scaling_page, results.swept(status))
            elif status is not None:
                results.show(status, compare_page, engines_page)
            _form()
            kept.show(compare_page)


def _explain() -> None:
    with st.expander(say("How it is measured"), icon=":material/timer:"):
        st.markdown("\n".join(f"- {panels.strong(line.parts())}" for line in _HOW))
    with st.expander(say("Recordings and the command line"), icon=":material/terminal:"):
        st.markdown(say("The command line has more options and does not need a browser:"))
        panels.code("fusescope collect --help")
        st.caption(say("Recordings are stored in this folder:"))
        panels.code(str(places.experiments_folder()))


def _form() -> None:
    """What to record."""
    from fusescope.collectors.record import (
        OWN,
        devices_of,
        engine_models,
        first_variants,
        is_named,
        is_ready,
        kind_of,
        runtimes_of,
        summary_of,
        variant_names,
        why_not_ready,
        zoo_models,
    )

    zoo = {**zoo_models(), **engine_models()}
    offered = _offered_rules()
    listed = own.found(places.folders())
    files = own.in_form(listed)
    models = [*zoo, *files]
    state.recording.preset_recording(
        models, lambda name: name in offered or summary_of(name) is not None
    )
    model = _model(zoo, files, is_cut=listed.is_cut)
    sent_models.choose()
    path = ""
    if model == OWN_FILE:
        path = st.text_input(
            say("Path of the ONNX file"),
            key="record_path",
            max_chars=1000,
            placeholder=say("path below a folder that the dashboard was started with"),
            help=say("The file must contain its weights. External data is not read here."),
        )
    file, is_path = path if model == OWN_FILE else model, model not in zoo
    runtime = engines.choose(runtimes_of(model), _bring_variants)
    if runtime == engines.SEVERAL:
        _several(model, file, is_path)
        return
    is_own = kind_of(runtime) == OWN
    takes_files = OWN in runtimes_of(model)
    if not is_ready(runtime):
        problem = why_not_ready(runtime) if is_named(runtime) else None
        if problem is None:
            engines.how_to_add(runtime)
        else:
            panels.problem(problem, say("This cannot be recorded."))
        return
    if not is_own:
        engines.explain(runtime, kind_of(runtime), takes_files=takes_files)
    device = engines.device(devices_of(runtime))
    variants, rule_files = variant_names(runtime, device), dict[str, Path]()
    if is_own:
        rule_files = {f"{RULES}{name}": path for name, path in places.rule_files().items()}
    first = [name for name in first_variants(model, runtime) if name in variants]
    chosen = _variants(variants, first, rule_files, is_own=is_own)
    tries = _tries(model, chosen) if is_own else ()
    if tries:
        st.info(_TRYING.text(), icon=":material/science:")
    ablate = engines.ablate(kind_of(runtime), is_own=is_own)
    settings = settings_of.choose(takes_files)
    is_asked = bool(tries) and state.recording.starts_on_arrival()
    state.recording.started()
    if _is_started() or is_asked:
        with panels.guarded(say("This cannot be recorded.")):
            _start(
                runtime,
                file,
                is_path,
                chosen,
                settings,
                device=device,
                tries=tries,
                rule_files=[rule_files[name] for name in chosen if name in rule_files],
                ablate=ablate,
            )


def _several(model: str, file: str, is_path: bool) -> None:
    """The rest of the form for a recording of several engines."""
    from fusescope.collectors.record import (
        OWN,
        engines_beside,
        is_named,
        is_ready,
        runtime_of,
        variant_names_beside,
    )

    of_onnx = runtime_of(model) == OWN
    ready = [name for name in engines_beside(model) if is_ready(name)]
    missing = [n for n in engines_beside(model) if n not in ready and not is_named(n)]
    names = engines.several(ready, _usual(ready), missing, _bring_variants, of_onnx=of_onnx)
    if len(names) < 2:
        return
    variants = variant_names_beside(names)
    chosen = _variants(variants, list(variants)[: len(names)], {}, is_own=False)
    settings = settings_of.choose(has_sizes=of_onnx)
    given = _given(file) if is_path else file
    runs = [any(one.startswith(f"{name}:") for one in chosen) for name in names]
    if given and all(runs):  # what Record refuses has no command
        engines.command(given, names, chosen, settings)
    if _is_started():
        with panels.guarded(say("This cannot be recorded.")):
            _start(OWN, file, is_path, chosen, settings, runtimes=names)


def _usual(ready: list[str]) -> list[str]:
    """Those that are compared before others are chosen: the engines that FuseScope has, and where
    these are not two, environments of the user's too."""
    from fusescope.collectors.record import is_named

    own = [name for name in ready if not is_named(name)]
    return own if len(own) > 1 else ready


def _given(file: str) -> str:
    """The path of a file below a folder for the command line; '' where there is none yet."""
    try:
        return "" if file.startswith(own.SENT) else str(own.path_of(file))
    except FuseScopeError:
        return ""


def _is_started() -> bool:
    return st.button(
        say("Record"), key="record_start", type="primary", icon=":material/radio_button_checked:"
    )


def _variants(
    variants: Mapping[str, Message | Said],
    first: list[str],
    rule_files: Mapping[str, Path],
    *,
    is_own: bool,
) -> list[str]:
    """The variants that are chosen, each with what it is below; `first` until others are."""
    from fusescope.collectors.record import summary_of

    files = {**rule_files, **_offered_rules()} if is_own else {}
    listed = [*variants, *(name for name in files if name not in variants)]
    asked = [name for name in state.recording.chosen_variants() if name not in listed]
    chosen = st.multiselect(
        say("Variants"),
        [*listed, *(name for name in asked if is_own and summary_of(name) is not None)],
        default=first,
        help="\n".join(
            f"- **{name}**: {panels.own(told(text))}" for name, text in variants.items()
        ),
        key="record_variants",
        persist_state="session",
    )
    for name in chosen:
        what = told(variants.get(name) or summary_of(name) or OWN_RULES)
        st.caption(panels.own(say("{variant:name}: {what}", variant=name, what=what)))
    if not rule_files and is_own:
        parts = _NO_RULE_FILES.parts(suffix=".toml", command=_WITH_FOLDER)
        st.caption(panels.parts_text(parts, "gray"))
    return chosen


def _model(
    zoo: Mapping[str, Message | Said], files: Mapping[str, tuple[str, int]], *, is_cut: bool
) -> str:
    """The model that is chosen: the name of one that is built in, a file of one's own as
    own.in_form has it, or OWN_FILE for one that is not listed. Another model brings its own
    variants."""
    options = [*zoo, *files]
    if places.folders() and (is_cut or not files):
        options.append(OWN_FILE)

    def label(name: str) -> str:
        if name == OWN_FILE:
            return say("my own ONNX file, by its path")
        if name in files:
            file, size = files[name]
            return say("{file:name}, {size:bytes}", file=file, size=size)
        return say("{model:name}: {what}", model=name, what=told(zoo[name]))

    first = places.FIRST_SAMPLE
    chosen: str = st.selectbox(
        say("Model"),
        options,
        index=options.index(first) if first in options else 0,
        format_func=label,
        key=state.language.told_choice("record_model"),
        persist_state="session",
        on_change=_bring_variants,
    )
    return chosen


def _bring_variants() -> None:
    """Chooses the variants that show the point of the model and the engine that are chosen now."""
    from fusescope.collectors.record import (
        engines_beside,
        first_variants,
        is_ready,
        runtimes_of,
        variant_names,
        variant_names_beside,
    )

    model = state.recording.chosen_model()
    able = runtimes_of(model)
    runtime = state.recording.chosen_engine([*able, engines.SEVERAL] if len(able) > 1 else able)
    if runtime == engines.SEVERAL:
        ready = [*filter(is_ready, engines_beside(model))]
        names = state.recording.chosen_engines(ready, _usual(ready))
        offered = variant_names_beside(names)
        chosen = [name for name in state.recording.chosen_variants() if name in offered]
        without = (e for e in names if not any(name.startswith(f"{e}:") for name in chosen))
        state.recording.choose_variants([*chosen, *(f"{engine}:fused" for engine in without)])
        return
    known = variant_names(runtime)
    state.recording.choose_variants(
        name for name in first_variants(model, runtime) if name in known
    )


def _start(
    runtime: str,
    model: str,
    is_path: bool,
    variants: list[str],
    settings: Settings,
    *,
    device: str = "cpu",
    tries: tuple[Try, ...] = (),
    rule_files: Iterable[Path] = (),
    ablate: bool = False,
    runtimes: tuple[str, ...] = (),
) -> None:
    from fusescope.app.sources.rule_files import read_variants
    from fusescope.collectors.record import Placement, Recording, record

    is_sent = False
    if is_path:
        is_sent, model = model.startswith(own.SENT), str(own.path_of(model))
    if len(variants) < 2 and not ablate:
        raise FuseScopeError("one_variant_only")
    threads = sweep.numbers(settings.threads, say("Threads"), MAX_THREADS)
    batches = sweep.numbers(settings.batch, say("Batch size"), MAX_BATCH)
    _, from_files = read_variants([f"{RULES}{path}" for path in rule_files])
    offered, offer = _offered_rules(), state.recording.offered()
    rules = {**{name: offered[name] for name in variants if name in offered}, **from_files}
    like = offer if tries else None
    job = Recording(
        model=model,
        runtime=runtime,
        runtimes=runtimes,
        out=progress.folder(),
        variants=tuple(variants),
        baseline=like.best if like else None,
        rules=rules,
        tries=tries,
        own_pass=not tries,
        sha256=like.sha256 if like else "",
        input_ranges=like.input_ranges if like else {},
        spin=like is not None and like.spin,
        seed=like.seed if like else 0,
        ablate=ablate,
        placement=Placement(device=device),
        seconds=float(settings.seconds) if settings.seconds else None,
        threads=threads[0],
        batch=batches[0],
        shapes=shapes_of(settings.shapes),
        allow_external_data=is_sent,  # in a folder that holds what was sent with it alone
        command="recorded on the Record page",
    )
    if sweep.is_sweep(batches, threads):
        folder, prefix = progress.folder(), sweep.file_prefix(job)
        recorder.RECORDER.start_sweep(sweep.sweep(job, batches, threads, folder, prefix), record)
    else:
        recorder.RECORDER.start(job, record)
    st.rerun()


def _offered_rules() -> dict[str, str]:
    """Texts of the rule files that another page asks to try, by the names of their variants."""
    offer = state.recording.offered()
    return {one.variant: one.rules for one in offer.asked if one.rules} if offer else {}


def _tries(model: str, variants: Iterable[str]) -> tuple[Try, ...]:
    """What these variants of the model try of what another page asks for; nothing without the best
    variant that they are tried beside."""
    offer, chosen = state.recording.offered(), list(variants)
    if offer is None or offer.model != model or offer.best not in chosen:
        return ()
    return tuple(one for one in offer.asked if one.variant in chosen)
