"""Which two models a gate is on, where it is on two."""

from __future__ import annotations

from pathlib import Path

from fusescope.analysis.errors import FuseScopeError

_OPTIMISED = ("", "fused")


def models_of(given: Path, other: Path | None, base: str, head: str) -> tuple[Path, Path] | None:
    """The old model and the new one: FILE and NEW; or what --base and --head name, of which one may
    be left out, or be `fused`, for FILE itself. None where neither names a file.

    Raises FuseScopeError where both name files and FILE is neither of them, and where one of them
    is a variant that would have to be recorded of the other's model.
    """
    if other is not None:
        return given, other
    files = [_file(text) for text in (base, head)]
    if files == [None, None]:
        return None
    for text, file, option in zip((base, head), files, ("--base", "--head"), strict=True):
        if file is None and text not in _OPTIMISED:
            raise FuseScopeError("gate_variant_beside_model", option=option, variant=text[:60])
    old, new = (given if file is None else file for file in files)
    if all(files) and given.absolute() not in (old.absolute(), new.absolute()):
        raise FuseScopeError("gate_third_model", where=str(given))
    return old, new


def _file(text: str) -> Path | None:
    """The model's file that a text names, also one that is missing."""
    from fusescope.app.cli.reading import is_model

    path = Path(text)
    return path if text and (path.suffix.lower() == ".onnx" or is_model(path)) else None
