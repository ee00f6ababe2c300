"""Errors of files that FuseScope writes, and of folders for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

OutputsError = Literal[
    "every_name_taken",
    "experiment_unwritable",
    "file_exists",
    "fused_model_too_large",
    "model_unwritable",
    "output_folder_unwritable",
    "place_of_others",
    "recordings_folder_impossible",
    "temporary_folder_long",
    "temporary_folder_missing",
    "temporary_folder_unwritable",
    "zoo_model_unwritable",
]
OUTPUTS: Mapping[OutputsError, ErrorText] = {
    "every_name_taken": ErrorText(
        Message("Every name is taken"), Message("Choose another place with --out.")
    ),
    "experiment_unwritable": ErrorText(
        Message("The experiment file cannot be written: {reason:name}"),
        Message("Free some space or choose another place with --out."),
    ),
    "file_exists": ErrorText(
        Message("There is already a file with that name"), Message("Choose another name.")
    ),
    "fused_model_too_large": ErrorText(
        Message("The fused model is larger than 2 GB, which one ONNX file cannot hold"),
        Message("Leave out --out, and record the variant rules:<file> instead."),
    ),
    "model_unwritable": ErrorText(
        Message("The model cannot be written: {reason:name}"),
        Message("Free some space or choose another place with --out."),
    ),
    "output_folder_unwritable": ErrorText(
        Message("The output folder cannot be written to: {reason:name}"),
        Message("Choose another place with --out."),
    ),
    "place_of_others": ErrorText(
        Message("Other users can change what would be executed here, by way of {path:name}"),
        Message(
            "Take their right to write away with chmod go-w and delete what is not yours, or set "
            "XDG_CACHE_HOME to a folder of your own."
        ),
    ),
    "recordings_folder_impossible": ErrorText(
        Message("The recordings folder cannot be created: {reason:name}"),
        Message("Set {variable:name} to a folder that can be written."),
    ),
    "temporary_folder_missing": ErrorText(
        Message("No temporary folder can be written to"),
        Message(
            "It is read-only or full: free some space there, or set TMPDIR in the environment to "
            "another folder."
        ),
    ),
    "temporary_folder_long": ErrorText(
        Message(
            "The path of the temporary folder has {n:bytes}, and processes cannot talk to each "
            "other in one of more than {limit:bytes}"
        ),
        Message("Set TMPDIR in the environment to a shorter path, or use --processes 1."),
    ),
    "temporary_folder_unwritable": ErrorText(
        Message("The temporary folder cannot be written to: {reason:name}"),
        Message("Free some space there, or set TMPDIR in the environment to another folder."),
    ),
    "zoo_model_unwritable": ErrorText(
        Message("The model cannot be written: {reason:name}"), Message("Choose another place.")
    ),
}
