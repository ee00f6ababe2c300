"""Setting up a process before MindSpore is imported: later it does not look again."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

_DUMP = "dump.json"
# 103 bytes are the shortest limit of any system, less those of /pymp-xxxxxxxx/listener-xxxxxxxx
_LONGEST = 103 - 32


def prepare(compiled: str) -> None:
    """Where AKG keeps the kernels that it compiled, only errors in the log, and a temporary folder
    in which a socket may lie: multiprocessing, by which MindSpore reads its own profile, makes one
    there, and writes no profile where it cannot."""
    Path(compiled).mkdir(parents=True, exist_ok=True)
    os.environ["MS_COMPILER_CACHE_PATH"] = compiled
    os.environ["GLOG_v"] = "3"
    if len(os.fsencode(tempfile.gettempdir())) > _LONGEST:
        tempfile.tempdir = "/tmp"


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
