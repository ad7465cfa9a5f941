/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of one type; included last in its *.isa.c file.
 */
extern const symv_loops LACIS_ISA(NAME);
const symv_loops LACIS_ISA(NAME) = {
    .fixed = {PANEL_PASS, panel_slices, panel_room, panel_bring, panel_part, panel_sum},
    .canonical = {CANONICAL_SIDES, canonical_tiles, canonical_room, canonical_bring, canonical_part, canonical_sum},
    .finish = finish};
