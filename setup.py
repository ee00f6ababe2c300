"""What pyproject.toml cannot say of the build: the translations are compiled into the wheel."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
LANGUAGES = Path("fusescope", "analysis", "messages", "languages")
sys.path.insert(0, str(ROOT / "scripts"))

from catalogue import compile_all  # of scripts/


class BuildWithTranslations(build_py):
    """As ever, without what an earlier build left in its folder, and then every catalogue (.po) as
    what is read of it at run time (.mo)."""

    def run(self) -> None:
        if not self.editable_mode:
            shutil.rmtree(Path(self.build_lib) / "fusescope", ignore_errors=True)
        super().run()
        compile_all((ROOT if self.editable_mode else Path(self.build_lib)) / LANGUAGES)


setup(cmdclass={"build_py": BuildWithTranslations})
