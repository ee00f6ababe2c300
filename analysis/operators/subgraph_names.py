"""Names of what an execution provider of ONNX Runtime compiled, as every session has them."""

from __future__ import annotations

import re

# OpenVINO's are numbered through the whole process, and then have their place in the session: a
# second session of a model has other numbers.
_OPENVINO = re.compile(r"OpenVINOExecutionProvider_OpenVINO-EP-subgraph_\d+_(\d{1,6})", re.ASCII)
_OPENVINO_TYPE = "OpenVINO-EP-subgraph"


def of_session(name: str, op_name: str | None) -> tuple[str, str | None]:
    """Name and op type of a node of a profile, without what differs between sessions."""
    if op_name is None or not op_name.startswith(_OPENVINO_TYPE):
        return name, op_name
    found = _OPENVINO.fullmatch(name)
    return (f"{_OPENVINO_TYPE}_{found[1]}", _OPENVINO_TYPE) if found else (name, op_name)
