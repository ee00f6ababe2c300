"""The forms that paths, addresses and names of users and hosts have in texts."""

from __future__ import annotations

import re

# What stands before an absolute path, and what cannot be in one.
_START = r"(?<![\w.\-/\\<>])"
_STOP = r"\r\n\t\"'`<>|*?;,:"
_END = rf"[^\s{_STOP}/\\()\[\]{{}}]*"
_FOLDERS = rf"(?:[^{_STOP}/\\]{{0,80}}[/\\]+)*"
# Roots that no exporter of models gives its modules; '/layer1/Conv' is a name and no path.
_ROOTS = (
    r"home\d*|Users|usr|opt|tmp|var|etc|mnt\d*|media|private|Volumes|workspace|nfs\d*|scratch\d*|"
    r"srv|proc|gpfs\d*|lustre|export|builds|System|Library|Applications"
)
_FILE = r"\.(?:py|pyc|so|json|onnx|cpp|cc|cu|cuh|hpp|h|hip|zip|gz|csv|txt|db|info|yaml|toml|sh|npz)"
# An address goes on over a user's password, a port and what is asked for: there are access tokens.
# The signs of a sentence around it are not in it.
_IN_URL, _BETWEEN = r"[^\s\"'`<>|*;,:()\[\]{}]", r"[*;,:()\[\]{}]"
_URL = (
    r"(?P<url>\b(?P<scheme>[a-zA-Z][\w+.-]{1,15})://"
    rf"(?P<rest>(?:{_IN_URL}|{_BETWEEN}+(?={_IN_URL}))*))"
)
_FILE_URL = rf"(?P<file>\bfile:/+{_FOLDERS}{_END})"
_UNC = rf"(?P<unc>(?<![\w\\])\\\\+[\w.$-]+[\\/]+{_FOLDERS}{_END})"
_WINDOWS = rf"(?P<windows>(?<![\w])[A-Za-z]:[\\/]+{_FOLDERS}{_END})"
_HOME = rf"(?P<home>(?<![\w/\\])~[\w.-]*/{_FOLDERS}{_END})"
_ROOTED = rf"(?P<rooted>{_START}/+(?:{_ROOTS}|root/\.\w+)(?:/+{_FOLDERS}{_END}|(?![\w.-])))"
_NAMED = rf"(?P<named>{_START}/+[^\s{_STOP}/\\]+/{_FOLDERS}[^\s{_STOP}/\\]*{_FILE}\b)"
_ANY = rf"(?P<any>{_START}/+[^\s{_STOP}/\\()]+/{_FOLDERS}{_END})"
_MAIL = (
    r"(?P<mail>(?<![\w@.])(?P<mailuser>[A-Za-z][\w.+-]{0,63})"
    r"@(?P<mailhost>[A-Za-z](?:[\w-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9-]+)*)(?![\w@]))"
)
_SURE = f"{_FILE_URL}|{_URL}|{_UNC}|{_WINDOWS}|{_HOME}|{_ROOTED}|{_NAMED}"
PARTS_OF_URL = re.compile(r"([^/?#]*)(/[^?#]*)?([?#].*)?", re.DOTALL)
MAIL = re.compile(_MAIL)
IN_NAMES = re.compile(f"{_SURE}|{_MAIL}")
IN_TEXTS = re.compile(f"{_SURE}|{_ANY}|{_MAIL}")
WHOLE = re.compile(r"(?:/|~[\w.-]*/|[A-Za-z]:[\\/]|\\\\)[^\r\n]*")
SUSPECT = re.compile(r"[/\\@~]")

OWNER = re.compile(
    r"(?:(?<![\w.])/+home\d*/+|(?:^|[/\\])Users[/\\]+|(?<=/)users/+|Documents and Settings[/\\]+"
    rf"|(?<![\w/\\])~)(?:(?P<spaced>[^{_STOP}/\\]{{1,64}})(?=[/\\])|(?P<plain>[^\s{_STOP}/\\()]+))"
)
SHARE = re.compile(r"(?<![\w\\:])\\\\+([A-Za-z0-9][\w.-]*)(?=[\\/])")
# <host>_<pid>_<time>_ascend_pt, <host>_<pid>.<time>.pt.trace.json
TRACE_NAME = re.compile(r"(?:^|[/\\])([A-Za-z0-9][\w.-]*?)_\d+[_.]\d{10,}(?=[_.])")
TIME_IN_NAME = re.compile(r"\d[_.]\d{10}")  # in every name of a trace
AT_ONCE = 1000  # texts that are looked through as one, to see whether any of them tells something
FILE_NAME = re.compile(r"[\w.+@-]{0,80}\.[A-Za-z]\w{0,7}(?:\(\d+\))?")  # model.py(12)
SYMBOL_VERSION = re.compile(r"[A-Z][A-Z_]+[\d._]*")  # memcpy@GLIBC_2.14
PLACEHOLDER = r"<(?:path|user|host|private)\d*>"
