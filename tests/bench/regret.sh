#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# regret.sh TESTS_GPU_REGRET: its pieces, with a shell and a bench that only say how they were called: a piece that fails
# or whose time is over leaves what was done before it, which is not done again.
set -euo pipefail
regret=$1
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT
fail() {
    echo "FAIL: $*" >&2
    exit 1
}
is() { # CODE COMMAND...
    local want=$1 code=0
    shift
    "$@" >"$at/said" 2>&1 || code=$?
    [ "$code" -eq "$want" ] || fail "exit code $code instead of $want: $(cat "$at/said")"
}
calls() {
    local have
    have=$(wc -l <"$at/calls")
    [ "$have" -eq "$1" ] || fail "$have calls instead of $1"
}
cat >"$at/lacis" <<'END'
#!/usr/bin/env bash
here=$(dirname "$0")
case "$*" in
*"SHOW DEVICES"*) cat "$here/devices" ;;
--version) echo "lacis pretended" ;;
*) echo "$*" >>"$here/calls" ;;
esac
END
cat >"$at/lacis-bench" <<'END'
#!/usr/bin/env bash
here=$(dirname "$0")
echo "$*" >>"$here/calls"
case "$*" in *"--type dd --uplo upper"*) [ ! -e "$here/code" ] || exit "$(cat "$here/code")" ;; esac
echo "case=symv/x/lower/99/regret own_us=1 best_us=1 regret=0.5000"
echo "case=symv/x/lower/regret/gpu sizes=7 mean=0.0100 most=0.5"
END
chmod +x "$at/lacis" "$at/lacis-bench"
export LACIS_REGRET_TYPES="f64 dd"

echo "GPU,no driver" >"$at/devices"
is 77 "$regret" "$at" "$at/out" 7
echo "GPU 0,some" >"$at/devices"
: >"$at/calls"
echo 3 >"$at/code"
is 1 "$regret" "$at" "$at/out" 7
grep -q "dd-upper-7, exit code 3" "$at/said" || fail "the piece that failed is not named"
calls 6
echo 137 >"$at/code" # killed, with time left
is 1 "$regret" "$at" "$at/out" 7
calls 7
echo 124 >"$at/code" # what timeout answers
is 75 "$regret" "$at" "$at/out" 7
calls 8
is 75 "$regret" "$at" "$at/out" 7 0
calls 8
rm "$at/code"
is 0 "$regret" "$at" "$at/out" 7
calls 9
is 0 "$regret" "$at" "$at/out" 7
calls 9
[ "$(grep -c "regret/gpu" "$at/said")" -eq 4 ] || fail "not a line a table"
is 0 "$regret" "$at" "$at/out" 9 # other sizes: the same tables
calls 13
echo "GPU 0,another" >"$at/devices"
is 2 "$regret" "$at" "$at/out" 9
grep -q "is of another build, GPU or time" "$at/said" || fail "results of another GPU are taken up"
calls 13
echo "GPU 0,some" >"$at/devices"
for mean in 0.0199 0.0201; do
    echo "case=symv/x/lower/regret/gpu sizes=9 mean=$mean most=0.5" >"$at/out/f64-lower-9"
    is 0 "$regret" "$at" "$at/out" 9
    case $mean in 0.0199) want=met ;; *) want=missed ;; esac
    grep -q "mean=$mean .* $want\$" "$at/said" || fail "a mean of $mean is not $want"
done
