"""The pair that is compared: selectors, files, links, and what to do while a side is missing.

Compare and Fusion show the same pair; the address of either holds it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.uploaded_file_manager import UploadedFile

from analysis.compare.assumptions import Assumptions
from analysis.messages import Message, paragraph, say
from analysis.text import display_name
from analysis.trace import Trace
from analysis.wording import shown as words
from app import state
from app.parts import doctor, panels, ticks
from app.parts.upload import large
from app.server.same_origin import is_local
from app.server.spool import SPOOL, Received
from app.sources import choices, comparisons, loading, places, sides, uploads
from app.sources.choices import Pair
from app.sources.comparisons import Shown
from app.state.opened import Opened

_SIDES = {"baseline": Message("Baseline"), "candidate": Message("Candidate")}
_WIDTHS = (2.6, 1)
_MANY_FATES = 4
_FATES_HEIGHT = 420
_SELECTORS = (1.25, 1)  # the button that swaps them stands beside the first


@dataclass(frozen=True)
class Chosen:
    """Ids of both sides, and where the page goes on: the wide column and the one beside it."""

    baseline: str
    candidate: str
    main: DeltaGenerator
    side: DeltaGenerator

    def compare(self, assumptions: Assumptions) -> Shown | None:
        """The comparison of both sides, with a spinner in the wide column while it is made; None
        where the file of one ends early, which that column says then."""
        runs = state.pair.entered_runs(self.baseline, self.candidate)
        assumptions = replace(assumptions, runs=runs)
        uploads_ = any(loading.is_upload(id_) for id_ in (self.baseline, self.candidate))
        private = uploads_ and not is_local()
        with self.main, st.spinner(words.comparing_sentence()):
            pair = loading.pair(self.baseline, self.candidate, state.files.opened())
            if panels.end_early(pair):
                return None
            return comparisons.compare(*pair, assumptions, private=private)


def choose(
    trace_page: st.Page | None = None, variants_page: st.Page | None = None
) -> Chosen | None:
    """Draw the selectors and the uploader; None when there is nothing to compare, which it says,
    with the way to the `trace_page` where one side is there. A single trace that was just opened
    leads to that page, a report of several to the `variants_page`."""
    is_new = not state.session.is_greeted()
    elsewhere = _open_given() or _follow_read()
    if len(elsewhere) == 1 and trace_page is not None:
        st.switch_page(trace_page, query_params={"trace": elsewhere[0]})
    if len(elsewhere) > 1 and variants_page is not None:
        st.switch_page(variants_page, query_params=state.pages.several_query(elsewhere))
    pair, gone = _asked(is_new)
    baseline, candidate = pair
    is_whole = gone is None and None not in pair
    own = is_whole and not all(choices.is_sample(id_) for id_ in pair if id_)
    # A note on other files, as of those closed to make room, is not a refusal.
    given = [fate for fate in state.files.fates() if fate.read is not None]
    refused = bool(given) and not any(fate.read for fate in given)
    # On a narrow page columns follow each other: files are opened above the verdict there, too.
    head, files = st.columns(_WIDTHS, gap="medium", vertical_alignment="bottom" if own else "top")
    main, side = st.columns(_WIDTHS, gap="medium")
    with head:
        labels = _choose(pair)
    with main if own else head:  # beside the uploader there is room for it
        below = st.container(gap="xsmall")  # its place is kept, so nothing else is drawn anew
        # Emptied at once: the note must not stand above the verdict of the user's own files.
        of_sample = below.empty()
    with files:
        _files(gone, below, side, folded=own)
        ticks.show(pair)
    with side:
        if not refused:
            _fates()
    if refused:
        with below:
            _fates(labels if is_whole else ())
    if gone is not None or baseline is None or candidate is None:
        with main:
            _nothing(pair, gone)
            alone = next(filter(None, pair), None)
            if gone is None and alone is not None and trace_page is not None:
                st.page_link(
                    trace_page,
                    label=say("See where its time goes, and what limits it"),
                    icon=":material/query_stats:",
                    query_params={"trace": alone},
                )
        return None
    sample = words.sample_sentence(choices.is_sample(baseline), choices.is_sample(candidate))
    if sample:
        with of_sample.container():
            panels.note(sample, ":gray[:material/science:]")
    return Chosen(baseline, candidate, main, side)


def _asked(is_new: bool) -> tuple[Pair, str | None]:
    """Ids to compare, all of which can be chosen, and an upload that a link names in vain.

    A session that `is_new` reads files below the folders again: they may have changed.
    """
    asked = state.pair.compared()
    of_several = any(side and sides.is_several(side) for side in asked)
    for id_ in (one for side in asked if side for one in sides.members(side)):
        known_files = {} if is_new else state.files.opened()
        read, told = loading.open_link(id_, known_files, is_one_of_several=of_several)
        told += loading.closed(state.files.remember(read))
        if told:
            state.files.tell(told)
        file = loading.opened_as(id_, state.files.opened())
        if file is not None:
            state.files.use(file.id)
    known = {choice.id for choice in _choices(asked)}
    missing = [
        one
        for id_ in asked
        if id_ and id_ not in known
        for one in sides.members(id_) or (id_,)
        if one not in known
    ]
    first, second = (id_ if id_ in known else None for id_ in asked)
    pair: Pair = (first, second)
    gone = next(filter(loading.is_upload, missing), None)
    if gone is not None:
        return pair, gone
    if missing and not state.files.fates():
        state.files.tell([loading.NOT_HERE])
    if pair == (None, None):
        pair = choices.first_pair()
    state.pair.compare(*pair)
    return pair, None


def _choices(pair: Pair) -> tuple[choices.Choice, ...]:
    """What can stand on a side, and the sides of several files that are asked for."""
    return choices.with_several(choices.choices(state.files.opened(), pair), pair)


def _choose(pair: Pair) -> tuple[str, ...]:
    """The two selectors and the button that swaps them; the labels of the pair are returned."""
    labels = {choice.id: choice.label for choice in _choices(pair)}
    state.pair.set_selectors(*pair)
    first, right = st.columns(_SELECTORS, vertical_alignment="bottom", gap="xsmall")
    left = first.container(horizontal=True, vertical_alignment="bottom", gap="xsmall")
    for column, side in ((left, "baseline"), (right, "candidate")):
        column.selectbox(
            _SIDES[side].text(),
            list(labels),
            index=None if None in pair else 0,  # None could be cleared again
            format_func=lambda id_: labels.get(id_, ""),
            key=state.pair.selector_key(side),
            on_change=state.pair.picked,
            args=(side,),
            placeholder=say("Choose one, or open a file"),
        )
    left.button(
        say("Swap"),
        key="swap",
        help=say("Swap baseline and candidate"),
        on_click=state.pair.swap,
        disabled=None in pair,
    )
    return tuple(labels.get(id_ or "", "") for id_ in pair)


def _files(gone: str | None, below: DeltaGenerator, side: DeltaGenerator, *, folded: bool) -> None:
    """Where files are opened: in the open, paths at the `side`, or all `folded` to a button."""
    box = st.container()
    paths = side
    if folded:
        # A new key after each upload closes it.
        paths = box = st.popover(
            say("Open files"),
            icon=":material/upload_file:",
            width="stretch",
            key=f"folded_{state.files.upload_key()}",
        )
    with box:
        dropped = st.file_uploader(
            say("Drop traces here · nothing leaves this machine"),
            accept_multiple_files=True,
            key=state.files.upload_key(),
            help=panels.own(
                say(
                    "Files of any profiler in docs/formats.md, plain or packed with gzip or zstd, "
                    "a zip or tar of a profiler's folder, or an experiment; several files at once. "
                    "Files of one recording are read together. Of two recordings, one becomes the "
                    "baseline. "
                    "Files above {limit} go through the button below it, or are opened by their "
                    "path, if the dashboard was started with {option:name}.",
                    limit="256 MB",
                    option="--folder DIR",
                )
            ),
        )
        if dropped:
            _open(dropped, gone, below)
        sent = large.received()
        if sent:
            _open_received(sent, gone, below)
        _close_buttons()
    with paths:
        if places.folders():
            _path_input(gone)
        elif not SPOOL.is_served:
            st.caption(panels.parts_text(_LARGER.parts(option="--folder DIR"), "gray"))


def _close_buttons() -> None:
    """Each opened file with a button that closes it; the lists have it no more then."""
    files = state.files.opened()
    if not files:
        return
    with st.container(
        height=_CLOSE_HEIGHT if len(files) > _MANY_FATES else "content", border=False
    ):
        for file in reversed(list(files.values())):
            st.button(
                panels.parts_text(
                    _CLOSE.parts(file=display_name(file.name)), "gray", panels.WHOLE_NAME_CHARS
                ),
                key=f"close_{file.id}",
                icon=":material/close:",
                type="tertiary",
                on_click=state.files.close,
                args=(file.id,),
            )


_CLOSE = Message("Close {file:name}")
_CLOSE_HEIGHT = 160  # pixels; more files than fit scroll
_LARGER = Message("For larger files, start with {option:name} and give the path here.")


def _fates(still: tuple[str, ...] = ()) -> None:
    """What became of the files given last, and that the pair `still` is shown after a refusal."""
    told = state.files.fates()
    if not told:
        return
    # Many files would push the page far down: they scroll.
    many = len(told) > _MANY_FATES
    with st.container(border=True, height=_FATES_HEIGHT if many else "content"):
        for index, fate in enumerate(told):
            panels.fate(fate)
            if fate.report is not None:
                _offer_export(fate.report, index)
            if fate.id in state.files.opened():
                doctor.link_to(state.files.opened()[fate.id], key=f"fate_{index}")
        if still and state.files.unchanged_since_told():
            panels.note(words.unchanged_sentence(*still), ":gray[:material/info:]")
        st.button(
            say("Hide"), key="hide_fates", type="tertiary", on_click=state.files.tell, args=([],)
        )


def _offer_export(report: Path, index: int) -> None:
    """The button that lets `nsys` of this machine export a report of Nsight Systems."""
    label = say("Export it with nsys and open that")
    if st.button(label, key=f"export_{index}", icon=":material/play_arrow:"):
        inbox = state.files.inbox()
        with st.spinner(say("nsys exports the report …")):
            inbox.put(*loading.open_report(report), None)
        st.rerun()


def greet() -> None:
    """Open the files of the command line on another page than Compare, where a session begins."""
    _open_given(state.pair.keep_compared)


def _open_given(
    keep: Callable[[str | None, str | None], None] = state.pair.compare,
) -> tuple[str, ...]:
    """The files of the command line, the pair of which is kept; ids of what another page shows,
    where the address asks for nothing. Nothing where this session has opened them: a run that ends
    while they are read, as by a click on another page, leaves them to the next one."""
    place = st.empty()  # in every run, so that nothing below is drawn anew
    if state.session.is_greeted():
        return ()
    names = [panels.name(name) for name in places.given_files()]
    with place, st.spinner(words.opening_sentence(names)) if names else nullcontext():
        read, told = loading.open_given()
    state.session.greet()
    if told:
        state.files.tell(told + loading.closed(state.files.remember(read)))
        if read and state.pair.compared() == (None, None):
            pair = choices.suggested(_kept(read), in_order=True)
            keep(*pair)
            _tell_why(_kept(read), pair)
            _assume(_kept(read), pair)
            return _elsewhere(_kept(read), pair)
    return ()


def _open(files: list[UploadedFile], gone: str | None, below: DeltaGenerator) -> None:
    """Read what was uploaded, and start again, which opens it."""
    inbox = state.files.inbox()
    names = [panels.name(display_name(file.name)) for file in files]
    with below, st.spinner(words.reading_sentence(names)):
        inbox.put(*uploads.open_uploads(files), gone)
    st.rerun()


def _open_received(sent: list[Received], gone: str | None, below: DeltaGenerator) -> None:
    """As `_open`, of files that lie on the disk of the server."""
    inbox = state.files.inbox()
    names = [panels.name(display_name(file.name)) for file in sent]
    with below, st.spinner(words.reading_sentence(names)):
        inbox.put(*uploads.open_received(sent), gone)
    st.rerun()


def _path_input(gone: str | None) -> None:
    with st.form("path_form", clear_on_submit=True, border=False):
        row = st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall")
        text = row.text_input(
            say("Or a file of any size, by its path"),
            key="path",
            max_chars=1000,
            placeholder=say("below a configured folder"),
            help=panels.own(
                say(
                    "A file, or a profiler's folder, below a folder that the dashboard was started "
                    "with ({option:name}).",
                    option="--folder DIR",
                )
            ),
        )
        clicked = row.form_submit_button(say("Open"), key="open_path")
    if clicked and text:
        inbox = state.files.inbox()
        inbox.put(*loading.open_paths([text]), gone)
        st.rerun()


def _follow_read() -> tuple[str, ...]:
    """Open what was read in the run before; should this run end here, the next one goes on. The ids
    of what another page shows are returned, unless there is a refusal to be read."""
    inbox = state.files.inbox()
    if not inbox.told:
        return ()
    before = state.files.last_opened()
    refused = any(fate.read is False for fate in inbox.told)
    inbox.told += loading.closed(state.files.remember(inbox.read))
    state.files.tell(list(inbox.told))
    elsewhere = _follow(inbox.read, inbox.gone, before)
    state.files.empty_uploader()
    inbox.put([], [], None)
    return () if refused else elsewhere


def _follow(read: list[Opened], gone: str | None, before: str) -> tuple[str, ...]:
    """Compare what was just opened, unless it is what a link has been waiting for; ids of what
    another page shows."""
    if not read or (gone is not None and any(gone.startswith(file.id) for file in read)):
        return ()
    kept = _kept(read)
    pair = choices.suggested(kept)
    if None in pair:
        pair = choices.suggested([*_waiting(kept, before), *kept])
    state.pair.compare(*pair)
    _tell_why(kept, pair)
    _assume(kept, pair)
    return _elsewhere(kept, pair)


def _tell_why(read: list[Opened], pair: Pair) -> None:
    """Say how the pair was chosen, where there were more files than two."""
    note = choices.why_suggested(read, pair)
    if note is not None:
        state.files.tell([note, *state.files.fates()])


def _elsewhere(read: list[Opened], pair: Pair) -> tuple[str, ...]:
    """Ids of what another page shows than a pair: what a report of several compares, which the
    Variants page shows from now on, or the trace that stands alone."""
    several = choices.of_report(read)
    if several:
        state.pages.keep_several(several)
        return several
    return (pair[1],) if pair[0] is None and pair[1] is not None else ()


def _assume(read: list[Opened], pair: Pair) -> None:
    """Start with the settings of the report that was read, where that is what is compared."""
    assumed = next((file.assumed for file in read if file.assumed is not None), None)
    if assumed is not None and choices.suggested(read) == pair:
        state.pair.assume(assumed, pair)


def _waiting(kept: list[Opened], before: str) -> list[Opened]:
    """The profile that one profile alone is compared with: the one whose page asks for another,
    else the one that this session opened `before`, else one of those on screen."""
    shown = state.pair.compared()
    alone = shown if None in shown else ()
    for id_ in (*alone, before, *reversed(shown)):
        file = state.files.opened().get(id_ or "")
        is_other = file is not None and file.id not in {one.id for one in kept}
        if file is not None and is_other and isinstance(file.value, Trace):
            return [file]
    return []


def _kept(read: list[Opened]) -> list[Opened]:
    """Those that are open still: of many at once the first make room for the others."""
    return [file for file in read if file.id in state.files.opened()]


def _nothing(pair: Pair, gone: str | None) -> None:
    """What to do where there is nothing to show."""
    if gone is not None:
        own = is_local()
        st.subheader(
            say("This link leads to an upload that is no longer here")
            if own
            else say("This link leads to a file of another browser tab"),
            anchor=False,
        )
        stay = (
            paragraph(say("Uploads stay until the dashboard ends."), loading.keeps())
            if own
            else say("Uploads stay with the tab that opened them, until it is closed or reloaded.")
        )
        again = say(
            "Open the same file again and the comparison appears here, or choose another file."
        )
        st.markdown(panels.own(paragraph(stay, again)))
    elif pair == (None, None):
        st.subheader(say("Nothing to compare yet"), anchor=False)
        st.markdown(
            panels.own(
                say(
                    "Open two profiles or an experiment, or record a model on the {page} page.",
                    page=say("Record"),
                )
            )
        )
    else:
        title = (
            say("Choose a baseline to compare with")
            if pair[0] is None
            else say("Choose a candidate to compare with")
        )
        st.subheader(title, anchor=False)
        st.markdown(say("Open the other profile of the same model, or choose one in the list."))
