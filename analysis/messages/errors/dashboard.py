"""Errors of the dashboard: its address, its folders, the recordings that it keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

DashboardError = Literal[
    "address_unusable",
    "file_gone",
    "internal_error",
    "link_to_unopened_file",
    "no_open_folder",
    "not_below_folders",
    "path_with_separator",
    "port_unusable",
    "recording_cannot_be_deleted",
    "recording_cannot_be_renamed",
    "recording_exists",
    "recording_gone",
    "recording_name_impossible",
    "recordings_in_folder",
]
DASHBOARD: Mapping[DashboardError, ErrorText] = {
    "address_unusable": ErrorText(
        Message("This address cannot be used: {reason:name}"),
        Message("Leave out --host, or give an address of this machine."),
    ),
    "file_gone": ErrorText(Message("This file no longer exists"), Message("Open another.")),
    "internal_error": ErrorText(
        Message("Something went wrong inside FuseScope"), Message("The server's log says where.")
    ),
    "link_to_unopened_file": ErrorText(
        Message("This link names a file that is not open here"), Message("Open it again.")
    ),
    "no_open_folder": ErrorText(
        Message("No folder is open to this dashboard"), Message("Start it with `--folder DIR`.")
    ),
    "not_below_folders": ErrorText(
        Message("There is no such file below the configured folders"),
        Message("Give a path below one of them."),
    ),
    "path_with_separator": ErrorText(
        Message("A path with '{separator:name}' in it cannot be used"),
        Message("Rename it, or use a link to it."),
    ),
    "port_unusable": ErrorText(
        Message("Port {port:name} cannot be used"),
        Message("Give another one with --port, or leave it out."),
    ),
    "recording_cannot_be_deleted": ErrorText(
        Message("The recording cannot be deleted: {reason:name}"),
        Message("Check who may write to the folder of recordings."),
    ),
    "recording_cannot_be_renamed": ErrorText(
        Message("The recording cannot be renamed: {reason:name}"),
        Message("Check who may write to the folder of recordings."),
    ),
    "recording_exists": ErrorText(
        Message("There is already a recording with this name"), Message("Choose another name.")
    ),
    "recording_gone": ErrorText(
        Message("This recording no longer exists"), Message("Reload the page to see which do.")
    ),
    "recording_name_impossible": ErrorText(
        Message("This cannot be the name of a recording"),
        Message(
            "Use up to 100 letters, digits, spaces and . _ + - ( ), with a letter or digit first."
        ),
    ),
    "recordings_in_folder": ErrorText(
        Message("There are {count:count} recordings here"),
        Message("Open the folder by its path, which opens each of them."),
    ),
}
