"""One page in several languages: what is the same in all stands once, what differs in each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from markupsafe import Markup

from fusescope.analysis.messages import language
from fusescope.analysis.report.pages import template

Made = TypeVar("Made")

# Templates escape < and > in every text and attribute, so a tag is what stands between the two.
_TOKEN = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1>|<[^>]*>|[^<]+", re.DOTALL)
_VOID = frozenset({"meta", "link", "br", "wbr", "col", "input", "img", "hr"})
# Attributes that are read to the user: they are told in the first language, scripts change them.
_TOLD = re.compile(r'(\s(?:title|aria-label))="([^"]*)"')
_NAME = re.compile(r"<[^\s/>]+")
_ID = re.compile(r'\sid="[^"]*"')
# Elements with nothing but text in them: one in each language.
_TEXT_ONLY = frozenset({"title", "text"})


_ARROW = "-&gt;"
_WITH_ARROW = re.compile(rf"(<(/?\w+)[^<>]*>)([^<>]*{_ARROW}[^<>]*)")
_NO_MARKUP = _TEXT_ONLY | {"script", "style", "option", "textarea", "tspan", "desc"}


@dataclass
class _Element:
    """`opening` and `closing` are the tags as they stand in the `page`, which has the element
    between `start` and `end`; one may have no second."""

    name: str
    opening: str
    page: str
    start: int
    end: int
    closing: str = ""
    children: list[_Element | str] = field(default_factory=list)

    def __str__(self) -> str:
        return self.page[self.start : self.end]


def in_every_language(page: Callable[[Sequence[str]], str]) -> str:
    """One page in every language that there is, the one that is spoken first. `page` makes it in
    the language that is spoken when it is called; it takes the codes of all."""
    codes = _codes()
    return _with_whole_arrows(in_languages(in_each(lambda: page(codes))))


def in_each(made: Callable[[], Made]) -> dict[str, Made]:
    """What `made` returns in each language that there is, by its code; first comes the one that is
    spoken."""
    found = {}
    for code in _codes():
        with language.speaking(code):
            found[code] = made()
    return found


def _codes() -> tuple[str, ...]:
    spoken = language.current()
    return spoken, *(code for code in language.languages() if code != spoken)


def switch(codes: Sequence[str]) -> Markup:
    """The switch between these languages; '' for one."""
    names = [(code, language.own_name(code)) for code in codes]
    return Markup(template("switch.html").render(names=names) if len(codes) > 1 else "")


def in_languages(pages: Mapping[str, str]) -> str:
    """One page of pages that differ in their language only, the first one's first.

    A text that differs stands in a `<span lang="CODE">` of every language; an element whose parts
    differ stands once in every language, with that attribute. Attributes that are read to the user
    have the texts of the other languages beside them, as `data-CODE-title`.
    """
    return "".join(_merged(list(pages), [_tree(page).children for page in pages.values()]))


def _with_whole_arrows(page: str) -> str:
    """Return a page in which no line breaks between the - and the > of a name: browsers may break
    behind any -."""
    return _WITH_ARROW.sub(_whole_arrows, page) if _ARROW in page else page


def _whole_arrows(match: re.Match[str]) -> str:
    tag, name, text = match.groups()
    if name.removeprefix("/") in _NO_MARKUP:
        return match.group()
    return tag + text.replace(_ARROW, f'<span class="unbroken">{_ARROW}</span>')


def _tree(page: str) -> _Element:
    root = _Element("", "", page, 0, len(page))
    open_elements = [root]
    for match in _TOKEN.finditer(page):
        token = match.group()
        here = open_elements[-1].children
        if token.startswith("</"):
            closed = open_elements.pop()
            closed.closing, closed.end = token, match.end()
        elif match.group(1) or token.startswith("<!") or not token.startswith("<"):
            here.append(token)
        else:
            name = re.split(r"[\s/>]", token[1:], maxsplit=1)[0]
            element = _Element(name, token, page, match.start(), match.end())
            here.append(element)
            if name not in _VOID and not token.endswith("/>"):
                open_elements.append(element)
    return root


def _merged(codes: Sequence[str], forms: Sequence[list[_Element | str]]) -> Iterator[str]:
    """Children of one element in all languages; they have the same shape (`_same_shape`)."""
    for parts in zip(*forms, strict=True):
        texts = [str(part) for part in parts]
        if all(text == texts[0] for text in texts):
            yield texts[0]
        elif isinstance(parts[0], str):
            yield from map(_span, codes, texts)
        else:
            yield from _element(codes, [part for part in parts if isinstance(part, _Element)])


def _element(codes: Sequence[str], forms: Sequence[_Element]) -> Iterator[str]:
    first = forms[0]
    opening = _opening(codes, [form.opening for form in forms])
    children = [form.children for form in forms]
    if opening is None or first.name in _TEXT_ONLY or not _same_shape(children):
        for code, form in zip(codes, forms, strict=True):
            yield _told_apart(form, code, is_first=form is first)
    else:
        yield opening
        yield from _merged(codes, children)
        yield first.closing


def _same_shape(forms: Sequence[list[_Element | str]]) -> bool:
    """Whether the children are the same elements with texts at the same places between them."""
    kinds = [
        [child.name if isinstance(child, _Element) else None for child in form] for form in forms
    ]
    return all(kind == kinds[0] for kind in kinds)


def _opening(codes: Sequence[str], openings: Sequence[str]) -> str | None:
    """One opening tag of all languages; None where more differs than what is read to the user."""
    if len({_TOLD.sub(r"\1", opening) for opening in openings}) > 1:
        return None
    first, *others = (
        {name.strip(): text for name, text in _TOLD.findall(opening)} for opening in openings
    )
    told = "".join(
        f' data-{code}-{name}="{text}"'
        for code, other in zip(codes[1:], others, strict=True)
        for name, text in other.items()
        if text != first[name]
    )
    return _with(openings[0], told)


def _told_apart(form: _Element, code: str, *, is_first: bool) -> str:
    """The element as one language has it; what the page refers to is in the first language."""
    opening = form.opening if is_first else _ID.sub("", form.opening)
    content = "".join(map(str, form.children))
    if not is_first:
        content = _ID.sub("", content)
    opening = _with(opening, f' lang="{code}"')
    return f"{opening}{content}{form.closing}"


def _with(opening: str, attributes: str) -> str:
    return _NAME.sub(lambda name: name.group() + attributes, opening, count=1)


def _span(code: str, text: str) -> str:
    return f'<span lang="{code}">{text}</span>'


def style(codes: Sequence[str]) -> str:
    """CSS that shows one language: the one whose switch (`#in-CODE`) is on, else the first; '' for
    one language."""
    if len(codes) < 2:
        return ""

    def hidden(code: str) -> str:
        return f':not(html, label)[lang]:not([lang="{code}"]) {{ display: none }}'

    return "\n".join(
        (
            *(f"html:has(#in-{code}:checked) {hidden(code)}" for code in codes),
            f"@supports not selector(:has(*)) {{ {hidden(codes[0])} }}",
        )
    )
