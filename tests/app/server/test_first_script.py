"""What a page gets before Streamlit's own scripts."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path

from starlette.types import Message, Receive, Scope, Send

from fusescope.app.server import first_script
from fusescope.app.server.first_script import FIRST_SCRIPT, FirstScript, soon_needed

ROOT = Path(__file__).resolve().parents[3]
LINK = re.compile(r'<link rel="modulepreload" crossorigin href="\./static/js/([\w.-]+)">')


def test_what_a_script_imports_is_needed_with_it(tmp_path: Path) -> None:
    """Two scripts import each other, one is not there, and nothing imports the last one."""
    scripts = {
        "PageLink.1.js": 'import{a as b}from"./shared.2.js";import"./gone.3.js";',
        "shared.2.js": 'import{c}from"./PageLink.1.js";const d=()=>import("./later.4.js");',
        "later.4.js": "",
        "Slider.5.js": 'import"./shared.2.js";',
    }
    for name, text in scripts.items():
        (tmp_path / name).write_text(text)
    assert set(soon_needed(tmp_path)) == {"PageLink.1.js", "shared.2.js"}


def test_this_streamlit_has_the_scripts_that_are_needed_soon() -> None:
    kinds = {name.partition(".")[0] for name in soon_needed()}
    assert {*first_script._SOON_NEEDED} <= kinds


def test_a_page_names_each_script_once() -> None:
    """Of those that Streamlit's page names itself, its own link stays the only one."""
    first, *_ = named = soon_needed()
    own = f'<link rel="modulepreload" crossorigin href="./static/js/{first}">'
    page = f"<html><head><script>1</script>{own}</head><body></body></html>".encode()

    async def answer(_scope: Scope, _receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/html"), (b"content-length", b"%d" % len(page))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": page})

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    scope = {"type": "http", "method": "GET", "headers": [(b"accept", b"text/html")]}
    asyncio.run(FirstScript(answer)(scope, receive, send))
    start, body = sent
    text = body["body"].decode()
    assert dict(start["headers"])[b"content-length"] == str(len(body["body"])).encode()
    assert text.index(FIRST_SCRIPT) < text.index("<script>1</script>")
    assert sorted(LINK.findall(text.partition("</head>")[0])) == sorted(named)


def test_the_first_page_loads_no_other_page() -> None:
    code = (
        "import sys\n"
        "from streamlit.testing.v1 import AppTest\n"
        "page = AppTest.from_file('app/main.py').run(timeout=180)\n"
        "assert not page.exception and page.header\n"
        "print(*sorted(name for name in sys.modules if name.startswith('fusescope.app.views.')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    views = [name.rpartition(".")[2] for name in done.stdout.split()]
    assert views == ["former", "home"]
