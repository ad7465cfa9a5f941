/* SPDX-License-Identifier: Apache-2.0
 *
 * Dealing a product whose B does not fit other ranks: B goes round in blocks of rows, each met by the panels of A's
 * rows, and what they give is combined. Called by ranks.c.
 */
#include "multiply/ranks.h"

/* Parts of a rank's room that a block of B and a piece's result may take: both exist in other forms too, at times. */
enum { BLOCK_SHARE = 8 };

/* Piece p * blocks + j would send a block for each panel: blocks go round one after the other instead. */
static int64_t panel_of(const lacis_dealt *dealt, int64_t piece)
{
    return piece % dealt->panels;
}

static int64_t block_of(const lacis_dealt *dealt, int64_t piece)
{
    return piece / dealt->panels;
}

static lacis_status plan_blocks(void *context, lacis_run *run, uint64_t room, int64_t *pieces)
{
    lacis_dealt *dealt = context;
    lacis_csr b;
    lacis_csr_view(lacis_dealt_b(dealt->call)->array, &b);
    uint64_t labels = (b.row_label != NULL ? (uint64_t)b.rows : 0) + (b.col_label != NULL ? (uint64_t)b.cols : 0);
    uint64_t fixed = sizeof(int64_t) * (labels + (uint64_t)b.rows) + lacis_dealt_mask_bytes(dealt->call);
    fixed += lacis_dealt_work_bytes(&dealt->work->product, room);
    const uint64_t least = (uint64_t)64 << 10;
    if (room < fixed || (room - fixed) / BLOCK_SHARE < least)
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "a rank has no memory for even a small part of b");
    uint64_t share = (room - fixed) / BLOCK_SHARE;
    LACIS_TRY(lacis_dealt_cut(dealt, share));
    LACIS_TRY(lacis_dealt_panels(dealt, LACIS_PANELS_A_RANK, share));
    lacis_run_count(run, "blocks of b", (double)dealt->blocks);
    *pieces = dealt->panels * dealt->blocks;
    return lacis_dealt_combine_begin(dealt);
}

/* The block of B stays the same array from panel to panel, so that it is sent once. */
static lacis_status present_block(lacis_dealt *dealt, int64_t block)
{
    if (dealt->block != NULL && dealt->block_at == block) return LACIS_OK;
    lacis_array_release(dealt->block);
    dealt->block = NULL;
    dealt->block_at = block;
    return lacis_dealt_block(dealt, dealt->cut[block], dealt->cut[block + 1], &dealt->block);
}

static lacis_status rows_for_block(lacis_dealt *dealt, int64_t piece, lacis_array **out)
{
    int64_t panel = panel_of(dealt, piece), block = block_of(dealt, piece);
    return lacis_dealt_rows(dealt, dealt->border[panel], dealt->border[panel + 1], dealt->cut[block],
                            dealt->cut[block + 1], out);
}

static lacis_status operand_blocks(void *context, lacis_run *run, int64_t piece, const lacis_item *item,
                                   lacis_array **out)
{
    lacis_dealt *dealt = context;
    (void)run;
    *out = NULL;
    if (item == lacis_dealt_a(dealt->call)) return rows_for_block(dealt, piece, out);
    if (item != lacis_dealt_b(dealt->call)) return LACIS_OK;
    LACIS_TRY(present_block(dealt, block_of(dealt, piece)));
    *out = lacis_array_retain(dealt->block);
    return LACIS_OK;
}

static void range_blocks(void *context, int64_t piece, int64_t *begin, int64_t *end)
{
    (void)context;
    (void)piece;
    *begin = 0;
    *end = INT64_MAX;
}

/* What another rank would do: the same product over the piece's operands, without what comes after combining. */
static lacis_status own_product(lacis_dealt *dealt, const lacis_array *a, lacis_array **out)
{
    lacis_run *run = dealt->run;
    lacis_product own = {0};
    lacis_product_spec spec = dealt->work->product.spec;
    lacis_product_result result;
    spec.whole = false;
    spec.con_typed = true;
    spec.where = spec.having = NULL;
    spec.top = 0;
    spec.restriction = dealt->call->restriction;
    lacis_csr_view(a, &spec.a);
    lacis_csr_view(dealt->block, &spec.b);
    LACIS_TRY(lacis_product_prepare(run, &spec, &own));
    lacis_status status = lacis_product_run(run, &own, 0, own.s.count, &result);
    if (status == LACIS_OK) {
        status = lacis_product_array(run, &own, 0, own.s.count, &result, NULL, NULL, out);
        lacis_product_release(&result);
    }
    lacis_product_clear(run, &own);
    return status;
}

static lacis_status own_blocks(void *context, lacis_run *run, int64_t piece)
{
    lacis_dealt *dealt = context;
    lacis_array *a, *part = NULL;
    (void)run;
    LACIS_TRY(present_block(dealt, block_of(dealt, piece)));
    LACIS_TRY(rows_for_block(dealt, piece, &a));
    lacis_status status = own_product(dealt, a, &part);
    lacis_array_release(a);
    if (status == LACIS_OK) status = lacis_dealt_combine(dealt, panel_of(dealt, piece), block_of(dealt, piece), part);
    lacis_array_release(part);
    return status;
}

static lacis_status take_blocks(void *context, lacis_run *run, int64_t piece, const lacis_array *result)
{
    lacis_dealt *dealt = context;
    (void)run;
    return lacis_dealt_combine(dealt, panel_of(dealt, piece), block_of(dealt, piece), result);
}

/* HAVING and TOP wait until a row is whole; of a restriction only its columns are left, rows being the panel's. */
lacis_status lacis_dealt_blocks(lacis_dealt *dealt)
{
    static const char *const without[] = {"HAVING", "TOP", "WHERE", NULL};
    char reason[160];
    if (!lacis_dealt_combines(&dealt->work->product, reason, sizeof reason))
        return lacis_run_fail(dealt->run, LACIS_UNSUPPORTED, "b does not fit the memory of every rank, and %s",
                              reason);
    const lacis_call *whole = dealt->call;
    lacis_call call = *whole;
    lacis_restriction columns = {.lo = INT64_MIN, .hi = INT64_MAX, .lo1 = INT64_MIN, .hi1 = INT64_MAX};
    bool own_top = lacis_call_arg(whole, "TOP") != NULL; /* chooses before SQL does */
    if (whole->restriction != NULL && !own_top) {
        columns.lo1 = whole->restriction->lo1;
        columns.hi1 = whole->restriction->hi1;
    }
    call.restriction = &columns;
    dealt->call = &call;
    const lacis_deal deal = {.device = dealt->local->device,
                             .without = without,
                             .context = dealt,
                             .plan = plan_blocks,
                             .operand = operand_blocks,
                             .range = range_blocks,
                             .own = own_blocks,
                             .take = take_blocks};
    lacis_status status = lacis_run_deal(dealt->run, &call, &deal);
    lacis_dealt_combine_end(dealt);
    lacis_array_release(dealt->block);
    dealt->call = whole;
    return status;
}
