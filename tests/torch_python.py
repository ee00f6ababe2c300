"""The Python of torch's environment, for tests of what runs in it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import fusescope
from fusescope.collectors.environments import state
from fusescope.collectors.environments.catalogue import ENGINES

TORCH = state.state_of(ENGINES["torch"])


def in_torchs_python(*words: str) -> subprocess.CompletedProcess[str]:
    places = [str(Path(fusescope.__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
    python = str(state.python_in(TORCH.folder))
    return subprocess.run(
        [python, *words], env=environment, capture_output=True, text=True, check=False
    )
