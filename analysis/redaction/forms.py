"""The forms that paths, addresses and names of users and hosts have in texts."""

from __future__ import annotations

import re

# What stands before an absolute path, and what cannot be in one.
_OPTION = r"(?<=-[A-Za-z])(?<![\w.)\]]-[A-Za-z])"  # of a compiler: -I/home/…
_UP = r"(?:(?<![\w./\\-])(?:\.{1,2}[/\\]+)*\.\.(?=[/\\]))"  # ../../home/…
_START = rf"(?:(?<![\w.\-/\\])|{_OPTION}|{_UP})"
_STOP = r"\r\n\t\"'`<>|*?;,:"
_COMMA = r",(?![\s/\\,])"  # in a name; in a list of paths the next one follows
_END = rf"(?:[^\s{_STOP}/\\()\[\]{{}}]|{_COMMA})*"
_FOLDERS = rf"(?:(?:[^{_STOP}/\\]|{_COMMA}){{0,80}}[/\\]+)*"
# Roots that no exporter of models gives its modules; '/layer1/Conv' is a name and no path.
_ROOTS = (
    r"home\d*|Users|usr|opt|tmp|var|etc|mnt\d*|media|private|Volumes|workspace|nfs\w*|scratch\w*|"
    r"srv|proc|gpfs\w*|lustre\w*|beegfs\w*|ceph\w*|gluster\w*|panfs|weka\w*|cluster\w*|afs|efs|fsx|"
    r"dbfs|hdfs|projects?|export|builds|System|Library|Applications"
)
# Wherever a home folder lies: /cluster/home/eve, /p/users/eve.
_BELOW = r"(?:[\w.-]{1,80}/+){1,6}(?:home\d*|[Uu]sers?)(?=/)"
_FILE = r"\.(?:py|pyc|so|json|onnx|cpp|cc|cu|cuh|hpp|h|hip|zip|gz|csv|txt|db|info|yaml|toml|sh|npz)"
# An address goes on over a user's password, a port and what is asked for: there are access tokens.
# The signs of a sentence around it are not in it.
_IN_URL, _BETWEEN = r"[^\s\"'`<>|*;,:()\[\]{}]", r"[*;,:()\[\]{}]"
_URL = (
    r"(?P<url>\b(?P<scheme>[a-zA-Z][\w+.-]{1,15})://"
    rf"(?P<rest>(?:{_IN_URL}|{_BETWEEN}+(?={_IN_URL}))*))"
)
_FILE_URL = rf"(?P<file>\bfile:/+{_FOLDERS}{_END})"
_UNC = rf"(?P<unc>(?<![\w\\])\\\\+(?:[?.]\\+)?[\w.$-]+[\\/]+{_FOLDERS}{_END})"
_SHARED = rf"(?P<shared>(?<![\w:/\\.>-])//[\w.$-]+/+{_FOLDERS}{_END})"
_ENCODED = (
    r"(?P<encoded>(?:\b[A-Za-z]%3[Aa])?(?:%(?:25)?(?:2[Ff]|5[Cc])[\w.~+-]*(?:%20[\w.~+-]*)*){2,})"
)
_WINDOWS = rf"(?P<windows>(?<![\w])[A-Za-z]:[\\/]+{_FOLDERS}{_END})"
_HOME = rf"(?P<home>(?<![\w/\\])~[\w.-]*/{_FOLDERS}{_END})"
_ROOTED = (
    rf"(?P<rooted>{_START}/+(?:{_ROOTS}|{_BELOW}|root/\.\w+)(?:/+{_FOLDERS}{_END}|(?![\w.-])))"
)
_NAMED = rf"(?P<named>{_START}/+[^\s{_STOP}/\\]+/{_FOLDERS}[^\s{_STOP}/\\]*{_FILE}\b)"
_ANY = rf"(?P<any>{_START}/+[^\s{_STOP}/\\()]+/{_FOLDERS}{_END})"
_IP = r"(?:\d{1,3}\.){3}\d{1,3}"
# A layer of Ascend's software and what the host does in it: Dequeue@aclnnAddmm, Node@launch.
_CALL = r"(?:Dequeue|Enqueue|AscendCL|Model|Node|Hccl|HCCL|Communication|Runtime)@\w+(?![\w.-])"
_MAIL = (
    rf"(?P<mail>(?<![\w@.])(?!{_CALL})"
    r"(?P<mailuser>[A-Za-z][\w.+-]{0,63})"
    rf"@(?P<mailhost>[A-Za-z](?:[\w-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9-]+)*|{_IP})(?![\w@])"
    # git@host:team/project
    rf"(?:(?P<mailcolon>:)(?P<mailpath>(?![\s/]){_FOLDERS}(?<=/){_END}|/{_FOLDERS}{_END}))?)"
)
# With its port: a name of a host has points in it, or a hyphen and a number, and is no file.
_PORT = (
    r"(?P<port>(?<![\w.@:/-])(?P<porthost>"
    rf"{_IP}|\[[0-9a-fA-F:]*:[0-9a-fA-F:]*\]"
    rf"|(?:[A-Za-z0-9-]{{1,63}}\.){{1,8}}(?!(?:{_FILE[5:-1]}):)[A-Za-z]{{2,24}}"
    r"|[A-Za-z]\w{0,62}-(?:\w{1,30}-){0,4}[A-Za-z]*\d+(?=:\d{4}))"
    r":\d{2,5}(?![\w.:]))"
)
_SURE = (
    f"{_FILE_URL}|{_URL}|{_UNC}|{_SHARED}|{_WINDOWS}|{_HOME}|{_ROOTED}|{_NAMED}|{_ENCODED}|{_PORT}"
)
PARTS_OF_URL = re.compile(r"([^/?#]*)(/[^?#]*)?([?#].*)?", re.DOTALL)
MAIL = re.compile(_MAIL)
IN_NAMES = re.compile(f"{_SURE}|{_MAIL}")
IN_TEXTS = re.compile(f"{_SURE}|{_ANY}|{_MAIL}")
WHOLE = re.compile(r"(?:/|\.\.[/\\]|~[\w.-]*/|[A-Za-z]:[\\/]|\\\\)[^\r\n]*")
SUSPECT = re.compile(r"[/\\@~]|%(?:25)?(?:2[Ff]|5[Cc])|:\d{2,5}(?!\d)")
ENCODED = re.compile(r"%(?:25)?(?:2[Ff]|5[Cc])")

