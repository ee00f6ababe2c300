"""Small shared pieces of page. Every text from a trace goes through a safe sink here.

Streamlit reads labels, captions and alerts as Markdown, where a name could fetch an image or pose
as a link. So text from a file goes to st.text, st.code or a table cell, or through `code_span`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fusescope.analysis import units, wording
from fusescope.analysis.colours import Colours, colours_of
from fusescope.analysis.compare.comparison import Comparison, Figure
from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.trust import Trust
from fusescope.analysis.compare.trust import trust as trust_of
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message, Part, paragraph, say
from fusescope.app import language, state
from fusescope.app.state.opened import Fate

PAGE_WIDTH = 1640
_IMAGES = Path(__file__).parents[1] / "images"
_LOG = logging.getLogger("fusescope")
DeltaColor = Literal["gray", "blue", "red"]
# Underscores inside a word emphasise nothing; with several it is the name of a kernel.
_PLAIN = re.compile(r"(?!\w*_\w*_)[A-Za-z0-9]+(?:(?: \+ | ×|[ _-])[A-Za-z0-9]+)*")
_TYPE = re.compile(r"[A-Za-z0-9_:.]+|…")
_NAME_CHARS = 34
WHOLE_NAME_CHARS = 72  # of a file that must be told from others by its name
_MAX_LISTED = 4
_COMMAND_CHARS = 80
_COMMANDS = ("fusescope ", "pip install ", "--")
_WARNING = ":orange[:material/warning:]"
_INFO = ":gray[:material/info:]"
_IS_SAMPLE = Message("Sample: a file that comes with FuseScope, not one of yours.")
_FATE_ICONS = {
    True: ":blue[:material/check_circle:]",
    False: ":red[:material/error:]",
    None: ":gray[:material/info:]",
}


def set_up() -> None:
    """Page settings that all pages share."""
    st.set_page_config(
        page_title="FuseScope",
        page_icon=str(_IMAGES / "icon.png"),
        layout="wide",
        initial_sidebar_state="collapsed",
        menu_items={"Get help": None, "Report a bug": None, "About": None},
    )
    st.logo(str(_IMAGES / "wordmark.svg"), size="large")


@contextmanager
def page() -> Iterator[None]:
    """The body of a page: one width for all, and an error is a sentence, never a stack trace."""
    with (
        st.container(horizontal_alignment="center"),
        st.container(width=PAGE_WIDTH),
        guarded(),
    ):
        yield


@contextmanager
def guarded(failed: str = "") -> Iterator[None]:
    """Errors inside become sentences, after `failed`; what nobody foresaw goes to the log."""
    try:
        yield
    except FuseScopeError as error:
        problem(error, failed or say("This cannot be shown."))
    except Exception as error:  # noqa: BLE001 - the page shows a sentence, the log the rest
        unexpected(error)


def unexpected(error: Exception) -> bool:
    """Log an error that nobody foresaw and say so in one sentence; True: it has been shown."""
    _LOG.error("unexpected error on a page", exc_info=error)
    language.speak()  # a callback runs before its page does
    st.error(
        say(
            "Something went wrong inside FuseScope. The server's log says where; reload the page "
            "to go on."
        ),
        icon=":material/error:",
    )
    return True


def problem(error: FuseScopeError, failed: str) -> None:
    """An error that the user can act on; its text may quote a file, `failed` must not."""
    st.error(failed, icon=":material/error:")
    code(error.text)


def end_early(sides: Iterable[Side]) -> bool:
    """Whether files of these sides end early, each said as a headline of its own."""
    cut = [side for side in sides if side.trace.ends_early]
    for side in cut:
        st.header(parts_text(wording.trace_parts(side), "red"), anchor=False)
        if len(side.label) > _NAME_CHARS:  # the headline has it without its middle
            st.write(own(side.label))
        st.error(own(wording.trace_facts(side)), icon=":material/content_cut:")
    return bool(cut)


def code(text: str) -> None:
    """Draw `text` as it is, with a button that copies it; long lines go on in the next one."""
    st.code(text, language=None, wrap_lines=True)


def code_span(text: str) -> str:
    """Markdown code span that shows `text` as it is."""
    text = " ".join(text.split())
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    return f"{fence} {text} {fence}"


def name(text: str, chars: int = _NAME_CHARS) -> str:
    """Markdown for a name from a file: as it is when it is plain words, else a code span."""
    short = units.middle_cut(text, chars)
    return short if _PLAIN.fullmatch(short) else code_span(short)


def code_or_name(text: str, chars: int = _NAME_CHARS) -> str:
    """Markdown of a name in a sentence; a command of ours stays whole, and of a few op types each
    is a name of its own."""
    names = text.split(", ")
    if 1 < len(names) <= _MAX_LISTED and all(map(_TYPE.fullmatch, names)):
        return ", ".join(one if one == "…" else name(one) for one in names)
    return name(text, _COMMAND_CHARS if text.startswith(_COMMANDS) else chars)


def segment(label: str) -> str:
    """A label of a segmented control in the page's text colour. The chosen one is primary text on
    a tint of it by default, too dark on a dark page; fill and border still say which it is."""
    return f":violet[{own(label)}]"


def switch(
    label: str, options: Sequence[str], key: str, *, default: str | None = None,
    shown: Callable[[str], str] = str, help_: str | None = None,
) -> str:  # fmt: skip
    """One of the options, the first where none is the default; `label` is for screen readers."""
    return st.segmented_control(
        label,
        options,
        default=default or options[0],
        format_func=lambda option: segment(shown(option)),
        key=state.language.told_choice(key),
        required=True,
        label_visibility="collapsed",
        help=help_,
    )


def search(column: DeltaGenerator, label: str, key: str, placeholder: str) -> str:
    """What is searched for; `label` is for screen readers."""
    text = column.text_input(
        label,
        key=key,
        type="search",
        placeholder=placeholder,
        label_visibility="collapsed",
        max_chars=200,
    )
    return text or ""


def own(text: str) -> str:
    """Markdown that shows a text of our own (no names in it) as it is."""
    return re.sub(r"([\\`*_~\[\]<>#$:|])", r"\\\1", text)


def parts_text(parts: Iterable[Part], colour: str, chars: int = _NAME_CHARS) -> str:
    """Markdown of a sentence: names as they are, in at most `chars` characters, its number in
    `colour`."""
    shown = {
        "name": lambda text: code_or_name(text, chars),
        "number": lambda text: f":{colour}[{own(text)}]",
        "text": own,
    }
    return "".join(shown[part.role](part.text) for part in parts)


def strong(parts: Iterable[Part]) -> str:
    """Markdown of a sentence of our own: what it emphasises is bold."""
    return "".join(
        f"**{own(part.text)}**" if part.role == "number" else own(part.text) for part in parts
    )


def mark_colours() -> Colours:
    """Colours of marks in the theme that the page has."""
    return colours_of(st.context.theme.type)


def outcome_colour(comparison: Comparison) -> str:
    """Blue for faster, red for slower, gray where nobody can tell or the noise is unknown."""
    return {"faster": "blue", "slower": "red"}.get(comparison.verdict.outcome, "gray")


def verdict(comparison: Comparison) -> None:
    """The verdict as the head of the page; what it rests on is behind the line of trust."""
    headline, noise = wording.headline_and_noise(comparison)
    sentence = parts_text(headline, outcome_colour(comparison))
    interval = beside_headline(wording.verdict_interval(comparison.verdict))
    st.header(f"{sentence}{interval}", anchor=False)
    with st.container(gap="xxsmall"):
        if noise:
            st.markdown(own(noise))
        if step := wording.next_step(comparison.verdict):
            st.markdown(own(step))
        change = wording.change_sentence(comparison)
        if change and comparison.verdict.is_decided:
            st.markdown(f"**{own(change)}**")


def beside_headline(interval: str) -> str:
    """Markdown of an interval behind a headline, whose level stays on one line; '' for none."""
    whole = own(interval).replace(" %", "\N{NO-BREAK SPACE}%")
    return f" :small[:gray[({whole})]]" if interval else ""


def verdict_basis(comparison: Comparison) -> None:
    """Say what the verdict rests on."""
    st.caption(own(wording.verdict_basis(comparison.verdict)))


def card(
    comparison: Comparison, figure: Figure, detail: str = "", *, neutral: bool = False
) -> None:
    """One figure: the candidate's value, the change, the baseline's value, and the basis.

    `detail` is what must be read with it. `neutral` gives the change no colour: it may be noise.
    """
    text = wording.figure_text(comparison, figure.code)
    change = wording.change_text(figure)
    missing = figure.baseline.value is None and figure.candidate.value is None
    before = wording.quantity_text(figure.baseline)
    basis = wording.basis_beside_others(comparison, figure)
    # The browser shows this text itself, too, as a title; its only '~' strikes nothing out.
    said = own(say("from {before}", before=before)).replace("\\~", "~")
    was = None if missing or not change else said
    if not change and not missing:
        basis = say("baseline: {before}; {basis}", before=before, basis=basis)
    with st.container(gap="xxsmall"):
        st.metric(
            text.label,
            own(wording.quantity_text(figure.candidate)),
            delta=change or None,
            delta_color="gray" if neutral else _colour(figure, text.better),
            delta_arrow=arrow(change),
            delta_description=was,
            help=own(text.definition),
        )
        if detail:
            st.caption(own(detail))
        st.caption(own(basis))


def arrow(change: str) -> Literal["up", "down", "off"]:
    """Return where a change points; what is nothing as printed goes neither up nor down."""
    if re.match(r"0\.0+ ", change):
        return "off"
    return "down" if change.startswith(units.MINUS) else "up"


def _colour(figure: Figure, better: str | None) -> DeltaColor:
    """Blue for better, vermilion for worse; the sign and the arrow say the same."""
    change = figure.change
    if better is None or change is None or abs(change) < 0.0005:
        return "gray"
    return "blue" if (change < 0) == (better == "lower") else "red"


def trust(comparison: Comparison) -> None:
    """'Can I trust this?' in one line; everything is one click away."""
    found = trust_of(comparison.diagnostics)
    with _trust_line("trust", wording.trust_line(found), has_doubts=found.doubts > 0):
        everything = st.popover(say("Doubts and notes"), help=own(wording.all_of_them(found)))
    with everything:
        _trust(found)
        verdict_basis(comparison)


def doubts(lines: Sequence[str], counted: str, has_doubts: bool) -> None:
    """Draw 'Can I trust this?' in one line of a table of several: how many doubts there are, which
    are one click away, in these lines; a single one stands there itself."""
    is_single = has_doubts and len(lines) == 1
    said = paragraph(counted, lines[0]) if is_single else counted
    with _trust_line("trust_of_several", said, has_doubts=has_doubts):
        everything = st.popover(say("Doubts")) if lines and not is_single else None
    if everything is not None:
        with everything:
            for line in lines:
                note(line, _WARNING)


def _trust_line(key: str, said: str, *, has_doubts: bool) -> DeltaGenerator:
    """Draw the question with what is `said` to it; return the line, for what opens more of it.
    first_style.css wraps it on narrow screens."""
    line = st.container(
        key=key, border=True, horizontal=True, vertical_alignment="center", wrap=False
    )
    with line.container(horizontal=True, vertical_alignment="center", gap="small"):
        icon = _WARNING if has_doubts else _INFO
        st.markdown(f"{icon} **{wording.TRUST}**", width="content")
        st.text(said, width="stretch")
    return line


def _trust(found: Trust) -> None:
    """Draw a mark for each doubt that is counted; what any two files raise is one of them."""
    if found.specific or found.general or found.notes:
        st.markdown(f"**{own(wording.all_of_them(found))}**")
    for doubt in found.specific:
        note(wording.diagnostic_sentence(doubt), _WARNING)
    if found.general:
        parts = map(wording.diagnostic_sentence, found.general)
        note("\n".join((wording.general_doubt(found), *parts)), _WARNING)
    for known in found.notes:
        note(wording.diagnostic_sentence(known), _INFO)


def chart(figure: Any, key: str, alt: str) -> None:
    """A Plotly figure, without the buttons of Plotly; a wheel over it scrolls the page."""
    config = {"displayModeBar": False, "scrollZoom": False}
    st.plotly_chart(figure, key=key, config=config, alt=alt)


def note(sentence: str, icon: str) -> None:
    """A sentence, which may quote a file, behind an icon."""
    with st.container(horizontal=True, gap="xsmall", wrap=False):
        st.markdown(icon, width="content")
        st.text(sentence, width="stretch")


def sample_note() -> None:
    """Says that what follows is a sample."""
    note(_IS_SAMPLE.text(), ":gray[:material/science:]")


def fate(told: Fate) -> None:
    """What became of one file that was given."""
    text = str(told.text)
    if told.read:
        text = say("{file:name}: {what}", file=told.name, what=text)
    note(text, _WARNING if told.ends_early else _FATE_ICONS[told.read])
