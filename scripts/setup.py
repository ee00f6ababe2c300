#!/usr/bin/env python3
"""Bring .venv up to date; `make` calls this before anything else.

    setup.py run          what the dashboard and the command line need
    setup.py dev          that, and what the tests and checks need
    setup.py suits        exit status 0 if this interpreter can be used
    setup.py constraints  write constraints.txt anew

Returns at once when nothing changed. Keep the syntax at Python 3.6, so that an older
interpreter answers with a sentence and not with a stack trace.
"""

import contextlib
import fcntl
import hashlib
import os
import subprocess
import sys

MINIMUM = (3, 11)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
VENV_PYTHON = os.path.join(VENV, "bin", "python")
STAMP = os.path.join(VENV, "fusescope-ready")
UNFINISHED = os.path.join(VENV, "fusescope-unfinished")
REQUIREMENTS = {"run": ["requirements.txt"], "dev": ["requirements.txt", "requirements-dev.txt"]}
INPUTS = ["pyproject.toml", "constraints.txt", *REQUIREMENTS["dev"]]
# What the set-up itself needs in the .venv: one builds the package, one its translations.
TOOLS = ["setuptools", "babel"]
LANGUAGES = os.path.join(ROOT, "analysis", "messages", "languages")
CONSTRAINTS_HEAD = """\
# Exact versions of everything that `make run` and `make test` install.
# Written by `make constraints`; do not edit by hand.
"""


class Problem(Exception):
    """What hinders the set-up, and what to do about it, in one sentence."""


def version_problem(version, executable):
    """The sentence to show when `version` (major, minor, …) is too old, else None."""
    if tuple(version[:2]) >= MINIMUM:
        return None
    return (
        "FuseScope needs Python {}.{} or newer, and {} is Python {}.{}: install a newer one, "
        "or name it with `make run PYTHON=/path/to/python3.12`."
    ).format(*MINIMUM, executable, *version[:2])


def venv_problem(version, executable):
    """The sentence to show when this interpreter cannot make a virtual environment, else None."""
    try:
        import ensurepip  # noqa: F401 - Debian ships it apart from Python
        import venv  # noqa: F401
    except ImportError:
        return (
            "Python's venv module is missing from {}: run `apt install python3-venv` "
            "(for a second Python, its own: python{}.{}-venv), then the same command again."
        ).format(executable, *version[:2])
    return None


def file_hash():
    """SHA-256 over the files that say what is installed."""
    digest = hashlib.sha256()
    for name in INPUTS:
        with open(os.path.join(ROOT, name), "rb") as file:
            content = file.read()
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def environment():
    """What a .venv is tied to: its Python, and its folder (scripts hold absolute paths)."""
    return "python {}.{} in {}".format(*sys.version_info[:2], ROOT)


def read_stamp():
    """[environment, file hash, level] of the last finished set-up, or [] if there is none."""
    try:
        with open(STAMP, encoding="utf-8") as file:
            return file.read().splitlines()
    except FileNotFoundError:
        return []


def ready(level):
    """True if the last finished set-up was of these files, this Python and at least `level`."""
    stamp = read_stamp()
    return (
        stamp[:2] == [environment(), file_hash()]
        and stamp[2:] in ([level], ["dev"])
        and os.path.exists(VENV_PYTHON)
    )


