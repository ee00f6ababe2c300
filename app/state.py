"""The only file that touches the session and the address of the page."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from analysis.compare.side import Role
from analysis.errors import FuseScopeError
from analysis.experiment import Experiment
from analysis.limits import MIB
from analysis.messages import Said, language
from analysis.trace import Trace
from app.server.memory import was_freed
from app.server.same_origin import is_local
from app.server.shelf import Shelf, weight

SIDES: tuple[Role, Role] = ("baseline", "candidate")
MAX_OPENED = 40
MAX_OPENED_BYTES = 256 * MIB
_MAX_ID = 4000  # of several files
_GROUP = "group"
_TRACE = "trace"
TRACE_KEY = "choose_trace"
_SEVERAL = "variant"
SEVERAL_KEY = "choose_several"
SEVERAL_BASELINE_KEY = "choose_several_baseline"
_MAX_SEVERAL = 64
_SWEEP = "sweep"
SWEEP_KEY = "choose_sweep"
_GROUP_DIGITS = 9
_RUNS_DIGITS = 6
_RECIPE = "recipe"
_MAX_RECIPE = 60
_LANGUAGE = "lang"
LANGUAGE_KEY = "language"
_MAX_LANGUAGE = 40


@dataclass(frozen=True)
class Opened:
    """A file that was opened: `id` is what a link to it holds, without variant. `role` is the side
    of a report that it comes from: baseline or candidate, else ''."""

    id: str
    name: str
    value: Trace | Experiment
    role: str = ""


@dataclass(frozen=True)
class InEach:
    """A text that was told in every language, by code, because what it tells of may go."""

    texts: Mapping[str, str]

    def __str__(self) -> str:
        return self.texts.get(language.current()) or self.texts[language.ENGLISH]


def in_each(tell: Callable[[], str]) -> InEach:
    """What `tell` says in every language."""
    texts = {}
    for code in language.languages():
        with language.speaking(code):
            texts[code] = tell()
    return InEach(texts)


Sentence = Said | FuseScopeError | InEach


@dataclass(frozen=True)
class Fate:
    """What became of one file that was given: a sentence, and whether it was read.

    `read` is None for a note on other files than those given; `id` is that of the opened file.
    `sentence` is told when it is shown, by `text`.
    """

    name: str
    read: bool | None
    sentence: Sentence
    id: str = ""

    @property
    def text(self) -> str:
        """The sentence in the language that is spoken."""
        return str(self.sentence)


@dataclass
class Inbox:
    """What was read and has not been opened yet; `gone` is the upload that a link waits for.

    A plain object: whoever clicks ends the run at its next access to the session, so what was read
    must be safe before that.
    """

    read: list[Opened] = field(default_factory=list)
    told: list[Fate] = field(default_factory=list)
    gone: str | None = None

    def put(self, read: list[Opened], told: list[Fate], gone: str | None) -> None:
        """Keep what was read."""
        self.read, self.told, self.gone = read, told, gone


def _empty_shelf() -> Shelf[Opened]:
    return Shelf(MAX_OPENED, MAX_OPENED_BYTES, lambda file: weight(file.value))


@dataclass
class _Session:
    shelf: Shelf[Opened] = field(default_factory=_empty_shelf)
    last_opened: str = ""
    fates: list[Fate] = field(default_factory=list)
    told_beside: tuple[str | None, str | None] | None = None
    uploads: int = 0
    pair: tuple[str | None, str | None] = (None, None)
    traced: str | None = None
    several: tuple[str, ...] = ()
    swept: str | None = None
    selected: tuple[str, int | None] = ("", None)
    group: tuple[str, int | None] = ("", None)
    unfolded: tuple[str, frozenset[str]] = ("", frozenset())
    shown_rows: tuple[int, ...] = ()
    picked_beside: int = 0
    entered_runs: dict[str, int] = field(default_factory=dict)
    greeted: bool = False
    language: str = ""
    unknown_language: str = ""
    told_choices: set[str] = field(default_factory=set)
    inbox: Inbox = field(default_factory=Inbox)


def _session() -> _Session:
    session: _Session = st.session_state.setdefault("fusescope", _Session())
    return session


def _link(name: str, value: str | None) -> None:
    """Put a parameter into the address, None to take it out; nothing where it is so already."""
    if value is None:
        st.query_params.pop(name, None)
    elif st.query_params.get(name) != value:
        st.query_params[name] = value


def _linked_number(name: str, max_digits: int) -> int | None:
    """A whole number in the address; None where there is none, or one of more digits."""
    text = st.query_params.get(name, "")
    is_number = text.isascii() and text.isdecimal() and len(text) <= max_digits
    return int(text) if is_number else None


# The language of the page: the address holds it once it was chosen.


def follow_language() -> None:
    """Take the language of the address; where it has none, put the one chosen before into it."""
    session = _session()
    linked = st.query_params.get(_LANGUAGE)
    if linked is None:
        _link(_LANGUAGE, session.language or None)
        return
    code = language.best(linked[:_MAX_LANGUAGE])
    if code is None:
        session.unknown_language = linked[:_MAX_LANGUAGE]
    session.language = code or session.language
    _link(_LANGUAGE, session.language or None)


def chosen_language() -> str:
    """Code of the language that was chosen, here or in the address; '' for none."""
    return _session().language


def unknown_language() -> str:
    """What the address asked for in vain, once; '' for nothing."""
    session = _session()
    unknown, session.unknown_language = session.unknown_language, ""
    return unknown


def show_language(code: str) -> None:
    """Before the switch is drawn: the language that it shows."""
    st.session_state[LANGUAGE_KEY] = code


def pick_language() -> None:
    """The switch was used: speak that language, and keep what other widgets hold.

    A browser knows an option by its text, which is another one from here on.
    """
    session = _session()
    session.language = str(st.session_state[LANGUAGE_KEY])
    _link(_LANGUAGE, session.language)
    for key in session.told_choices & {str(key) for key in st.session_state}:
        st.session_state[key] = st.session_state[key]


def told_choice(key: str) -> str:
    """`key` itself, of a widget whose options are told: what is chosen outlives the language."""
    _session().told_choices.add(key)
    return key


# What is compared: the address holds it.


def compared() -> tuple[str | None, str | None]:
    """Ids of baseline and candidate: from the address, else what this session compared last.

    None where neither says; an id is any printable text, so whoever looks it up must check it.
    """
    linked = [st.query_params.get(side) for side in SIDES]
    if not any(linked):
        return _session().pair
    first, second = (
        text if text and len(text) <= _MAX_ID and text.isprintable() else None for text in linked
    )
    return first, second


def traced() -> str | None:
    """Id of what the Trace page shows: from the address, else what this session showed last.

    It may be any printable text, so whoever looks it up must check it.
    """
    linked = st.query_params.get(_TRACE, "")
    if linked and len(linked) <= _MAX_ID and linked.isprintable():
        return linked
    return _session().traced


def trace(id_: str | None) -> None:
    """Put what the Trace page shows into the address.

    Always: a link inside a page hands over its query but leaves the browser's address alone.
    """
    _session().traced = id_
    if id_ is None:
        st.query_params.pop(_TRACE, None)
    else:
        st.query_params[_TRACE] = id_


def show_traced(id_: str | None) -> None:
    """Before its selector is drawn: what it shows."""
    st.session_state[TRACE_KEY] = id_


def pick_traced() -> None:
    """The selector of the Trace page was used."""
    trace(st.session_state[TRACE_KEY])


def several() -> tuple[str, ...]:
    """Ids that the Variants page shows, the baseline first: from the address, else what this
    session showed last.

    They may be any printable text, so whoever looks them up must check them."""
    linked = st.query_params.get_all(_SEVERAL)[:_MAX_SEVERAL]
    asked = [id_ for id_ in linked if len(id_) <= _MAX_ID and id_.isprintable()]
    return tuple(dict.fromkeys(asked)) or _session().several


def compare_several(ids: Iterable[str]) -> None:
    """Put what the Variants page shows into the address, the baseline first.

    Always: a link inside a page hands over its query but leaves the browser's address alone.
    """
    _session().several = tuple(ids)
    st.query_params[_SEVERAL] = list(_session().several)


def several_query(ids: Iterable[str]) -> dict[str, list[str]]:
    """The query of an address of the Variants page that shows these."""
    return {_SEVERAL: list(ids)}


def show_several(ids: Iterable[str]) -> None:
    """Before the selectors of the Variants page are drawn: what they show."""
    st.session_state[SEVERAL_KEY] = list(ids)
    st.session_state[SEVERAL_BASELINE_KEY] = next(iter(ids), None)


def pick_several() -> None:
    """The selector of variants was used: the baseline stays in front while it is among them."""
    chosen = [str(id_) for id_ in st.session_state[SEVERAL_KEY]]
    front = [id_ for id_ in _session().several[:1] if id_ in chosen]
    compare_several([*front, *(id_ for id_ in chosen if id_ not in front)])


def pick_several_baseline() -> None:
    """The selector of the baseline was used."""
    first = st.session_state[SEVERAL_BASELINE_KEY]
    compare_several([first, *(id_ for id_ in _session().several if id_ != first)])


def swept() -> str | None:
    """Key of the sweep that the Scaling page shows: from the address, else what this session showed
    last. It may be any printable text."""
    linked = st.query_params.get(_SWEEP, "")
    if linked and len(linked) <= _MAX_ID and linked.isprintable():
        return linked
    return _session().swept


def sweep(key: str) -> None:
    """Put what the Scaling page shows into the address, and into its selector, before it is
    drawn."""
    _session().swept = key
    st.query_params[_SWEEP] = key
    st.session_state[SWEEP_KEY] = key


def pick_sweep() -> None:
    """The selector of the Scaling page was used."""
    key = st.session_state[SWEEP_KEY]
    _session().swept = key
    st.query_params[_SWEEP] = key


def compare(baseline: str | None, candidate: str | None) -> None:
    """Put what is compared into the address, which the page follows on its next run."""
    session = _session()
    if session.pair not in ((None, None), (baseline, candidate)):
        st.query_params.pop(_GROUP, None)  # a number means another group there
        for side in SIDES:
            st.query_params.pop(_runs_param(side), None)  # these are the runs of another file
    session.pair = (baseline, candidate)
    for side, value in zip(SIDES, (baseline, candidate), strict=True):
        _link(side, value)


def keep_compared(baseline: str | None, candidate: str | None) -> None:
    """What the Compare page shows when it is opened, which this page is not."""
    _session().pair = (baseline, candidate)


def set_selectors(baseline: str | None, candidate: str | None) -> None:
    """Before the selectors are drawn: what they show. Both must be among their options.

    Set in every run: a key's value is what another page's selector showed, and the one of this
    page, which is new, would take its first option in spite of it.
    """
    for side, value in zip(SIDES, (baseline, candidate), strict=True):
        st.session_state[selector_key(side)] = value


def replace_files(old: str, new: str | None) -> None:
    """Ids that begin with `old` begin with `new` now; with None they are compared no more."""
    pair = [
        id_ if id_ is None or not id_.startswith(f"{old}/") else new and new + id_[len(old) :]
        for id_ in _session().pair
    ]
    if None in pair and new is None:
        pair = [None, None]
    compare(*pair)


def swap() -> None:
    """Exchange baseline and candidate."""
    baseline, candidate = compared()
    compare(candidate, baseline)


def picked(side: str) -> None:
    """The selector of `side` was used: follow it, and leave the other side as it is."""
    sides: dict[str, str | None] = dict(zip(SIDES, compared(), strict=True))
    compare(**{**sides, side: st.session_state.get(selector_key(side))})


def selector_key(side: str) -> str:
    """Widget key of the selector of `side`."""
    return f"choose_{side}"


# Runs of files that do not mark theirs.


def entered_runs(baseline: str, candidate: str) -> tuple[int | None, int | None]:
    """How many runs these two hold, as entered here or in the address, which then says so."""
    kept = _session().entered_runs
    found: list[int | None] = []
    for side, id_ in zip(SIDES, (baseline, candidate), strict=True):
        linked = _linked_number(_runs_param(side), _RUNS_DIGITS)
        if id_ not in kept and linked:
            kept[id_] = linked
        runs = kept.get(id_)
        found.append(runs)
        _link(_runs_param(side), None if runs is None else str(runs))
    return found[0], found[1]


def enter_runs(id_: str, runs: int | None) -> None:
    """Keep how many runs a file holds, None to forget it; the page follows on its next run."""
    kept = _session().entered_runs
    kept.pop(id_, None)
    for side, of in zip(SIDES, _session().pair, strict=True):
        if of == id_:
            st.query_params.pop(_runs_param(side), None)
    if runs is not None:
        kept[id_] = runs


def _runs_param(side: str) -> str:
    return f"{side}_runs"


# What a link asks to record.


def preset_recording(models: Container[str], is_variant: Callable[[str], bool]) -> None:
    """Set model and variants of the Record page as its address asks, once; others are ignored."""
    model, listed = (st.query_params.get(name) for name in ("model", "variants"))
    for name in ("model", "variants"):
        st.query_params.pop(name, None)
    if model is None or model not in models:
        return
    st.session_state["record_model"] = model
    asked = [name for name in (listed or "")[:_MAX_ID].split(",") if is_variant(name)]
    if asked:
        choose_variants(asked)


def offer_rules(texts: Mapping[str, str]) -> None:
    """Rule files, by the names of their variants, that the Record page offers beside its own."""
    st.session_state["record_rules"] = dict(texts)


def offered_rules() -> dict[str, str]:
    """Texts of rule files by the names of their variants."""
    return dict(st.session_state.get("record_rules", {}))


def chosen_model() -> str:
    """The model that the Record page shows."""
    return str(st.session_state.get("record_model", ""))


def chosen_variants() -> tuple[str, ...]:
    """Those that the Record page shows."""
    return tuple(map(str, st.session_state.get("record_variants", ())))


def choose_variants(variants: Iterable[str]) -> None:
    """Before they are drawn, or in a callback: the variants that the Record page shows."""
    st.session_state["record_variants"] = list(variants)


# Files that were opened: by anybody where the server is one user's own, else by this session.


def opened() -> dict[str, Opened]:
    """Files that are open to this session, oldest first, by id."""
    return _shelf().values()


def remember(files: Iterable[Opened]) -> list[Opened]:
    """Keep opened files; beyond the bounds those used longest ago go and are returned."""
    by_id = {file.id: file for file in files}
    if by_id:
        _session().last_opened = next(reversed(by_id))
        was_freed()
    return _shelf().put(by_id)


def use(id_: str) -> None:
    """The file of this id is on screen, so others make room before it."""
    _shelf().get(id_)


def last_opened() -> str:
    """Id of the file that this session opened last; empty where it opened none."""
    return _session().last_opened


def _shelf() -> Shelf[Opened]:
    return _server_shelf() if is_local() else _session().shelf


@st.cache_resource(show_spinner=False)
def _server_shelf() -> Shelf[Opened]:
    """Files of a server that is one user's own: a reload and a second tab find them again."""
    return _empty_shelf()


