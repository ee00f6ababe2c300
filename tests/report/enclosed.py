"""What lies in the data of a report, as bytes that can be searched."""

from __future__ import annotations

import base64
import io
import re
import zipfile


def data_of(page: str) -> bytes:
    """The archive in a report."""
    found = re.search(r'id="fusescope-data">([^<]+)</script>', page)
    assert found is not None
    return base64.b64decode(found[1], validate=True)


def files_of(data: bytes) -> dict[str, bytes]:
    """Every file in an archive, those of archives in it too, by its path."""
    found = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            inside = archive.read(name)
            found[name] = inside
            if name.endswith(".zip"):
                found |= {f"{name}/{path}": file for path, file in files_of(inside).items()}
    return found


def page_with(data: bytes) -> bytes:
    """The least that is taken for a report, around an archive."""
    text = base64.b64encode(data).decode()
    return (
        '<!doctype html><html><head><meta name="generator" content="FuseScope report"></head>'
        f'<body><script type="application/octet-stream" id="fusescope-data">{text}</script></body>'
    ).encode()
