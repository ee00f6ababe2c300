"""An engine that takes no time to install: a wheel of one module, made here."""

from __future__ import annotations

import sys
from pathlib import Path

from analysis.messages import Message
from collectors.environments import state
from collectors.environments.catalogue import Build, Engine

ENGINE = Engine(
    name="toy",
    what=Message("PyTorch with TorchInductor, its compiler"),
    version="1.5.0",
    module="toy_engine",
    builds=(Build("toy-engine==1.5.0+cpu", 10_000, 20_000_000),),
    shared=(),
)


def place_ready(engine: Engine = ENGINE, version: str = "1.5.0+cpu") -> Path:
    """The folder of an environment that looks as if the engine had been added."""
    folder = state.folder_of(engine)
    state.packages_in(folder).mkdir(parents=True)
    (state.packages_in(folder) / f"{engine.module}.py").write_text("")
    state.python_in(folder).parent.mkdir()
    state.python_in(folder).symlink_to(sys.executable)
    ready = state.Ready(engine.name, version, "toy", state.base_python(), 20_000_000)
    state.write_ready(folder, ready)
    return folder
