"""What a page under AppTest shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

# Elements whose text Streamlit reads as Markdown, and where it stands.
MARKDOWN = {
    "markdown": "value",
    "caption": "value",
    "title": "value",
    "header": "value",
    "subheader": "value",
    "error": "value",
    "warning": "value",
    "info": "value",
    "success": "value",
    "metric": "label",
    "button": "label",
    "selectbox": "label",
    "multiselect": "label",
    "text_input": "label",
    "expander": "label",
}


def headline(page: AppTest) -> str:
    """The verdict as plain text without its interval: no colours, no code marks."""
    text = re.sub(r" :small\[.*", "", page.header[0].value)
    text = re.sub(r":\w+\[([^\]]*)\]", r"\1", text)
    return text.replace("`", "").replace("\\", "")


def figures(page: AppTest) -> dict[str, tuple[str, str]]:
    """Label -> (value, change) of every card."""
    return {card.label: (card.value, card.delta) for card in page.metric}


def texts(page: AppTest) -> list[str]:
    """What stands in places that do not interpret it."""
    return [element.value for element in page.text] + [element.value for element in page.code]


def markdown_texts(page: AppTest) -> Iterator[str]:
    """Every text that Streamlit reads as Markdown, without its code spans."""
    assert any(page.get(kind) for kind in MARKDOWN), "an empty page"
    for kind, attribute in MARKDOWN.items():
        for element in page.get(kind):
            text = str(getattr(element, attribute, "") or "")
            if text.startswith("<style>"):
                continue  # the page's own
            yield re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
            yield re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", str(getattr(element, "help", "") or ""))


def options(page: AppTest, side: str) -> list[str]:
    """The labels that the selector of `side` offers."""
    labels = list(page.selectbox(key=f"choose_{side}").options)
    assert labels, "nothing to choose from"
    return labels


def table(page: AppTest, number: int) -> Any:
    """The cells of a table below the timelines: 0 operators, 1 op types."""
    keys = [frame.key for frame in page.dataframe]
    return page.dataframe[keys.index("operator_table") + number].value


def has_table(page: AppTest, *head: str) -> bool:
    """True where a table of the page has a column of this head."""
    return any(head in list(frame.value.columns) for frame in page.dataframe)


def column(page: AppTest, *head: str) -> list[Any]:
    """The cells of the only column of the page that has this head."""
    [values] = [f.value[head] for f in page.dataframe if head in list(f.value.columns)]
    return list(values)


def folded(page: AppTest) -> bool:
    """True where the uploader is behind a button."""
    return any(block.proto.popover.label == "Open files" for block in page.get("popover"))


def is_clean(page: AppTest) -> bool:
    """True when no stack trace is on the page."""
    return len(page.exception) == 0


def address(page: AppTest) -> dict[str, str]:
    """The query of the address, one value a name."""
    return {
        name: value if isinstance(value, str) else value[-1]
        for name, value in page.query_params.items()
    }


def turn_to(page: AppTest, url_path: str) -> AppTest:
    """The page at this path of the same session, as by a click on its name in the navigation.

    AppTest's own way knows only pages that are files.
    """
    page._page_hash = calc_hash(url_path)
    page.query_params.clear()
    return page.run()
