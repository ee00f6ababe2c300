#!/usr/bin/env bash
# The step of action.yml that judges: inputs come as variables, so nothing of theirs is executed.
set -uo pipefail

# A folder for each use: a job may have several.
out="$(mktemp -d "$RUNNER_TEMP/fusescope-gate.XXXXXX")" || exit 2
echo "folder=$out" >>"$GITHUB_OUTPUT"

# The lines of a text that are not empty, without the space around them.
lines_of() {
    local line
    while IFS= read -r line; do
        line="${line#"${line%%[![:space:]]*}"}"
        line="${line%"${line##*[![:space:]]}"}"
        if [ -n "$line" ]; then printf '%s\n' "$line"; fi
    done <<<"$1"
}

words=()
[ -n "$BASE" ] && words+=("--base=$BASE")
[ -n "$HEAD" ] && words+=("--head=$HEAD")
while IFS= read -r line; do words+=("--fail-if=$line"); done < <(lines_of "$FAIL_IF")
while IFS= read -r line; do words+=("$line"); done < <(lines_of "$ARGUMENTS")
# A gate on graphs alone has no report of times, and records nothing that is worth keeping.
case " $ARGUMENTS " in
*--structure*) ;;
*)
    words+=("--html=$out/gate.html")
    case "$FILE $ARGUMENTS" in
    *.onnx*--out*) ;;
    *.onnx*) words+=("--out=$out/") ;;
    esac
    ;;
esac
files=("$FILE")
[ -n "$AGAINST" ] && files+=("$AGAINST")

# Nothing is cut into lines here: the runner's page does that.
COLUMNS=1000 "$RUNNER_TEMP/fusescope/bin/fusescope" gate "${words[@]}" \
    --junit="$out/gate.xml" --markdown="$GITHUB_STEP_SUMMARY" -- "${files[@]}" \
    >"$out/gate.txt" 2>"$out/log.txt"
code=$?
# Names of kernels stand in what is printed: no line of it is a command of the runner.
token="fusescope-$RANDOM$RANDOM$RANDOM$RANDOM"
echo "::stop-commands::$token"
cat "$out/gate.txt" "$out/log.txt"
echo
echo "::$token::"

# One line of an annotation: whatever could end it, or begin a command of the runner, is escaped.
annotate() {
    local text="${2//'%'/%25}"
    text="${text//$'\r'/%0D}"
    printf '::%s title=FuseScope::%s\n' "$1" "${text//$'\n'/%0A}"
}

# An option such as --help ends well and judges nothing.
[ "$code" -eq 0 ] && [ ! -s "$out/gate.xml" ] && code=2
case "$code" in
0) outcome=passed ;;
1)
    outcome=failed
    annotate error "$(head -n 20 "$out/gate.txt")"
    ;;
*)
    outcome=not-judged
    said="$(tail -n 5 "$out/log.txt")"
    annotate error "${said:-Nothing was judged.}"
    ;;
esac
{
    echo "outcome=$outcome"
    if [ -f "$out/gate.html" ]; then echo "report=$out/gate.html"; else echo "report="; fi
} >>"$GITHUB_OUTPUT"
exit "$code"
