"""Nothing leaves the machine, and no library writes files of its own below the user's home."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fusescope.analysis.experiment import parse_record
from tests import known_peaks
from tests.browser.serving import Server
from tests.patience import GIVE_UP_S

if TYPE_CHECKING:
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

ROOT = Path(__file__).resolve().parents[2]
MAIN = [sys.executable, "-c", "from fusescope.app.cli.main import main; main()"]
WATCHED = "trace=openat,connect,sendto,sendmsg,sendmmsg"
_ADDRESS = re.compile(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"')


class Home:
    """A user with an empty home, and what a command did there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("home", "tmp", "work"):
            (folder / name).mkdir()
        self.calls = folder / "calls"
        self.environment = {
            "HOME": str(folder / "home"),
            "TMPDIR": str(folder / "tmp"),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
        }

    def command(self, *arguments: str) -> list[str]:
        """The verb, under strace where its calls can be seen."""
        strace = ["strace", "-f", "-qq", "--seccomp-bpf", "-e", WATCHED, "-o", str(self.calls)]
        return [*(strace if can_watch() else []), *MAIN, *arguments]

    def files(self) -> list[str]:
        """Everything that lies there now, below `home`, `tmp` and `work`."""
        found = (path for path in self.folder.glob("*/**/*") if path.is_file())
        return sorted(str(path.relative_to(self.folder)) for path in found)

    def reached_out(self) -> list[str]:
        """The calls that asked for a name, or for a machine other than this one."""
        if not self.calls.exists():
            pytest.skip("files are as they should be; to see calls, strace must be there")
        said = self.calls.read_text(errors="replace").splitlines()
        return [
            line
            for line in said
            if "resolv.conf" in line
            or "/Microsoft/" in line  # what ONNX Runtime keeps for its reports
            or "htons(53)" in line
            or any(
                not address.startswith(("127.", "::1", "::ffff:127."))
                for pair in _ADDRESS.findall(line)
                for address in pair
                if address
            )
        ]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def can_watch() -> bool:
    """Whether strace is there and may watch processes: without it only files are looked at."""
    if shutil.which("strace") is None:
        return False
    command = ["strace", "-f", "--seccomp-bpf", "-o", os.devnull, "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.exhaustive  # a dashboard and the engine are below
def test_a_recording_writes_its_file_and_its_cache_and_asks_nobody(
    home: Home,
) -> None:
    pytest.importorskip("onnxruntime", reason="recording needs the extra 'collect'")
    arguments = ["--variants", "eager,unfused,fused,int8,rules:O3", "--rounds", "3"]
    done = subprocess.run(
        home.command("collect", "mul_add", *arguments, "--blocks", "1", "--out", "a.zip"),
        cwd=home.folder / "work",
        env=home.environment,
        capture_output=True,
        text=True,
        timeout=GIVE_UP_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    files = home.files()
    assert "work/a.zip" in files
    with zipfile.ZipFile(home.folder / "work" / "a.zip") as archive:
        found = parse_record(archive.read("experiment.json")).peaks
    assert found.gemm_flops_per_s and found.memory  # this machine's own
    assert found != known_peaks.peaks()
    ours = "home/.cache/fusescope/"
    if sys.platform == "darwin":
        ours = "home/Library/Caches/fusescope/"
    assert [name for name in files if not name.startswith(ours) and name != "work/a.zip"] == []
    assert home.reached_out() == []


SESSION = """
from fusescope.collectors.zoo import catalogue, store
from fusescope.collectors.runtimes import onnxruntime as ours
import onnxruntime
model = store.build(catalogue.chosen("mul_add", None)).SerializeToString()
onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
"""


def test_the_engine_leaves_no_device_id_whoever_loads_it(home: Home) -> None:
    """In a worker such files would go with its scratch folder, and their upload be tried."""
    pytest.importorskip("onnxruntime", reason="recording needs the extra 'collect'")
    done = subprocess.run(
        [sys.executable, "-c", SESSION],
        cwd=home.folder / "work", env=home.environment, timeout=GIVE_UP_S, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert home.files() == []


def open_page(port: int) -> list[ForwardMsg]:
    """Runs the first page to its end, as a browser would; all that it said."""
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
    from websockets.sync.client import connect

    with connect(
        f"ws://127.0.0.1:{port}/_stcore/stream",
        origin=f"http://127.0.0.1:{port}",
        subprotocols=["streamlit"],
        open_timeout=GIVE_UP_S,
        max_size=None,
        proxy=None,
    ) as page:
        wanted = BackMsg()
        wanted.rerun_script.query_string = ""
        page.send(wanted.SerializeToString())
        said = []
        while not said or said[-1].WhichOneof("type") != "script_finished":
            said.append(ForwardMsg.FromString(page.recv(timeout=GIVE_UP_S)))
        return said


def test_a_dashboard_writes_nothing_and_asks_nobody(home: Home) -> None:
    pytest.importorskip("streamlit", reason="the dashboard needs the extra 'dashboard'")
    # What other projects of the user set does not undo it.
    theirs = "[browser]\ngatherUsageStats = true\n"
    for place in ("home", "work"):
        (home.folder / place / ".streamlit").mkdir()
        (home.folder / place / ".streamlit" / "config.toml").write_text(theirs)
    before = home.files()
    home.environment["STREAMLIT_BROWSER_GATHER_USAGE_STATS"] = "true"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = home.folder / "server.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            home.command("serve", "--no-browser", f"--port={port}"),
            cwd=home.folder / "work",
            env=home.environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        Server(process, log).wait_for(r"FuseScope: (http://127\.0\.0\.1:\d+)\n")
        said = open_page(port)
    finally:
        _end(process)
    assert home.files() == before, log.read_text()
    [session] = [one.new_session for one in said if one.HasField("new_session")]
    assert session.config.gather_usage_stats is False
    assert any("mobilenetv2" in str(one) for one in said)  # the sample, compared
    assert home.reached_out() == []


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ctrl-C for the server: strace passes it on and ends with it."""
    for signals in (signal.SIGINT, signal.SIGKILL):
        try:
            os.killpg(process.pid, signals)
            process.wait(60)
            return
        except subprocess.TimeoutExpired:
            continue


def test_a_call_beyond_this_machine_would_be_seen(home: Home) -> None:
    """The words are those of strace."""
    call = 'connect(3, {{sa_family=AF_INET, sin_port=htons({}), sin_addr=inet_addr("{}")}}, 16)\n'
    home.calls.write_text(
        call.format(80, "127.0.0.1")
        + call.format(53, "127.0.0.53")
        + call.format(443, "192.0.2.1")
        + "connect(3, {sa_family=AF_INET6, sin6_port=htons(443), sin6_flowinfo=htonl(0), "
        'inet_pton(AF_INET6, "2001:db8::1", &sin6_addr), sin6_scope_id=0}, 28)\n'
        'openat(AT_FDCWD, "/etc/resolv.conf", O_RDONLY|O_CLOEXEC) = 3\n'
        'openat(AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 3\n'
    )
    assert len(home.reached_out()) == 4