def fates() -> list[Fate]:
    """What became of the files given last."""
    return _session().fates


def tell(fates: list[Fate]) -> None:
    """Show these fates until the next files are given."""
    _session().fates = fates
    _session().told_beside = None


def unchanged_since_told() -> bool:
    """True while the pair is the one beside which the fates were first shown."""
    session = _session()
    if session.told_beside is None:
        session.told_beside = session.pair
    return session.told_beside == session.pair


def inbox() -> Inbox:
    """What was read and has not been opened yet."""
    return _session().inbox


def upload_key() -> str:
    """Widget key of the uploader; a new one after each upload, so that it is empty again."""
    return f"upload_{_session().uploads}"


def empty_uploader() -> None:
    """Let the uploader forget its files: they have been read."""
    _session().uploads += 1


# The operator that is highlighted in table and timeline.


def selected_row(of: str) -> int | None:
    """The highlighted row of comparison `of`; None for another comparison's."""
    name, row = _session().selected
    return row if name == of else None


def select_row(of: str, row: int | None) -> None:
    """Highlight `row` of comparison `of`."""
    _session().selected = (of, row)


def picked_beside() -> int:
    """How often the user picked something beside a table, which it must then bring into view."""
    return _session().picked_beside


def pick_beside() -> None:
    """The user picked something beside a table, as in the timelines."""
    _session().picked_beside += 1


