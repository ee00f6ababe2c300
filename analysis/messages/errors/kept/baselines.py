"""Errors of named baselines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

BaselineError = Literal[
    "baseline_damaged",
    "baseline_name_impossible",
    "baseline_unwritable",
    "no_such_baseline",
]
BASELINES: Mapping[BaselineError, ErrorText] = {
    "baseline_damaged": ErrorText(
        Message("The file of this baseline is gone"),
        Message("Save it again with `fusescope baseline save`."),
    ),
    "baseline_name_impossible": ErrorText(
        Message("'{name:name}' cannot be the name of a baseline"),
        Message("Use up to 80 letters, digits and . _ + -, a letter or digit first."),
    ),
    "baseline_unwritable": ErrorText(
        Message("The baseline cannot be written: {reason:name}"),
        Message("Check its folder and the space on the disk."),
    ),
    "no_such_baseline": ErrorText(
        Message("There is no baseline '{name:name}'"),
        Message("These are there: {known:name}."),
    ),
}
