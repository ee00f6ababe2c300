"""Run a model's variants and write what was measured into one experiment file."""

from __future__ import annotations

import os
import sys

if not __name__.startswith("fusescope."):
    raise ImportError(
        "Import fusescope.collectors: FuseScope has no package named collectors alone."
    )

# The engine reads it when it is loaded, which happens below here only: without it, it writes a
# device id and a database of events that it means to upload. docs/privacy.md
ENGINE_TELEMETRY_OFF = {"ORT_DISABLE_TELEMETRY": "1"}
os.environ.update(ENGINE_TELEMETRY_OFF)

# OpenVINO imports it, and it writes an id into the home folder and sends that it was imported. That
# it cannot be imported OpenVINO takes as it comes. docs/privacy.md
sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