def mark_table(key: str, rows: Iterable[int], selected: int | None) -> None:
    """Before the table is drawn: the rows that it shows, and the one that is highlighted."""
    session = _session()
    session.shown_rows = tuple(rows)
    shown = session.shown_rows
    mark_line(key, shown.index(selected) if selected in shown else None)


def table_clicked(key: str, of: str) -> None:
    """A row of the table was clicked: highlight its operator, or none."""
    shown, position = _session().shown_rows, clicked_line(key)
    select_row(of, shown[position] if position is not None and position < len(shown) else None)


def mark_line(key: str, position: int | None) -> None:
    """Before the table `key` is drawn: highlight this line of it, or none."""
    selection = {"rows": [] if position is None else [position], "columns": [], "cells": []}
    if _selection(key) != selection:
        st.session_state[key] = {"selection": selection}


def clicked_line(key: str) -> int | None:
    """The line of the table `key` that was clicked, in any of its cells; None for none."""
    selection = _selection(key)
    lines = [row for row, _ in selection["cells"]] or selection["rows"]
    return lines[0] if lines else None


def _selection(key: str) -> dict[str, list[Any]]:
    state: Any = st.session_state.get(key) or {}
    found = state.get("selection", {})
    return {kind: list(found.get(kind, [])) for kind in ("rows", "columns", "cells")}


