"""What a page under AppTest shows that is not in brackets, where every text of ours should be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from pandas import DataFrame
from streamlit.testing.v1 import AppTest

from tests.brackets import is_told

# Fields of Streamlit's messages that a user reads, by the end of their names.
READ = frozenset(
    {"label", "help", "body", "alt", "placeholder", "options", "text", "caption", "delta",
     "delta_description", "content", "title", "formatted_value", "page_name"}
)  # fmt: skip
# Parts of a Plotly figure that are read.
DRAWN = frozenset({"text", "title", "name", "hovertemplate", "ticktext", "hovertext"})


def untold(page: AppTest, names: str) -> set[str]:
    """Texts of the page with a word outside brackets that is in no `names`, which is all that the
    files hold as text."""
    return {
        text for text in shown(page) if not is_told(text, names) and not text.startswith("<style>")
    }


def shown(page: AppTest) -> Iterator[str]:
    """Every text that the page shows, commands and paths (code) apart."""
    yield from _of_block(page._tree)
    for code in page.code:
        if not code.value.startswith(("fusescope ", "/")):
            yield code.value


def _of_block(block: Any) -> Iterator[str]:
    for child in block.children.values():
        proto = getattr(child, "proto", None)
        kind = type(proto).__name__
        if kind == "Dataframe":
            yield from _of_table(child, proto)
        elif kind == "PlotlyChart":
            yield from _of_figure(json.loads(proto.spec))
            yield proto.alt
        elif kind == "ProtoBidiComponent" or kind == "BidiComponent":
            pass  # the timeline's words are a matter of tests/timeline
        elif proto is not None and kind != "Code":
            yield from _of_message(proto)
        if hasattr(child, "children"):
            yield from _of_block(child)


def _of_message(message: Message) -> Iterator[str]:
    for field, value in message.ListFields():
        values = value if field.is_repeated else [value]
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            continue
        for one in values:
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                yield from _of_message(one)
            elif field.type == FieldDescriptor.TYPE_STRING and field.name in READ:
                yield one


def _of_table(element: Any, proto: Any) -> Iterator[str]:
    yield proto.alt
    for setting in json.loads(proto.columns or "{}").values():
        yield from (str(setting[key]) for key in ("label", "help") if setting.get(key))
    frame: DataFrame = element.value
    told = {setting.get("label") for setting in json.loads(proto.columns or "{}").values()}
    for head in frame.columns:
        # Streamlit shows the label of the settings in place of the head of a plain column.
        heads = head if isinstance(head, tuple) else () if told else (head,)
        yield from map(str, heads)
    for column in range(frame.shape[1]):
        for cell in frame.iloc[:, column]:
            if isinstance(cell, str):
                yield cell


def _of_figure(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, one in value.items():
            yield from _of_figure(one, key if key in DRAWN and name != "font" else name)
    elif isinstance(value, list):
        for one in value:
            yield from _of_figure(one, key)
    elif isinstance(value, str) and key in DRAWN:
        yield value
