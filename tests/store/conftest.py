"""Whether files are parsed or come out of the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from fusescope.analysis.readers.input.source import Source
from fusescope.app.store import keeping, settings


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Names of files that were parsed; all of more than a few bytes are kept."""
    seen: list[str] = []
    read = keeping.read

    def counted(source: Source, *rest: object) -> object:
        seen.append(source.name)
        return read(source, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(keeping, "read", counted)
    monkeypatch.setattr(keeping, "MIN_BYTES", 1000)
    monkeypatch.setattr(keeping, "_PACKED_BYTES", 100)
    monkeypatch.setenv(settings.FOLDER_VARIABLE, str(tmp_path / "library"))
    return seen


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of a file's last change is not ours to set: it has been long enough."""
    from fusescope.app.store import known

    monkeypatch.setattr(known, "_SETTLED_NS", -(10**18))
