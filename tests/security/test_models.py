"""Models run with providers and libraries of our choice, rows M4 and M7."""

from __future__ import annotations

import ast
from pathlib import Path

from fusescope.collectors.runtimes import providers
from fusescope.collectors.runtimes.onnxruntime import PROVIDERS

ROOT = Path(__file__).resolve().parents[2]


def calls(name: str) -> list[tuple[str, ast.Call]]:
    """Every call of a function or method of this name in the collectors."""
    found = []
    for path in sorted((ROOT / "collectors").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Call):
                called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if called == name:
                    found.append((path.name, node))
    return found


def test_m4_a_library_of_operators_is_loaded_from_the_recording_s_settings_alone() -> None:
    """Where the settings come from: tests/collectors/derive/test_custom_op_library.py."""
    registered = {(file, ast.unparse(call)) for file, call in calls("register_custom_ops_library")}
    assert registered == {
        ("onnxruntime.py", "ort_options.register_custom_ops_library(library)"),
        ("onnxruntime.py", "ort_options.register_custom_ops_library(settings.kernel_library)"),
    }
    # The second is what the recording built itself, in its own folder.
    kernels = {
        ast.unparse(keyword.value)
        for name in ("replace", "SessionSettings", "Derived")
        for _, call in calls(name)
        for keyword in call.keywords
        if keyword.arg == "kernel_library"
    }
    assert kernels == {
        "str(built)",
        "derived.kernel_library if derived is not None else None",
    }
    given = {
        ast.unparse(keyword.value)
        for _, call in calls("options")
        for keyword in call.keywords
        if keyword.arg == "library"
    }
    assert given == {
        "settings.custom_op_library",
        "library",  # of collectors/derive/pieces.py, from the session settings as well
        "job.path",  # of the job that only tries it
    }
    written = {ast.unparse(call) for _, call in calls("LibraryJob")}
    assert written == {"LibraryJob(pool.library.path)"}


def test_m7_every_session_has_our_providers_and_they_are_the_cpu() -> None:
    """But for a variant that names another: only what the user asked for sets one."""
    assert list(PROVIDERS) == providers.made_ready("", 1) == ["CPUExecutionProvider"]
    ours = {"PROVIDERS"} | {
        f"providers.made_ready({of}.provider, {of}.threads)"
        for of in ("settings", "self._settings")
    }
    sessions = calls("InferenceSession")
    assert len(sessions) >= 2
    for file, call in sessions:
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
        assert given.get("providers") in ours, f"{file}:{call.lineno}"
    chosen = {
        ast.unparse(keyword.value)
        for _, call in calls("Derived")
        for keyword in call.keywords
        if keyword.arg == "provider"
    }
    assert chosen == {"provider.name"}  # found by the name of the variant
    assert calls("set_providers") == []
