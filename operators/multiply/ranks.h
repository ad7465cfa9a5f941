/* SPDX-License-Identifier: Apache-2.0
 *
 * A product of two graphs dealt over ranks: rows of A in pieces of about equal products. B lies whole on each rank;
 * where it does not fit, it goes round in blocks of rows, and what the blocks give is combined here on rank 0.
 *
 *     ranks.c          the variants: cost, borders, B whole on each rank, pieces into the result
 *     ranks_blocks.c   B in blocks of rows
 *     ranks_pieces.c   arrays of some rows of A, of some rows of B
 *     ranks_combine.c  partial products of one panel of rows, from block to block; HAVING and TOP at their end
 */
#ifndef LACIS_OPERATORS_MULTIPLY_RANKS_H
#define LACIS_OPERATORS_MULTIPLY_RANKS_H

#include "multiply/bind.h"

/* Rows [begin, end) of the product, and of its result so far. */
typedef struct lacis_dealt {
    lacis_run *run;
    const lacis_call *call;
    const lacis_multiply *work;
    const lacis_variant *local; /* what rank 0's own share runs */
    int64_t begin, end;
    bool whole_a; /* the ranks have all of A, since it is B too: pieces are ranges */
    bool no_room; /* B does not fit some rank */
    int64_t *border, panels;
    lacis_product_result result;
    /* B in blocks: of rows [cut[j], cut[j + 1]). */
    int64_t *cut, blocks;
    int64_t block_at; /* which block is */
    lacis_array *block;
    struct lacis_partial *partial; /* one a panel */
} lacis_dealt;

static inline const lacis_item *lacis_dealt_a(const lacis_call *call)
{
    return &lacis_call_arg(call, NULL)->item[0];
}
static inline const lacis_item *lacis_dealt_b(const lacis_call *call)
{
    return &lacis_call_arg(call, "BY")->item[0];
}

/* ranks_pieces.c. Rows of the product [begin, end) as a graph that shares A's entries, of them only those that meet
 * rows [first, last) of B where A's columns are B's rows as they stand. */
lacis_status lacis_dealt_rows(lacis_dealt *dealt, int64_t begin, int64_t end, int64_t first, int64_t last,
                              lacis_array **out);
/* B with all rows but [first, last) empty; shares its entries. */
lacis_status lacis_dealt_block(lacis_dealt *dealt, int64_t first, int64_t last, lacis_array **out);
/* Borders of blocks of B that take about `bytes` each. */
lacis_status lacis_dealt_cut(lacis_dealt *dealt, uint64_t bytes);

/* ranks.c. Pieces with operands of their own, a rank: each is bound by itself. */
enum { LACIS_PANELS_A_RANK = 2 };
/* Cuts the rows into panels of about equal products, `a_rank` for each rank, with results of surely no more than
 * `bytes`. */
lacis_status lacis_dealt_panels(lacis_dealt *dealt, int a_rank, uint64_t bytes);
uint64_t lacis_dealt_mask_bytes(const lacis_call *call);
/* Of a rank's memory, whatever it computes: room at the end of results, and tables. */
uint64_t lacis_dealt_work_bytes(const lacis_product *product, uint64_t room);
/* Rows [row, row + rows of csr) of the product are these. */
lacis_status lacis_dealt_append(lacis_dealt *dealt, int64_t row, const lacis_csr *csr);

/* ranks_blocks.c */
lacis_status lacis_dealt_blocks(lacis_dealt *dealt);

/* ranks_combine.c. Whether AGG of parts' AGG is AGG of all, to the last bit; where not, why. */
bool lacis_dealt_combines(const lacis_product *product, char *reason, size_t size);
lacis_status lacis_dealt_combine_begin(lacis_dealt *dealt);
/* The panel's product with one block of B. */
lacis_status lacis_dealt_combine(lacis_dealt *dealt, int64_t panel, int64_t block, const lacis_array *part);
void lacis_dealt_combine_end(lacis_dealt *dealt);

#endif
