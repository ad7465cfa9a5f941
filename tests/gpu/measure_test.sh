#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/gpu/measure on pretended programs and GPUs: what it runs, how it tells of failures, of what takes too long and
# of what no longer fits, and its exit codes. Without arguments.
set -euo pipefail
measure=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/measure
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
fail() {
    echo "$1" >&2
    cat "$place/said" >&2
    exit 1
}

# One program plays all: $GPUS devices, FAIL is a part of the command line that fails, SLOW of one that takes long.
mkdir -p "$place/build/tests" "$place/bin"
cat >"$place/play" <<'END'
#!/usr/bin/env bash
line="$(basename "$0") $*"
case $line in "lacis --mode csv -c SHOW DEVICES")
    for ((i = 0; i < GPUS; i++)); do echo "GPU $i,pretended"; done
    [ "$GPUS" -gt 0 ] || echo "GPU,no device"
    exit 0 ;;
esac
[ "$1" != --version ] || { echo "mpirun (Open MPI) 4.1"; exit 0; }
echo "did $line"
[[ $line != *"TUNE SYMV"* ]] || echo table >"${*: -1}"
[ -z "${FAIL:-}" ] || [[ $line != *"$FAIL"* ]] || exit 3
[ -z "${SLOW:-}" ] || [[ $line != *"$SLOW"* ]] || exec sleep 600
END
chmod +x "$place/play"
for program in lacis lacis-bench liblacis_ranks.so tests/{multiply,written,vector,solve,neuron,symv,symv_half,nbody,sweep,sweep_block}_gpu; do
    cp "$place/play" "$place/build/$program"
done
cp "$place/play" "$place/bin/mpirun"
export PATH="$place/bin:$PATH" GPUS=2

run() { # CODE ARGUMENT...: of measure behind the build's folder
    local code=0 wanted=$1
    shift
    "$measure" "$place/build" "$@" >"$place/said" 2>&1 || code=$?
    [ "$code" -eq "$wanted" ] || fail "exit code $code instead of $wanted: measure $*"
}
says() { grep -q -- "$1" "$place/said" || fail "missing: $1"; }
holds() { grep -q -- "$2" "$place/out/$1.txt" || fail "missing in $1.txt: $2"; }

run 0 "$place/out"
for family in multiply planner solve simulate symv nbody sweep gpus; do
    [ -s "$place/out/$family.txt" ] || fail "nothing of $family"
done
holds multiply "did lacis-bench multiply --device gpu --peer cusparse"
holds gpus "did mpirun .*--experiment exchange"
[ "$(grep -c "EXPLAIN ANALYZE" "$place/out/inside.lacis")" -eq 21 ] || fail "statements of HAVING"

FAIL="bench ghosts" run 1 "$place/out" sweep
says "edges that move .* exit code 3"
holds sweep "did sweep_block_gpu bench" # the next is taken all the same
SLOW="EXPLAIN NBODY" run 1 "$place/out" nbody # the limit of that figure: 15 s
says "pairs or tree, calibrated .* not done in 15 s"
LIMIT=100 run 1 "$place/out" sweep
says "several steps a pass .* left out: it may take 180 s"
says "edges that move"
GPUS=1 run 0 "$place/out" gpus
says "skipped: one GPU"
GPUS=0 run 77 "$place/out"
says "skipped: no device"
run 2 "$place/out" everything
says "no family is called everything"
run 2
echo "all good"
