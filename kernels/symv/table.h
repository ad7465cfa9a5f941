/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of one type; included last in its *.isa.c file.
 */
extern const symv_loops LACIS_ISA(NAME);
const symv_loops LACIS_ISA(NAME) = {
    .fixed = {CANONICAL_SIDES, canonical_tiles, canonical_room, canonical_bring, canonical_part, canonical_sum},
    .canonical = {CANONICAL_SIDES, canonical_tiles, canonical_room, canonical_bring, canonical_part, canonical_sum},
    .finish = finish};
