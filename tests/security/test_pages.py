"""Hostile files on the pages and at the server: rows A1 to A12 and R27."""

from __future__ import annotations

import http.client
import json
import re
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import pytest
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.testing.v1 import AppTest

from fusescope.analysis.readers.reader import Reader
from fusescope.app.parts import operators, panels
from fusescope.app.sources import uploads
from tests import miniatures
from tests.app.conftest import start, tree  # noqa: F401
from tests.app.pages import headline, is_clean, markdown_texts, texts
from tests.browser.serving import SERVE, free_port, started
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, profile_json
from tests.patience import GIVE_UP_S
from tests.security import planted
from tests.security.planted import CONTROLS, MARKUP

Start = Callable[..., AppTest]
ROOT = Path(__file__).resolve().parents[2]
# Pieces that must never stand where Markdown is read.
DANGEROUS = ("<img", "![a]", ":red[boo]", "$x^2$", "javascript:", "evil.example")
BY_NAME = {reader.name: reader for reader in miniatures.FORMATS}
FOLDER = MARKUP[:60].replace("/", "\N{DIVISION SLASH}")


def upload(page: AppTest, *files: tuple[str, bytes]) -> AppTest:
    page.file_uploader[0].set_value(
        [(name, data, "application/octet-stream") for name, data in files]
    )
    return page.run()


def hostile_zip(*readers: Reader) -> bytes:
    """The marked samples of these formats, each in a folder whose name is marked as well."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for reader in readers:
            for source in planted.suffixed(reader, MARKUP + CONTROLS):
                archive.writestr(f"{reader.name} {FOLDER}/{source.path}", source.data)
    return buffer.getvalue()


def assert_no_markup(page: AppTest) -> None:
    assert is_clean(page)
    assert not page.error
    for text in markdown_texts(page):
        assert [piece for piece in DANGEROUS if piece in text] == [], text[:200]


@pytest.mark.exhaustive  # the doctor, and every view of one format, are below
def test_a1_what_files_say_is_no_markup(start: Start) -> None:  # noqa: F811
    """Fates, import doctor and comparison of marked files; the names of files are marked too."""
    page = upload(start(), (f"{FOLDER}.zip", hostile_zip(*miniatures.FORMATS)))
    assert_no_markup(page)
    told = [text for text in texts(page) if "<img" in text]
    doctors = [button for button in page.button if button.label == "What it contains"]
    assert len(doctors) >= 10  # the other formats are left aside where one says more
    assert len(told) > len(doctors)  # a fate each
    assert len(page.metric) > 4
    quoted = 0
    for doctor in [button.key for button in doctors]:
        page.button(key=doctor).click().run()
        assert_no_markup(page)
        quoted += sum("<img" in text for text in texts(page)) - len(told)
    assert quoted > 0  # what the doctors quote of the files


def _doctors() -> None:
    from fusescope.analysis.readers.formats import READERS
    from fusescope.app.parts import doctor
    from tests.security import planted

    for reader in READERS:
        if reader.name != "experiment":
            text = planted.MARKUP + planted.CONTROLS
            trace = planted.only_trace(planted.suffixed(reader, text))
            doctor.show(trace, whole=False)
            doctor.show(trace)


def test_a1_the_doctor_of_every_format_says_text() -> None:
    page = AppTest.from_function(_doctors, default_timeout=GIVE_UP_S).run()
    assert_no_markup(page)
    shown = " ".join(texts(page))
    assert all(reader.title in shown for reader in miniatures.FORMATS)
    assert shown.count("<img") > 20


@pytest.mark.parametrize(
    "name",
    [
        "ascend_kernel_details",
        pytest.param("kineto", marks=pytest.mark.exhaustive),
        pytest.param("tensorrt_profile", marks=pytest.mark.exhaustive),
    ],
)
def test_a1_every_view_of_hostile_operators_is_no_markup(start: Start, name: str) -> None:  # noqa: F811
    plain = miniatures.zipped(miniatures.files(BY_NAME[name]))
    page = upload(
        start(), (f"before {FOLDER}.zip", hostile_zip(BY_NAME[name])), ("after.zip", plain)
    )
    assert "<img" in headline(page)
    views = [control for control in page.segmented_control if control.key == "ascend_view"]
    assert len(views) == (name == "ascend_kernel_details")
    for view in operators.VIEWS if views else ("",):
        if views:
            page.segmented_control(key="ascend_view").set_value(view).run()
        assert_no_markup(page)
        assert "<img" in str(page.dataframe(key="operator_table").value.to_dict())
    kinds = page.segmented_control(key="kind").options
    for kind in ("Op types", "Classes", "Launched by"):
        if panels.segment(kind) not in kinds:
            assert kind == "Launched by"
            continue
        page.segmented_control(key="kind").set_value(kind).run()
        assert_no_markup(page)
    shown = " ".join(texts(page))
    assert "<img" in shown
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", shown)


def test_a1_chosen_classes_and_searches_are_no_markup(start: Start) -> None:  # noqa: F811
    page = upload(
        start(),
        ("a.zip", hostile_zip(BY_NAME["kineto"])),
        ("b.json", profile_json(UNFUSED_OPERATORS)),
    )
    page.text_input(key="search").set_value(MARKUP).run()
    assert_no_markup(page)


def test_a2_a_damaged_member_of_a_zip_is_quoted_as_text(start: Start) -> None:  # noqa: F811
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(f"{FOLDER}/{FOLDER}.json", b'[{"cat":"Node","name":"' + b"\x00" * 9)
        archive.writestr(f"{FOLDER}/\x1b[31m\u202e.json", b'{"traceEvents":[{}]}')
    page = upload(start(), (f"{FOLDER}.zip", buffer.getvalue()))
    assert_no_markup(page)
    assert any("<img" in text for text in texts(page))
    assert not any("\x1b" in text or "\u202e" in text for text in texts(page))


def test_r27_folders_of_an_upload_are_labels(start: Start) -> None:  # noqa: F811
    """Browsers name the files of a folder by their path in it."""
    files = [(f"../../etc/{n}\\..\\x.json", profile_json(ops, runs=6))
             for n, ops in enumerate((UNFUSED_OPERATORS, FUSED_OPERATORS))]  # fmt: skip
    page = upload(start(), *files)
    assert is_clean(page)
    shown = " ".join(texts(page)) + headline(page)
    assert "x.json" in shown
    assert ".." not in shown.replace(" … ", "") and "etc" not in shown


# While a file is read.


def test_a11_reruns_while_a_file_is_read_read_it_once_and_lose_nothing(
    start: Start,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever clicks while a file is read starts the page again."""
    reads: list[int] = []
    read = uploads.read_all

    def read_slowly(*arguments: object) -> object:
        found = read(*arguments)  # type: ignore[arg-type]
        reads.append(len(found.recordings))
        context = get_script_run_ctx()
        assert context is not None and context.script_requests is not None
        for _ in range(20):
            context.script_requests.request_rerun(RerunData(query_string=context.query_string))
        return found

    monkeypatch.setattr(uploads, "read_all", read_slowly)
    before, after = (profile_json(o, runs=6) for o in (UNFUSED_OPERATORS, FUSED_OPERATORS))
    page = upload(start(), ("before.json", before), ("after.json", after))
    assert is_clean(page)
    assert reads == [2]
    assert "before.json" in headline(page) and "after.json" in headline(page)
    assert sum(text.startswith("before.json") for text in texts(page)) == 1  # its fate


