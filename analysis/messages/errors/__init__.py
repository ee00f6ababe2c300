"""What each error says: what is wrong, and the next step. One module a subject."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.messages.errors.error_text import ErrorText
from analysis.messages.errors.files import FILES, FilesError

ErrorCode = FilesError
ERRORS: Mapping[ErrorCode, ErrorText] = {**FILES}