# The fusion group that is shown, and the patterns that are unfolded.


def selected_group(of: str) -> int | None:
    """The group of comparison `of` that is shown: chosen here, else the one in the address.

    It may be any number, so whoever looks it up must check it.
    """
    name, group = _session().group
    if name == of:
        return group
    return _linked_number(_GROUP, _GROUP_DIGITS)


def select_group(of: str, group: int | None) -> None:
    """Show `group` of comparison `of`, and put it into the address."""
    _session().group = (of, group)
    _link(_GROUP, None if group is None else str(group))


def unfolded(of: str) -> frozenset[str]:
    """Keys of the patterns of comparison `of` whose groups are shown."""
    name, keys = _session().unfolded
    return keys if name == of else frozenset()


def unfold(of: str, keys: Iterable[str]) -> None:
    """Show the groups of these patterns of comparison `of`, and of no others."""
    _session().unfolded = (of, frozenset(keys))


# The recipe that is shown.


def recipe() -> str | None:
    """Name of the recipe in the address; None for all of them.

    It is any printable text, so whoever looks it up must check it.
    """
    linked = st.query_params.get(_RECIPE, "")
    return linked[:_MAX_RECIPE] if linked and linked.isprintable() else None


def keep_recipe(name: str | None) -> None:
    """Put the recipe that is shown into the address, None for all of them.

    Always: a link inside a page hands over its query but leaves the browser's address alone.
    """
    if name is None:
        spoken = {_LANGUAGE: _session().language} if _session().language else {}
        st.query_params.from_dict(spoken)
    else:
        st.query_params[_RECIPE] = name


def recipe_query(name: str) -> dict[str, str]:
    """The query of an address that shows this recipe."""
    return {_RECIPE: name}


# The rest.


def greeted() -> bool:
    """False on the first run of a session, True ever after."""
    session = _session()
    before, session.greeted = session.greeted, True
    return before
