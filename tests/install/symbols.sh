#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The library's manners towards the programs it is linked into: only lacis_ names, exactly those its headers declare
# in the shared one, and no readline (GPL). ctest runs it: symbols.sh SOURCE LIBLACIS.SO LIBLACIS.A
set -euo pipefail
source=$1 shared=$2 static=$3
failed=0

names() { nm "$@" 2>/dev/null | awk 'NF == 3 && $2 ~ /[A-Z]/ { print $3 }' | sort -u; }
report() { # report MESSAGE LIST
    [ -z "$2" ] && return
    printf 'FAIL: %s:\n%s\n' "$1" "$2"
    failed=1
}

report "liblacis.a has global names outside lacis_" "$(names -g --defined-only "$static" | grep -v '^lacis_' || true)"

declared=$(sed -n '/LACIS_API/p' "$source/engine/lacis.h" "$source/engine"/lacis_extend{,_batch,_bodies,_expr,_gpu,_grid,_ranks,_save,_symmetric,_tune}.h |
    grep -oE 'lacis_[a-z0-9_]+\(' | tr -d '(' | sort -u)
exported=$(names -D --defined-only "$shared")
[ -n "$exported" ] || report "nothing is exported by" "$shared"
report "exported but not declared in lacis.h or lacis_extend.h" "$(comm -13 <(echo "$declared") <(echo "$exported"))"
report "declared but not exported" "$(comm -23 <(echo "$declared") <(echo "$exported"))"

needed=$(readelf -d "$shared" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
report "liblacis must not need" "$(echo "$needed" | grep -E 'readline|libedit|ncurses|tinfo' || true)"
exit $failed
