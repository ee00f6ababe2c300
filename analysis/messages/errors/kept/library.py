"""Errors of the library: traces that are kept, and what users say of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

LibraryError = Literal[
    "kept_ambiguous",
    "kept_damaged",
    "kept_name_taken",
    "kept_newer",
    "kept_off",
    "kept_size_wrong",
    "kept_too_large",
    "kept_unwritable",
    "kept_wants_zip",
    "not_kept",
    "not_named_among_kept",
    "removal_unconfirmed",
    "unknown_order",
]
LIBRARY: Mapping[LibraryError, ErrorText] = {
    "kept_size_wrong": ErrorText(
        Message("{variable:name} is '{value:name}', which is not a size"),
        Message("Write 500M or 20G."),
    ),
    "kept_ambiguous": ErrorText(
        Message("'{name:name}' stands for {n:count} things in the library"),
        Message("Write the beginning of a hash that `fusescope library` prints."),
    ),
    "kept_damaged": ErrorText(
        Message("This trace in the library is damaged"),
        Message("Open its file again, which replaces it, or delete it."),
    ),
    "kept_name_taken": ErrorText(
        Message("There is already something with this name in the library"),
        Message("Choose another name."),
    ),
    "kept_newer": ErrorText(
        Message(
            "The library was made by a newer FuseScope (version {version:name} of it, this one "
            "knows {known:name}) and stays as it is"
        ),
        Message("Use that FuseScope, or another folder with FUSESCOPE_LIBRARY."),
    ),
    "kept_off": ErrorText(
        Message("The library is off, because {variable:name} is 'off'"),
        Message("Unset it to use the library."),
    ),
    "kept_too_large": ErrorText(
        Message("This is larger than the library may be ({size:capacity})"),
        Message("Raise {variable:name}."),
    ),
    "kept_unwritable": ErrorText(
        Message("The library cannot be written to: {reason:name}"),
        Message("Check its folder and the space on the disk."),
    ),
    "kept_wants_zip": ErrorText(
        Message("This experiment is inside another file"), Message("Give the experiment itself.")
    ),
    "not_kept": ErrorText(
        Message("This is not in the library any more"), Message("Open its file again.")
    ),
    "not_named_among_kept": ErrorText(
        Message("There is no '{name:name}' in the library"),
        Message("See what there is with `fusescope library`."),
    ),
    "removal_unconfirmed": ErrorText(
        Message("Nothing was removed, because nobody agreed to it"),
        Message("Answer yes, or give --yes."),
    ),
    "unknown_order": ErrorText(
        Message("The library cannot be sorted by '{name:name}'"), Message("Write one of {known}.")
    ),
}
