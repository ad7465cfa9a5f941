#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the build into a fresh prefix and uses it from outside: find_package and pkg-config, shared and static, C17
# and C++17, and the example operator. ctest runs it: package.sh SOURCE BUILD CMAKE CC CXX
set -euo pipefail
source=$1 build=$2 cmake=$3 cc=$4 cxx=$5

scratch=$(mktemp -d "${TMPDIR:-/tmp}/lacis install.XXXXXX") # with a blank: paths must be quoted
trap 'rm -rf "$scratch"' EXIT
prefix="$scratch/prefix"
log="$scratch/log"

fail() {
    echo "FAIL: $*"
    [ ! -s "$log" ] || tail -n 60 "$log"
    exit 1
}
quietly() { "$@" >"$log" 2>&1 || fail "$*"; }
expect() { # expect WANTED COMMAND...
    local wanted=$1 got
    shift
    got=$("$@" 2>"$log") || fail "$* ended with $?"
    [ "$got" = "$wanted" ] || fail "$*: expected '$wanted', got '$got'"
    echo "ok: ${*##*/}"
}

quietly "$cmake" --install "$build" --prefix "$prefix"

headers=$(cd "$prefix/include" && echo *)
wanted="lacis.h lacis_extend.h lacis_extend_batch.h lacis_extend_bodies.h lacis_extend_expr.h lacis_extend_gpu.h lacis_extend_grid.h lacis_extend_ranks.h lacis_extend_save.h lacis_extend_symmetric.h lacis_extend_tune.h"
[ "$headers" = "$wanted" ] || fail "include/ holds $headers"
[ -s "$prefix/share/man/man1/lacis.1" ] || fail "no man page"
[ -s "$prefix/share/doc/lacis/LICENSE" ] || fail "no licence"
pc=$(find "$prefix" -name lacis.pc)
export PKG_CONFIG_PATH=${pc%/*}
libdir=${PKG_CONFIG_PATH%/*}
# The tree may be moved after the installation.
mv "$prefix" "$scratch/moved"
libdir="$scratch/moved${libdir#"$prefix"}"
PKG_CONFIG_PATH="$libdir/pkgconfig"
prefix="$scratch/moved"

[ ! -e "$build/liblacis_ranks.so" ] || [ -s "$libdir/liblacis_ranks.so" ] || fail "no module for several ranks"

expect "$(printf 'n\n3')" "$prefix/bin/lacis" --mode csv -c "SELECT 1 + 2 AS n"

for linking in shared static; do
    quietly "$cmake" -S "$source/tests/install/consumer" -B "$scratch/$linking" -DCMAKE_PREFIX_PATH="$prefix" \
        -DLINKING=$linking -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx"
    quietly "$cmake" --build "$scratch/$linking"
    expect "0 3 2" "$scratch/$linking/program_c"
    expect "0 3 2" "$scratch/$linking/program_cxx"
done

# pkg-config prints shell words: eval takes them with their quoting.
program="$source/tests/install/consumer/program.c"
strict=(-Wall -Wextra -Wpedantic -Werror)
eval "flags=($(pkg-config --cflags --libs lacis))"
quietly "$cc" -std=c17 "${strict[@]}" "$program" "${flags[@]}" -o "$scratch/pc_c"
quietly "$cxx" -std=c++17 "${strict[@]}" -x c++ "$program" -x none "${flags[@]}" -o "$scratch/pc_cxx"
expect "0 3 2" env LD_LIBRARY_PATH="$libdir" "$scratch/pc_c"
expect "0 3 2" env LD_LIBRARY_PATH="$libdir" "$scratch/pc_cxx"
# With liblacis.a in reach first, -llacis is the static library.
mkdir "$scratch/archive"
cp "$libdir/liblacis.a" "$scratch/archive"
eval "flags=($(pkg-config --static --cflags --libs lacis))"
quietly "$cc" -std=c17 "${strict[@]}" "$program" "-L$scratch/archive" "${flags[@]}" -o "$scratch/pc_static"
expect "0 3 2" "$scratch/pc_static"

quietly "$cmake" -S "$source/examples/operator" -B "$scratch/operator" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$cc"
quietly "$cmake" --build "$scratch/operator"
expect "$(cat "$source/examples/operator/expected.txt")" "$scratch/operator/degrees"


quietly "$cmake" -S "$source/examples/embedding" -B "$scratch/embedding" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$cc"
quietly "$cmake" --build "$scratch/embedding"
for name in graph time_loop query; do
    (cd "$source" && expect "$(cat "$source/examples/embedding/$name.txt")" "$scratch/embedding/$name")
done
