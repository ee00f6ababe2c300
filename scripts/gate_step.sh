#!/usr/bin/env bash
# The step of action.yml that judges: inputs come as variables, so nothing of theirs is executed.
set -uo pipefail

out="$RUNNER_TEMP/fusescope-gate"
mkdir -p "$out"
words=("$FILE")
[ -n "$AGAINST" ] && words+=("$AGAINST")
[ -n "$BASE" ] && words+=(--base "$BASE")
[ -n "$HEAD" ] && words+=(--head "$HEAD")
while IFS= read -r line; do
    line="${line#"${line%%[![:space:]]*}"}"
    [ -n "$line" ] && words+=(--fail-if "$line")
done <<<"$FAIL_IF"
while IFS= read -r line; do
    line="${line#"${line%%[![:space:]]*}"}"
    [ -n "$line" ] && words+=("$line")
done <<<"$ARGUMENTS"

# A gate on graphs alone has no report of times.
case " $ARGUMENTS " in
*--structure*) ;;
*) words+=(--html "$out/gate.html") ;;
esac
"$RUNNER_TEMP/fusescope/bin/fusescope" gate "${words[@]}" \
    --junit "$out/gate.xml" --markdown "$GITHUB_STEP_SUMMARY" >"$out/gate.txt" 2>"$out/error.txt"
code=$?
# Names of kernels stand in what is printed: no line of it is a command of the runner.
token="fusescope-$RANDOM$RANDOM$RANDOM$RANDOM"
echo "::stop-commands::$token"
cat "$out/gate.txt" "$out/error.txt"
echo "::$token::"

# One line of an annotation: whatever could end it, or begin a command of the runner, is escaped.
annotate() {
    local text="${2//'%'/%25}"
    text="${text//$'\r'/%0D}"
    printf '::%s title=FuseScope::%s\n' "$1" "${text//$'\n'/%0A}"
}

case "$code" in
0) outcome=passed ;;
1)
    outcome=failed
    annotate error "$(head -n 20 "$out/gate.txt")"
    ;;
*)
    outcome=not-judged
    annotate error "$(tail -n 5 "$out/error.txt")"
    ;;
esac
{
    echo "outcome=$outcome"
    if [ -f "$out/gate.html" ]; then echo "report=$out/gate.html"; else echo "report="; fi
} >>"$GITHUB_OUTPUT"
[ -s "$out/error.txt" ] || rm -f "$out/error.txt"
exit "$code"
