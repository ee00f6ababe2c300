"""Errors of the choice of a language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from analysis.messages.errors.error_text import ErrorText
from analysis.messages.message import Message

LanguageError = Literal["language_missing", "language_unknown"]
LANGUAGE: Mapping[LanguageError, ErrorText] = {
    "language_missing": ErrorText(
        Message("--lang needs the code of a language"), Message("There are: {known:name}.")
    ),
    "language_unknown": ErrorText(
        Message("FuseScope does not speak the language '{language:name}'"),
        Message("It speaks: {known:name}."),
    ),
}
