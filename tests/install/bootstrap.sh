#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ./bootstrap setup in made-up surroundings: a PATH of links to real tools, an apt-get that only writes down what it
# was asked (and brings ninja), an id that says who we are. ctest runs it: bootstrap.sh SOURCE
set -euo pipefail
source=$1
scratch=$(mktemp -d "${TMPDIR:-/tmp}/lacis bootstrap.XXXXXX") # with a blank
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/root" "$scratch/bin"
cp "$source/bootstrap" "$scratch/root"
bin="$scratch/bin"
unset CC CXX

fail() {
    echo "FAIL: $*"
    cat "$scratch/out"
    exit 1
}
stub() { # stub NAME < script
    rm -f "$bin/$1"
    { echo '#!/bin/sh'; cat; } >"$bin/$1"
    chmod +x "$bin/$1"
}
tools="sh env dirname mkdir cat awk wc date tail id cc c++ as ld cmake ninja pkg-config python3 head ln rm nproc"
for tool in $tools; do
    ln -s "$(command -v "$tool")" "$bin/$tool"
done
ignored() { awk '/^SigIgn/ { print $2 }' /proc/self/status; } # signals; awk has those of its shell
stub apt-get <<EOF
echo "\$@" >>'$scratch/apt'
awk '/^SigIgn/ { print \$2 }' /proc/self/status >'$scratch/ignored'
case "\$*" in *ninja*) ln -s '$(command -v ninja)' '$bin/ninja' ;; esac
EOF

stub mpicc <<<'exit 0'
stub mpirun <<<'exit 0'

setup() { # setup WANTED_STATUS, output in $scratch/out, what apt was asked in $scratch/apt
    local status=0
    : >"$scratch/apt"
    (cd / && PATH="$bin" "$scratch/root/bootstrap" setup) >"$scratch/out" 2>&1 </dev/null || status=$?
    [ "$status" -eq "$1" ] || fail "status $status instead of $1"
}
says() { grep -qF -- "$1" "$scratch/out" || fail "it does not say '$1'"; }
asked() { grep -qF -- "$1" "$scratch/apt" || fail "apt was not asked for '$1'"; }
not_asked() { [ ! -s "$scratch/apt" ] || fail "apt was called: $(cat "$scratch/apt")"; }

setup 0 # everything is there
not_asked
rm "$bin/mpicc"
stub id <<<'echo 1000'
setup 0 # MPI is not needed
not_asked
says "going on"
stub id <<<'echo 0'
setup 0
asked "install -y --no-install-recommends libopenmpi-dev openmpi-bin"
stub mpicc <<<'exit 0'

stub id <<<'echo 1000'
rm "$bin/ninja"
setup 1 # a plain user without sudo gets the command
not_asked
says "sudo apt-get update && sudo apt-get install -y --no-install-recommends ninja-build"

stub sudo <<<'exit 1'
setup 1 # sudo that wants a password
not_asked

stub sudo <<<'shift; [ "$1" = true ] || exec "$@"'
setup 0
asked "install -y --no-install-recommends ninja-build"

rm "$bin/sudo" "$bin/ninja"
stub id <<<'echo 0'
setup 0 # root
[ "$(cat "$scratch/ignored")" = "$(ignored)" ] || fail "apt ignores signals: Ctrl-C would not reach it"
asked "update"
asked "install -y --no-install-recommends ninja-build"

stub cmake <<<'echo "cmake version 3.22.1"'
stub apt-get <<<"echo \"\$@\" >>'$scratch/apt'"
setup 1 # apt has nothing newer (Ubuntu 22.04)
asked "cmake"
says "CMake 3.25 or newer is needed, this is 3.22.1"
says "pip install 'cmake>=3.25'"

stub apt-get <<<'echo "E: no network" >&2; exit 100'
setup 1 # errors of apt are shown
says "E: no network"

rm "$bin/apt-get"
setup 1 # not a Debian: first what is too old
says "CMake 3.25 or newer"

echo "bootstrap installs what is missing, and only that"