# The server.


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of `fusescope serve`."""
    command = [*SERVE, f"--port={free_port()}"]
    with started(command, tmp_path_factory.mktemp("serve")) as running:
        url = running.wait_for(r"FuseScope: (http://127\.0\.0\.1:\d+)\n")
        yield int(url.rpartition(":")[2])


def ask(
    port: int, method: str, path: str, body: bytes = b"", **headers: str
) -> tuple[int, str, str]:
    """Status, text and cookie of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=GIVE_UP_S)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body=body, headers=named)
    answer = connection.getresponse()
    text = answer.read().decode(errors="replace")
    connection.close()
    return answer.status, text, answer.getheader("set-cookie") or ""


def test_a6_an_upload_without_the_token_of_its_page_is_refused(server: int) -> None:
    path = "/_stcore/upload_file/some-session/some-file"
    status, text, _ = ask(server, "PUT", path, b"x")
    assert (status, "XSRF" in text) == (403, True)
    assert ask(server, "DELETE", path)[0] == 403
    wrong = ask(server, "PUT", path, b"x", Cookie="_streamlit_xsrf=1", X_Xsrftoken="2")
    assert wrong[0] == 403
    assert ask(server, "GET", "/_stcore/health")[0] == 200


def test_a6_with_the_token_only_a_living_session_may_upload(server: int) -> None:
    _, _, cookie = ask(server, "GET", "/_stcore/health")
    _, _, cookie = ask(server, "GET", "/_stcore/host-config") if not cookie else (0, "", cookie)
    token = re.search(r"_streamlit_xsrf=([^;]+)", cookie)
    assert token is not None
    status, text, _ = ask(
        server, "PUT", "/_stcore/upload_file/some-session/some-file", b"x",
        Cookie=f"_streamlit_xsrf={token[1]}", X_Xsrftoken=token[1],
    )  # fmt: skip
    assert (status, "session" in text) == (400, True)


def test_a12_the_settings_that_keep_traces_on_this_machine() -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["server"]["address"] == "127.0.0.1"
    assert config["server"]["enableXsrfProtection"] is True
    assert config["server"]["enableCORS"] is True
    assert config["server"]["enableStaticServing"] is False
    assert config["server"].get("enableAgentApi", False) is False
    assert set(config["server"]["allowedHosts"]) == {"localhost", "127.0.0.1"}
    assert config["server"]["maxUploadSize"] == 256
    assert config["browser"]["gatherUsageStats"] is False
    assert config["client"]["showErrorDetails"] == "none"
    assert config["client"]["showErrorLinks"] is False
    assert json.dumps(config)