# Not ~Destructor() of C++, nor the hash at the end of a text that was shortened.
_TILDE = r"(?<![\w/\\])(?<!::)~(?![0-9a-f]{8}…)"
OWNER = re.compile(
    r"(?:(?<![\w.])(?:/+[\w.-]{1,80}){0,6}/+home\d*/+|(?:(?<=\.\.)|(?<=-[A-Z]))/+home\d*/+"
    rf"|(?:^|[/\\])Users[/\\]+|(?<=/)users/+|Documents and Settings[/\\]+|{_TILDE})"
    rf"(?:(?P<spaced>[^{_STOP}/\\]{{1,64}})(?=[/\\])|(?P<plain>[^\s{_STOP}/\\()]+))"
)
SHARE = re.compile(
    r"(?<![\w\\:/.>-])(?:\\\\+(?:[?.]\\+UNC\\+)?"
    rf"|//(?!(?:{_ROOTS})/))([A-Za-z0-9][\w.-]*)(?=[\\/])"
)
# <host>_<pid>_<time>_ascend_pt, <host>_<pid>.<time>.pt.trace.json
TRACE_NAME = re.compile(r"(?:^|[/\\])([A-Za-z0-9][\w.-]*?)_\d+[_.]\d{10,}(?=[_.])")
TIME_IN_NAME = re.compile(r"\d[_.]\d{10}")  # in every name of a trace
AT_ONCE = 1000  # texts that are looked through as one, to see whether any of them tells something
FILE_NAME = re.compile(r"[\w.+@-]{0,80}\.[A-Za-z]\w{0,7}(?:\(\d+\))?")  # model.py(12)
SYMBOL_VERSION = re.compile(r"[A-Z][A-Z_]+[\d._]*")  # memcpy@GLIBC_2.14
PLACEHOLDER = r"<(?:path|user|host|private)\d*>"