def reusable():
    """True if packages can be installed into the .venv that is there."""
    stamp = read_stamp()
    if os.path.exists(UNFINISHED) or (stamp and stamp[0] != environment()):
        return False
    probe = "import sys, pip; sys.exit(sys.version_info[:2] != {})".format(sys.version_info[:2])
    try:
        return subprocess.call([VENV_PYTHON, "-I", "-c", probe], stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def run(command, failure):
    """Run a command in the project's root; raise Problem(failure) unless it ends well."""
    # A `user = true` in somebody's pip settings would make every install into a venv fail.
    if subprocess.call(command, cwd=ROOT, env=dict(os.environ, PIP_USER="0")) != 0:
        raise Problem(failure)


def pip_install(python, arguments):
    """Install with the pip of `python`; its progress shows on a terminal only."""
    options = ["--disable-pip-version-check", "--no-input", "--no-warn-script-location"]
    quiet = [] if sys.stdout.isatty() else ["--quiet"]
    run(
        [python, "-I", "-m", "pip", "install", *options, *quiet, *arguments],
        "Installing the packages failed, for the reason above: put it right (network? disk "
        "space?), then run the same command again.",
    )


def make_venv(folder):
    """An empty virtual environment in `folder`, which loses what it held."""
    problem = venv_problem(sys.version_info, sys.executable)
    if problem:
        raise Problem(problem)
    import venv

    try:
        venv.create(folder, clear=True, symlinks=True, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Problem(
            f"Making {folder} failed ({error}): remove that folder, then run the same command "
            "again."
        ) from error


@contextlib.contextmanager
def alone():
    """Wait until no other set-up of this folder runs, and keep others waiting meanwhile."""
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("Another set-up of this folder is running; waiting for it.", flush=True)
        fcntl.flock(folder, fcntl.LOCK_EX)
    except OSError:
        pass  # some network file systems cannot lock: then two at once are the user's risk
    try:
        yield
    finally:
        os.close(folder)


def install(level):
    """Install the exact versions of `level`. A stamp marks only what was finished."""
    print(
        "Setting up .venv with Python {}.{}; the first time takes some minutes on a slow "
        "connection.".format(*sys.version_info[:2]),
        flush=True,
    )
    if not reusable():
        make_venv(VENV)
    open(UNFINISHED, "w").close()
    if os.path.exists(STAMP):
        os.remove(STAMP)
    requirements = [word for name in REQUIREMENTS[level] for word in ("-r", name)]
    pip_install(VENV_PYTHON, ["-c", "constraints.txt", *requirements, *TOOLS])
    pip_install(VENV_PYTHON, ["--no-deps", "--no-build-isolation", "-e", "."])
    translate()
    with open(UNFINISHED, "w", encoding="utf-8") as file:
        file.write(f"{environment()}\n{file_hash()}\n{level}\n")
    os.rename(UNFINISHED, STAMP)


def untranslated():
    """Whether a catalogue (.po) is newer than what is read of it at run time (.mo)."""
    for name in sorted(os.listdir(LANGUAGES)):
        source = os.path.join(LANGUAGES, name)
        made = source[: -len("po")] + "mo"
        if source.endswith(".po") and (
            not os.path.exists(made) or os.path.getmtime(made) < os.path.getmtime(source)
        ):
            return True
    return False


def translate():
    """Make what is read at run time of the translations."""
    run(
        [VENV_PYTHON, "-I", os.path.join("scripts", "catalogue.py"), "compile"],
        f"The translations in {LANGUAGES} cannot be read: see the lines above.",
    )


def set_up(level):
    """Bring .venv up to `level`, one set-up of this folder at a time."""
    if ready(level) and not untranslated():
        return
    for folder in [ROOT, VENV]:
        if os.path.exists(folder) and not os.access(folder, os.W_OK):
            raise Problem(
                f"{folder} cannot be written by this user: run the same command as its owner, or "
                "in a copy of your own."
            )
    with alone():
        if not ready(level):
            install(level)
        elif untranslated():
            translate()


def write_constraints():
    """Resolve the requirements in a fresh environment and pin what came out."""
    import tempfile

    if sys.version_info[:2] != MINIMUM:
        raise Problem(
            "Pins must hold for the oldest Python too: run `make constraints "
            "PYTHON=python{}.{}`.".format(*MINIMUM)
        )
    with tempfile.TemporaryDirectory() as folder:
        make_venv(folder)
        python = os.path.join(folder, "bin", "python")
        requirements = [word for name in REQUIREMENTS["dev"] for word in ("-r", name)]
        pip_install(python, ["--upgrade", *requirements, *TOOLS])
        pins = subprocess.check_output(
            [python, "-I", "-m", "pip", "list", "--format=freeze", "--exclude=pip"],
            universal_newlines=True,
        )
    with open(os.path.join(ROOT, "constraints.txt"), "w", encoding="utf-8") as file:
        file.write(CONSTRAINTS_HEAD + pins)


def main(arguments):
    """Exit status: 0 done, 2 with a sentence on stderr when something hinders it."""
    task = arguments[0] if arguments else "run"
    try:
        problem = version_problem(sys.version_info, sys.executable)
        if problem is None and task == "suits" and not sys.executable.startswith(VENV + os.sep):
            problem = venv_problem(sys.version_info, sys.executable)
        if problem:
            raise Problem(problem)
        if task == "constraints":
            write_constraints()
        elif task in REQUIREMENTS:
            set_up(task)
        elif task != "suits":
            raise Problem(f"Unknown task {task}: it is one of run, dev, suits and constraints.")
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Set-up was interrupted: run the same command again.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
