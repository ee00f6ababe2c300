"""Errors of releases of an engine: those that are asked for, and those that are fetched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

ReleasesError = Literal[
    "bisect_needs_model",
    "bisect_nothing_to_report",
    "release_disk_full",
    "release_folder_unwritable",
    "release_interrupted",
    "release_little_disk",
    "release_malformed",
    "release_left_out",
    "release_no_network",
    "release_no_wheel",
    "release_none_compared",
    "release_not_kept",
    "release_not_one",
    "release_not_removed",
    "release_other_engine",
    "release_pip_failed",
    "release_pip_missing",
    "release_unknown",
    "releases_file_damaged",
    "releases_file_newer",
    "releases_instead_of_recording",
    "releases_left_out",
]
_ELSEWHERE = Message(
    "Free some space there, or set XDG_CACHE_HOME in the environment to a folder on another disk, "
    "then run the same command again. Releases that were fetched before stay."
)
RELEASES: Mapping[ReleasesError, ErrorText] = {
    "bisect_needs_model": ErrorText(
        Message("A model and the releases that are to be compared are needed"),
        Message("Write: fusescope bisect model.onnx --engine onnxruntime==1.20.1..1.32.0."),
    ),
    "bisect_nothing_to_report": ErrorText(
        Message("No release changes the operators that run, so there is nothing to report"),
        Message("Leave out --issue, or name more releases."),
    ),
    "release_disk_full": ErrorText(
        Message("The disk was full before every release was there: {reason:name}"), _ELSEWHERE
    ),
    "release_folder_unwritable": ErrorText(
        Message("The folder for releases cannot be written to: {reason:name}"),
        Message(
            "Check its permissions, or set XDG_CACHE_HOME in the environment to another folder."
        ),
    ),
    "release_interrupted": ErrorText(
        Message("The comparison of releases was interrupted"),
        Message("Run the same command again. Releases that were fetched are used again."),
    ),
    "release_little_disk": ErrorText(
        Message("The releases need {needed:capacity} of free space, and there are {free:capacity}"),
        _ELSEWHERE,
    ),
    "release_left_out": ErrorText(
        Message("The release {version:name} could not be compared: {reason:name}"),
        Message("Name another release, or another model."),
    ),
    "release_no_wheel": ErrorText(
        Message(
            "The release {version:name} of ONNX Runtime has no wheel for this Python and machine"
        ),
        Message("Check which there are: pip index versions onnxruntime."),
    ),
    "release_malformed": ErrorText(
        Message("'{given:name}' is neither a release nor a range of releases"),
        Message("Write onnxruntime==1.20.1..1.32.0, or onnxruntime==1.32.0 for one release."),
    ),
    "release_no_network": ErrorText(
        Message("The package index that pip uses cannot be reached: {said:name}"),
        Message(
            "Check the network and pip's settings (pip config list), then run the same command "
            "again. Releases that were fetched are used again."
        ),
    ),
    "release_none_compared": ErrorText(
        Message(
            "There are not two releases that could be compared: {n:count} could optimise the model"
        ),
        Message("Name more releases; fusescope bisect --releases lists those that were fetched."),
    ),
    "releases_left_out": ErrorText(
        Message(
            "Fewer than two releases could be compared; {version:name} was left out: {reason:name}"
        ),
        Message("Name more releases, or another model."),
    ),
    "release_not_kept": ErrorText(
        Message("The release {version:name} was not fetched, so it cannot be removed"),
        Message("Run fusescope bisect --releases: it lists those that were."),
    ),
    "release_not_one": ErrorText(
        Message("'{given:name}' names several releases where one is wanted"),
        Message("Write one, such as onnxruntime==1.32.0."),
    ),
    "release_not_removed": ErrorText(
        Message("The release {version:name} could not be removed: {reason:name}"),
        Message("Check the permissions of the folder, then remove it yourself."),
    ),
    "release_other_engine": ErrorText(
        Message("Releases of '{engine:name}' cannot be compared"),
        Message("Releases of onnxruntime can: onnxruntime==1.20.1..1.32.0."),
    ),
    "release_pip_failed": ErrorText(
        Message(
            "Releases could not be listed or fetched by pip (status {status:count}): {said:name}"
        ),
        Message("Put right what pip says, then run the same command again."),
    ),
    "release_pip_missing": ErrorText(
        Message("The Python that runs FuseScope has no pip, which fetches releases"),
        Message("Install it: python -m ensurepip (Debian, Ubuntu: apt install python3-pip)."),
    ),
    "release_unknown": ErrorText(
        Message("The package index that pip uses has no release {version:name} of ONNX Runtime"),
        Message("Check the number: pip index versions onnxruntime lists all of them."),
    ),
    "releases_file_damaged": ErrorText(
        Message("This file of releases is damaged: {reason:name}"),
        Message("Make it again: fusescope bisect MODEL --engine … --out FILE."),
    ),
    "releases_instead_of_recording": ErrorText(
        Message(
            "This file holds what releases of an engine make of a model; it is not a recording"
        ),
        Message("Open it on the page Releases, or with: fusescope serve {file:name}."),
    ),
    "releases_file_newer": ErrorText(
        Message(
            "This file of releases was made by a newer FuseScope (schema version {version:count})"
        ),
        Message("Update FuseScope, or make the file again with this one."),
    ),
}
