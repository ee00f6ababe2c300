"""Setting up a process before MindSpore is imported: later it does not look again."""

from __future__ import annotations

import json
import os
from pathlib import Path

_DUMP = "dump.json"


def prepare(compiled: str) -> None:
    """Where AKG keeps the kernels that it compiled, and only errors in the log."""
    Path(compiled).mkdir(parents=True, exist_ok=True)
    os.environ["MS_COMPILER_CACHE_PATH"] = compiled
    os.environ["GLOG_v"] = "3"


def keep_values(folder: Path) -> None:
    """Has MindSpore write what each kernel writes in the first run into the folder."""
    folder.mkdir(parents=True)
    settings = {
        "common_dump_settings": {
            "op_debug_mode": 0,
            "dump_mode": 0,
            "path": str(folder),
            "net_name": "model",
            "iteration": "0",
            "saved_data": "tensor",
            "input_output": 2,
            "kernels": [],
            "support_device": [0],
        },
        "e2e_dump_settings": {"enable": True, "trans_flag": True},
    }
    file = folder / _DUMP
    file.write_text(json.dumps(settings))
    os.environ["MINDSPORE_DUMP_CONFIG"] = str(file)
