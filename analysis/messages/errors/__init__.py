"""What each error says: what is wrong, and the next step. One module a subject."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from analysis.messages.errors.commands import COMMANDS, CommandsError
from analysis.messages.errors.error_text import ErrorText
from analysis.messages.errors.files import FILES, FilesError
from analysis.messages.errors.languages import LANGUAGE, LanguageError

ErrorCode = CommandsError | FilesError | LanguageError
ERRORS: Mapping[ErrorCode, ErrorText] = dict(
    chain[tuple[ErrorCode, ErrorText]](COMMANDS.items(), FILES.items(), LANGUAGE.items())
)
