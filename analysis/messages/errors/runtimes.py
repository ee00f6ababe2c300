"""Errors of engines that have an environment of their own, and of adding one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

RuntimesError = Literal[
    "runtime_absent",
    "runtime_broken",
    "runtime_busy",
    "runtime_compiler",
    "runtime_disk_full",
    "runtime_engine_not_there",
    "runtime_folder_unwritable",
    "runtime_headers",
    "runtime_import_failed",
    "runtime_interrupted",
    "runtime_is_command",
    "runtime_little_disk",
    "runtime_name_impossible",
    "runtime_named_broken",
    "runtime_named_twice",
    "runtime_nameless",
    "runtime_no_network",
    "runtime_no_python",
    "runtime_no_such_name",
    "runtime_no_version",
    "runtime_not_beside",
    "runtime_not_removed",
    "runtime_old_python",
    "runtime_other_python",
    "runtime_own",
    "runtime_package_missing",
    "runtime_pip_failed",
    "runtime_python",
    "runtime_python_fails",
    "runtime_python_gone",
    "runtime_twice",
    "runtime_unconfirmed",
    "runtime_unfinished",
    "runtime_unknown",
    "runtime_venv_failed",
    "runtime_venv_missing",
    "runtime_without_variants",
]
_ADD = Message("Run: fusescope runtimes add {engine:name}.")
RUNTIMES: Mapping[RuntimesError, ErrorText] = {
    "runtime_absent": ErrorText(Message("The engine {engine:name} is not installed"), _ADD),
    "runtime_broken": ErrorText(
        Message("The environment of the engine {engine:name} does not work: {reason:name}"),
        Message("Run: fusescope runtimes add {engine:name}. It is made anew."),
    ),
    "runtime_busy": ErrorText(
        Message("The engine {engine:name} is being added or removed by another process"),
        Message("Wait until it has ended, then run the same command again."),
    ),
    "runtime_compiler": ErrorText(
        Message("The engine {engine:name} needs a C++ compiler, and none was found"),
        Message(
            "Install one (Debian, Ubuntu: apt install g++; macOS: xcode-select --install), or name "
            "it with CXX in the environment."
        ),
    ),
    "runtime_disk_full": ErrorText(
        Message("The disk was full before the engine {engine:name} was installed: {reason:name}"),
        Message(
            "Free some space there, or set XDG_CACHE_HOME in the environment to a folder on "
            "another disk, then run the same command again. Nothing that was installed stays."
        ),
    ),
    "runtime_engine_not_there": ErrorText(
        Message("The engine {engine:name} is not in this Python: it cannot find {module:name}"),
        Message("Install the engine there, or name another Python with --python."),
    ),
    "runtime_folder_unwritable": ErrorText(
        Message("The folder for engines cannot be written to: {reason:name}"),
        Message(
            "Check its permissions, or set XDG_CACHE_HOME in the environment to another folder."
        ),
    ),
    "runtime_headers": ErrorText(
        Message(
            "The engine {engine:name} compiles code that needs Python's header files, and they "
            "are not there"
        ),
        Message("Install them (Debian, Ubuntu: apt install python3-dev)."),
    ),
    "runtime_import_failed": ErrorText(
        Message(
            "The engine {engine:name} was installed, and does not work on this machine: "
            "{reason:name}"
        ),
        Message(
            "Check what the engine needs of the processor and of the system. Nothing that was "
            "installed stays."
        ),
    ),
    "runtime_interrupted": ErrorText(
        Message("Adding the engine {engine:name} was interrupted"),
        Message("Run the same command again. What pip has fetched is used again."),
    ),
    "runtime_is_command": ErrorText(
        Message("--python takes the path of a Python, and '{command:name}' is a command"),
        Message(
            "Name the Python itself, as bin/python in the folder of a conda environment. Of a "
            "container, install FuseScope inside and record there."
        ),
    ),
    "runtime_little_disk": ErrorText(
        Message(
            "The engine {engine:name} needs {needed:capacity} of free space while it is added, "
            "and there are {free:capacity}"
        ),
        Message(
            "Free some space there, or set XDG_CACHE_HOME in the environment to a folder on "
            "another disk."
        ),
    ),
    "runtime_name_impossible": ErrorText(
        Message("An environment cannot have the name '{name:name}'"),
        Message("Use letters, digits, '.', '_', '-' and '+', at most 40 of them."),
    ),
    "runtime_named_broken": ErrorText(
        Message("The environment {runtime:name} cannot be used as it was seen: {reason:name}"),
        Message(
            "Run: fusescope runtimes use {engine:name} --python {python:name} --name {name:name}. "
            "It is looked at anew."
        ),
    ),
    "runtime_named_twice": ErrorText(
        Message("'{given:name}' names an environment, where an engine is asked for"),
        Message("Run: fusescope runtimes use {engine:name} --python PYTHON --name NAME."),
    ),
    "runtime_nameless": ErrorText(
        Message("Beside a comma of --runtime '{given:name}' the name of an engine is missing"),
        Message("Name every engine, or leave the comma out."),
    ),
    "runtime_no_network": ErrorText(
        Message("The package index that pip uses cannot be reached: {said:name}"),
        Message(
            "Check the network and pip's settings (pip config list), then run fusescope runtimes "
            "add {engine:name} again. What pip has fetched is used again."
        ),
    ),
    "runtime_no_python": ErrorText(
        Message("There is no Python '{python:name}'"),
        Message("Name the file, as --python /opt/venv/bin/python."),
    ),
    "runtime_no_such_name": ErrorText(
        Message("There is no environment '{runtime:name}'"),
        Message("Run: fusescope runtimes use {engine:name} --python PYTHON --name {name:name}."),
    ),
    "runtime_no_version": ErrorText(
        Message(
            "The package index that pip uses has no {requirement:name} for Python {python:name} on "
            "this machine"
        ),
        Message(
            "Check which index pip uses (pip config list), then run fusescope runtimes add "
            "{engine:name} again."
        ),
    ),
    "runtime_not_beside": ErrorText(
        Message("The engine {engine:name} runs no ONNX models, so not beside other engines"),
        Message("Leave it out of --runtime, or record with it alone."),
    ),
    "runtime_not_removed": ErrorText(
        Message("Not all of the engine {engine:name} could be removed"),
        Message("Check the permissions of the folder, then remove it yourself."),
    ),
    "runtime_old_python": ErrorText(
        Message(
            "FuseScope's workers run with Python {oldest:name} or newer, and this is {python:name}"
        ),
        Message("Name an environment with a newer Python."),
    ),
    "runtime_other_python": ErrorText(
        Message(
            "This is Python {python:name} without {packages:name}, and what Python {own:name} has, "
            "which runs FuseScope, cannot be loaded there"
        ),
        Message(
            "Install it there (python -m pip install {requirements:name}), or run FuseScope with "
            "the same version of Python."
        ),
    ),
    "runtime_own": ErrorText(
        Message("The engine {engine:name} comes with FuseScope and goes with it"),
        Message("Engines that fusescope runtimes add installed can be removed."),
    ),
    "runtime_package_missing": ErrorText(
        Message("The package '{package:name}' cannot be imported in the engine's environment"),
        Message("Run: fusescope runtimes. It says how to add an engine again."),
    ),
    "runtime_pip_failed": ErrorText(
        Message("The engine {engine:name} could not be installed by pip: {said:name}"),
        Message("Put right what pip says, then run the same command again."),
    ),
    "runtime_python": ErrorText(
        Message(
            "The engine {engine:name} {engine_version:name} does not exist for Python "
            "{python:name}, which runs FuseScope"
        ),
        Message("Install FuseScope with a Python from {oldest:name} to {newest:name}."),
    ),
    "runtime_python_fails": ErrorText(
        Message("This Python does not work: {reason:name}"),
        Message("Run it yourself and import the engine, or name another one with --python."),
    ),
    "runtime_python_gone": ErrorText(
        Message("The Python of the engine's environment cannot be run"),
        Message("Run: fusescope runtimes. It says how to add an engine again."),
    ),
    "runtime_twice": ErrorText(
        Message("The engine {engine:name} is named twice in --runtime"),
        Message("Name each engine once. Variants of one engine are chosen with --variants."),
    ),
    "runtime_unconfirmed": ErrorText(
        Message("Nothing was added: there is no terminal on which to ask first"),
        Message("Run the same command with --yes."),
    ),
    "runtime_unfinished": ErrorText(
        Message("Adding the engine {engine:name} was not finished"),
        Message("Run: fusescope runtimes add {engine:name}. What was fetched is used again."),
    ),
    "runtime_unknown": ErrorText(
        Message("There is no engine '{name:name}'"),
        Message("The engines are: {known}."),
    ),
    "runtime_venv_failed": ErrorText(
        Message("Python could not make an environment: {reason:name}"),
        Message(
            "Check that python3 -m venv works with the Python that runs FuseScope, then run the "
            "same command again."
        ),
    ),
    "runtime_venv_missing": ErrorText(
        Message("The Python that runs FuseScope cannot make environments"),
        Message(
            "Install what it lacks (Debian, Ubuntu: apt install {package:name}), then run the "
            "same command again."
        ),
    ),
    "runtime_without_variants": ErrorText(
        Message("No variant of the engine {engine:name} is among --variants"),
        Message("Name one, as {engine:name}:fused, or leave the engine out of --runtime."),
    ),
}
