"""Errors of engines that have an environment of their own, and of adding one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from analysis.messages.errors.error_text import ErrorText
from analysis.messages.message import Message

RuntimesError = Literal[
    "runtime_absent",
    "runtime_broken",
    "runtime_compiler",
    "runtime_headers",
    "runtime_package_missing",
    "runtime_python",
    "runtime_python_gone",
    "runtime_unfinished",
    "runtime_unknown",
]
_ADD = Message("Run: fusescope runtimes add {engine:name}.")
RUNTIMES: Mapping[RuntimesError, ErrorText] = {
    "runtime_absent": ErrorText(Message("The engine {engine:name} is not installed"), _ADD),
    "runtime_broken": ErrorText(
        Message("The environment of the engine {engine:name} does not work: {reason:name}"),
        Message("Run: fusescope runtimes add {engine:name}. It is made anew."),
    ),
    "runtime_compiler": ErrorText(
        Message("The engine {engine:name} needs a C++ compiler, and none was found"),
        Message(
            "Install one (Debian, Ubuntu: apt install g++; macOS: xcode-select --install), or name "
            "it with CXX in the environment."
        ),
    ),
    "runtime_headers": ErrorText(
        Message(
            "The engine {engine:name} compiles code that needs Python's header files, and they "
            "are not there"
        ),
        Message("Install them (Debian, Ubuntu: apt install python3-dev)."),
    ),
    "runtime_package_missing": ErrorText(
        Message("The package '{package:name}' cannot be imported in the engine's environment"),
        Message("Run: fusescope runtimes. It says how to add an engine again."),
    ),
    "runtime_python": ErrorText(
        Message(
            "The engine {engine:name} {engine_version:name} does not exist for Python "
            "{python:name}, which runs FuseScope"
        ),
        Message("Install FuseScope with a Python from {oldest:name} to {newest:name}."),
    ),
    "runtime_python_gone": ErrorText(
        Message("The Python of the engine's environment cannot be run"),
        Message("Run: fusescope runtimes. It says how to add an engine again."),
    ),
    "runtime_unfinished": ErrorText(
        Message("Adding the engine {engine:name} was not finished"),
        Message("Run: fusescope runtimes add {engine:name}. What was fetched is used again."),
    ),
    "runtime_unknown": ErrorText(
        Message("There is no engine '{name:name}'"),
        Message("The engines are: {known}."),
    ),
}
