"""The Record page: record a model's variants on this machine and open the result in Compare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st

from analysis import units, wording
from analysis.compare.timing.verdict import paired_verdict
from analysis.errors import FuseScopeError
from analysis.experiment import Try
from analysis.messages import Message, Said, say
from analysis.wording.sentences import pair_parts
from app import state
from app.parts import panels
from app.parts.advice import tried
from app.parts.heads import told
from app.parts.recording import engines
from app.recording import own_models as own
from app.recording import progress, recorder, sweep
from app.recording.own_models import OwnModels
from app.recording.recorder import Status
from app.recording.shapes import shapes_of
from app.sources import choices, places, sweeps

OWN_FILE = ""
BUDGETS = {
    15: Message("15 s"),
    30: Message("30 s"),
    60: Message("1 min"),
    180: Message("3 min"),
    0: Message("until decided"),
}
MAX_THREADS, MAX_BATCH = 1024, 65536
_MAX_NUMBERS = 200  # characters
OWN_RULES = Message("FuseScope's own fusion pass with your rule file")
RULES = "rules:"
_NO_RULE_FILES = Message(
    "To choose your own rule file here, put it, as a {suffix:name} file, into a folder that the "
    "dashboard is started with: {command:name}."
)
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
    Message("Recording stops after 8, 14 or 24 blocks, as soon as the answer is clear."),
    Message("Do not use the machine for other work while the recording runs."),
)


def show(compare_page: st.Page, scaling_page: st.Page) -> None:
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
            status = recorder.RECORDER.status
            if status is not None and status.running:
                progress.running()
                return
            if status is not None and status.settings:
                progress.sweep_result(status, scaling_page, _swept(status))
            elif status is not None:
                _result(status, compare_page)
            _form()
            _kept(compare_page)


def _explain() -> None:
    with st.container(border=True):
        st.subheader(say("How it is measured"), anchor=False)
        st.markdown("\n".join(f"- {panels.strong(line.parts())}" for line in _HOW))
    with st.container(border=True):
        st.markdown(say("The command line has more options and does not need a browser:"))
        st.code("fusescope collect --help", language=None)
        st.caption(say("Recordings are stored in this folder:"))
        st.code(str(places.experiments_folder()), language=None, wrap_lines=True)


def _form() -> None:
    """What to record."""
    from collectors.record import (
        OWN,
        engine_models,
        is_ready,
        runtimes_of,
        summary_of,
        variant_names,
        zoo_models,
    )

    zoo = {**zoo_models(), **engine_models()}
    offered = _offered_rules()
    listed = own.found(places.folders())
    models = [*zoo, *(f"{own.PREFIX}{name}" for name in listed.bytes_of)]
    state.recording.preset_recording(
        models, lambda name: name in offered or summary_of(name) is not None
    )
    model = _model(zoo, listed)
    path = ""
    if model == OWN_FILE:
        path = st.text_input(
            say("Path of the ONNX file"),
            key="record_path",
            max_chars=1000,
            placeholder=say("path below a folder that the dashboard was started with"),
            help=say("The file must contain its weights. External data is not read here."),
        )
    runtime = engines.choose(runtimes_of(model), _bring_variants)
    is_own = runtime == OWN
    takes_files = OWN in runtimes_of(model)
    if not is_ready(runtime):
        engines.how_to_add(runtime)
        return
    if not is_own:
        engines.explain(runtime, takes_files=takes_files)
    variants, rule_files = variant_names(runtime), dict[str, Path]()
    if is_own:
        rule_files = {f"{RULES}{name}": path for name, path in places.rule_files().items()}
    chosen = _variants(model, runtime, variants, rule_files)
    tries = _tries(model, chosen) if is_own else ()
    if tries:
        st.info(_TRYING.text(), icon=":material/science:")
    ablate = engines.ablate(runtime, is_own=is_own)
    settings = _settings(takes_files)
    if st.button(
        say("Record"), key="record_start", type="primary", icon=":material/radio_button_checked:"
    ):
        with panels.guarded(say("This cannot be recorded.")):
            _start(
                runtime,
                path if model == OWN_FILE else model.removeprefix(own.PREFIX),
                model not in zoo,
                chosen,
                tries,
                [rule_files[name] for name in chosen if name in rule_files],
                ablate,
                settings,
            )


def _variants(
    model: str,
    runtime: str,
    variants: Mapping[str, Message | Said],
    rule_files: Mapping[str, Path],
) -> list[str]:
    """The variants that are chosen, each with what it is below."""
    from collectors.record import OWN, first_variants, summary_of

    files = {**rule_files, **_offered_rules()} if runtime == OWN else {}
    listed = [*variants, *(name for name in files if name not in variants)]
    asked = [name for name in state.recording.chosen_variants() if name not in listed]
    chosen = st.multiselect(
        say("Variants"),
        [*listed, *(name for name in asked if runtime == OWN and summary_of(name) is not None)],
        default=[name for name in first_variants(model, runtime) if name in variants],
        help="\n".join(
            f"- **{name}**: {panels.own(told(text))}" for name, text in variants.items()
        ),
        key="record_variants",
        persist_state="session",
    )
    for name in chosen:
        what = told(variants.get(name) or summary_of(name) or OWN_RULES)
        st.caption(panels.own(say("{variant:name}: {what}", variant=name, what=what)))
    if not rule_files and runtime == OWN:
        command = "fusescope serve --folder DIR"
        parts = _NO_RULE_FILES.parts(suffix=".toml", command=command)
        st.caption(panels.parts_text(parts, "gray"))
    return chosen


@dataclass(frozen=True)
class _Settings:
    """How it is recorded: `threads` and `batch` as typed, one number or several; `seconds` 0 for
    no time budget."""

    seconds: int | None
    threads: str
    batch: str
    shapes: str


def _settings(has_sizes: bool) -> _Settings:
    """Sizes are those of an ONNX model."""
    seconds = st.segmented_control(
        say("Time budget"),
        list(BUDGETS),
        default=60,
        format_func=lambda seconds: panels.segment(BUDGETS[seconds].text()),
        key=state.language.told_choice("record_seconds"),
        required=True,
        help=say(
            "The number of rounds is reduced to fit. A large model may need longer for its first "
            "blocks."
        ),
        persist_state="session",
    )
    left, right = st.columns(2)
    several = say(
        "A number, or several with commas between them, as {example:name}: then every combination "
        "of batch size and threads is recorded, one after the other within the time budget, and "
        "shown on the {page} page.",
        example="1,4,16",
        page=say("Scaling"),
    )
    threads = left.text_input(
        say("Threads"),
        max_chars=_MAX_NUMBERS,
        placeholder=say("physical cores"),
        key="record_threads",
        help=several,
        persist_state="session",
    )
    if not has_sizes:
        return _Settings(seconds, threads or "", "", "")
    batch = right.text_input(
        say("Batch size"),
        max_chars=_MAX_NUMBERS,
        placeholder=say("that of the model, else 1"),
        key="record_batch",
        help=several,
        persist_state="session",
    )
    with st.expander(say("More settings"), key="record_more"):
        shapes = st.text_input(
            say("Input shapes"),
            key="record_shapes",
            max_chars=2000,
            placeholder="input=1,3,224,224; mask=1,128",
            help=say(
                "Needed where the model leaves dimensions open. Write {example:name}, with a "
                "semicolon between inputs. An open first dimension needs no size: it is the batch "
                "size, else 1.",
                example="name=1,3,224,224",
            ),
            persist_state="session",
        )
    return _Settings(seconds, threads or "", batch or "", shapes or "")


def _model(zoo: Mapping[str, Message | Said], found: OwnModels) -> str:
    """The model that is chosen: the name of one that is built in, a file of one's own behind
    own.PREFIX, or OWN_FILE for one that is not listed. Another model brings its own variants."""
    files = {f"{own.PREFIX}{name}": size for name, size in found.bytes_of.items()}
    options = [*zoo, *files]
    if places.folders() and (found.is_cut or not files):
        options.append(OWN_FILE)

    def label(name: str) -> str:
        if name == OWN_FILE:
            return say("my own ONNX file, by its path")
        if name in files:
            file = name.removeprefix(own.PREFIX)
            return say("{file:name}, {size:bytes}", file=file, size=files[name])
        return say("{model:name}: {what}", model=name, what=told(zoo[name]))

    first = places.FIRST_SAMPLE
    return st.selectbox(
        say("Model"),
        options,
        index=options.index(first) if first in options else 0,
        format_func=label,
        key=state.language.told_choice("record_model"),
        persist_state="session",
        on_change=_bring_variants,
        help=None
        if places.folders()
        else say(
            "Your own ONNX files are listed here when the dashboard is started with {option:name}.",
            option="--folder DIR",
        ),
    )


def _bring_variants() -> None:
    """Chooses the variants that show the point of the model and the engine that are chosen now."""
    from collectors.record import first_variants, runtimes_of, variant_names

    model = state.recording.chosen_model()
    runtime = state.recording.chosen_engine(runtimes_of(model))
    known = variant_names(runtime)
    state.recording.choose_variants(
        name for name in first_variants(model, runtime) if name in known
    )


def _start(
    runtime: str,
    model: str,
    is_path: bool,
    variants: list[str],
    tries: tuple[Try, ...],
    rule_files: Iterable[Path],
    ablate: bool,
    settings: _Settings,
) -> None:
    from app.sources.rule_files import read_variants
    from collectors.record import Recording, record

    if is_path:
        model = str(places.path_below_folders(model))
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
        seconds=float(settings.seconds) if settings.seconds else None,
        threads=threads[0],
        batch=batches[0],
        shapes=shapes_of(settings.shapes),
        allow_external_data=False,
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


def _result(status: Status, compare_page: st.Page) -> None:
    """What came of the last recording; of tries what was predicted beside what they brought."""
    record = None if status.path is None else choices.record_at(status.path)
    if status.path is None or record is None or not record.tries:
        progress.result(status, compare_page, _recorded(status), _verdicts(status))
        return
    show = partial(tried.show, record, status.path.stem)
    progress.result(status, compare_page, _recorded(status), beside=show)


def _swept(status: Status) -> dict[str, str]:
    """The query that shows what was recorded on the Scaling page; {} where there is nothing."""
    records = filter(None, map(choices.record_at, status.paths))
    found = sweeps.sweeps(state.files.opened())
    keys = (sweeps.key_of(record) for record in records)
    key = next((key for key in keys if key in found), None)
    return {} if key is None or len(status.paths) < 2 else state.pages.sweep_query(key)


def _recorded(status: Status) -> dict[str, str]:
    """The query that compares what was recorded; {} where there is nothing to compare."""
    if status.path is None:
        return {}
    baseline, candidate = choices.recorded_pair(status.path)
    if baseline is None or candidate is None:
        return {}
    return {"baseline": baseline, "candidate": candidate}


def _verdicts(status: Status) -> list[str]:
    """How each variant compares with the baseline of what was recorded."""
    record = None if status.path is None else choices.record_at(status.path)
    if record is None:
        return []
    baseline = record.settings.baseline
    sentences = []
    for variant in record.variants:
        if variant.name != baseline:
            verdict = paired_verdict(record, baseline, variant.name)
            parts = pair_parts(verdict, baseline, variant.name)
            interval = wording.verdict_interval(verdict)
            said = "".join(part.text for part in parts)
            sentences.append(
                say("{verdict:name} ({interval:name}).", verdict=said, interval=interval)
                if interval
                else say("{verdict:name}.", verdict=said)
            )
    return sentences


def _kept(compare_page: st.Page) -> None:
    """What lies in the folder of recordings: open, rename, delete."""
    from app.recording import kept

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
        pair = choices.recorded_pair(found[name])
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
    record = None if path is None else choices.record_at(path)
    if path is None or record is None:
        return say("{file:name} · not an experiment that can be read", file=name)
    variants = ", ".join(variant.name for variant in record.variants)
    size = units.data_size(path.stat().st_size)
    day = record.created[:16].replace("T", " ")
    return f"{name} · {record.model.name} · {variants} · {day} · {size}"
