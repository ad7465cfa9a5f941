/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of rows before they are computed: products, classes, bounds, bytes. Called by the planner through
 * multiply.h and by run.c.
 */
#include "common/parallel.h"
#include "multiply/inside.h"

const char *const lacis_mul_class_name[LACIS_MUL_CLASSES] = {"empty", "copy", "sort", "hash", "dense", "hub"};

enum { PRODUCT_ROWS = 512 }; /* rows a task of lacis_mul_products: the heaviest of a power law lie together */
enum { WITHIN_ROWS = 1024 };
enum { HUB_PRODUCTS = 1 << 22 };  /* about 3 ms: below, waiting for busy threads can cost more than it saves */
enum { DENSE_SHARE = 1024 };      /* products * DENSE_SHARE >= columns: looking at flags costs less than a table */
enum { CELLS_SHARE = 64 };        /* total products * CELLS_SHARE >= bytes of cells: emptying them once pays */
enum { ARENA_ENTRIES = 1 << 18 }; /* a few MB: page faults and atomics are rare, the unused ends small */

typedef struct product_task {
    const lacis_mul_job *job;
    const int64_t *rows;
    int64_t count, tasks;
    uint64_t *products;
    bool even; /* rows lie one behind the other: tasks of equal numbers of entries */
    atomic_uint_fast64_t total;
} product_task;

/* The first row of a task. The heaviest rows of a power law lie together, so that equal numbers of rows are no equal
 * work. */
static int64_t task_row(const product_task *t, int64_t task)
{
    const int64_t *begin = t->job->a.begin;
    if (task == t->tasks) return t->count;
    if (!t->even) return task * PRODUCT_ROWS;
    const int64_t first = begin[0], entries = t->job->a.end[t->count - 1] - first;
    const int64_t wanted = first + (int64_t)((__int128)entries * task / t->tasks);
    int64_t low = 0, high = t->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (begin[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return task == 0 ? 0 : low;
}

static int product_rows(void *context, int64_t task, int worker)
{
    product_task *t = context;
    const lacis_mul_matrix *a = &t->job->a, *b = &t->job->b;
    const int64_t first = task_row(t, task), last = task_row(t, task + 1);
    uint64_t total = 0;
    (void)worker;
    for (int64_t i = first; i < last; i++) {
        const int64_t row = t->rows ? t->rows[i] : i;
        uint64_t sum = 0;
        for (int64_t j = a->begin[row]; j < a->end[row]; j++)
            sum += (uint64_t)(b->end[a->column[j]] - b->begin[a->column[j]]);
        t->products[i] = sum;
        total += sum;
    }
    atomic_fetch_add(&t->total, total);
    return 0;
}

/* Whether waking threads would take longer than counting by one. */
static bool few_entries(const lacis_mul_job *job, const int64_t *rows, int64_t count)
{
    const int64_t few_rows = 8192, few = 65536;
    int64_t entries = 0;
    for (int64_t i = 0; count <= few_rows && i < count; i++) {
        const int64_t row = rows ? rows[i] : i;
        entries += job->a.end[row] - job->a.begin[row];
    }
    return count <= few_rows && entries < few;
}

uint64_t lacis_mul_products(const lacis_mul_job *job, const int64_t *rows, int64_t count, uint64_t *products)
{
    product_task t = {.job = job, .rows = rows, .count = count, .products = products};
    const int64_t by_rows = count / PRODUCT_ROWS + (count % PRODUCT_ROWS != 0), most = 64 * (int64_t)job->threads;
    t.even = !rows && job->a.end == job->a.begin + 1 && job->threads > 1 && count > 0;
    t.tasks = t.even && by_rows > most ? most : by_rows;
    lacis_parallel(few_entries(job, rows, count) ? 1 : job->threads, t.tasks, product_rows, &t);
    return atomic_load(&t.total);
}

static bool can_sort(const mul_plan *plan, uint64_t products)
{
    const lacis_mul_agg agg = plan->job->agg;
    return products <= MUL_SORT_MAX && agg != LACIS_MUL_AVG && agg != LACIS_MUL_FOLD;
}

static bool is_hub(const mul_plan *plan, uint64_t products)
{
    const uint64_t threads = plan->job->threads > 1 ? (uint64_t)plan->job->threads : 1;
    return threads > 1 && products >= HUB_PRODUCTS && products >= plan->total / (8 * threads);
}

/* Whether `class` can take the row at all; which is all that job.force asks. */
static bool can_take(const mul_plan *plan, lacis_mul_class class, int64_t degree, uint64_t products)
{
    switch (class) {
    case LACIS_MUL_COPY:
        return degree == 1;
    case LACIS_MUL_SORT:
        return can_sort(plan, products);
    case LACIS_MUL_HASH:
        return products <= MUL_HASH_MAX;
    case LACIS_MUL_DENSE:
    case LACIS_MUL_HUB:
        return true;
    default:
        return false;
    }
}

lacis_mul_class lacis_mul_class_of(const mul_plan *plan, int64_t degree, uint64_t products)
{
    if (products == 0 || plan->width == 0) return LACIS_MUL_EMPTY;
    if (can_take(plan, plan->job->force, degree, products)) return plan->job->force;
    if (degree == 1) return LACIS_MUL_COPY;
    if (can_sort(plan, products)) return LACIS_MUL_SORT;
    if (is_hub(plan, products)) return LACIS_MUL_HUB;
    const uint64_t width = (uint64_t)plan->width;
    const bool worth_cells =
        products >= width / DENSE_SHARE && plan->total >= (width << mul_log2_bytes(plan->kind)) / CELLS_SHARE;
    return products <= MUL_HASH_MAX && !worth_cells ? LACIS_MUL_HASH : LACIS_MUL_DENSE;
}

lacis_mul_class lacis_mul_classify(const lacis_mul_job *job, int64_t degree, uint64_t products,
                                   uint64_t total_products)
{
    mul_plan plan;
    lacis_mul_plan(&plan, job, total_products);
    return lacis_mul_class_of(&plan, degree, products);
}

static inline uint64_t bound_of(const lacis_mul_job *job, uint64_t width, int64_t row, uint64_t products)
{
    uint64_t bound = products < width ? products : width;
    if (job->mask && !job->mask_not) {
        const uint64_t kept = (uint64_t)(job->mask->end[row] - job->mask->begin[row]);
        bound = bound < kept ? bound : kept;
    }
    if (job->top > 0 && bound > (uint64_t)job->top) bound = (uint64_t)job->top;
    return bound;
}

static uint64_t width_of(const lacis_mul_job *job)
{
    return job->t_hi > job->t_lo ? (uint64_t)(job->t_hi - job->t_lo) : 0;
}

uint64_t lacis_mul_bound(const lacis_mul_job *job, int64_t row, uint64_t products)
{
    return bound_of(job, width_of(job), row, products);
}

int64_t lacis_mul_within(const lacis_mul_job *job, const uint64_t *products, int64_t begin, int64_t end,
                         const lacis_mul_limits *limits, lacis_mul_reached *reached)
{
    const uint64_t width = width_of(job);
    int64_t row = begin, step = WITHIN_ROWS;
    *reached = (lacis_mul_reached){0, 0};
    while (row < end && step > 0) { /* many rows at a time as long as they all fit, then one by one */
        const int64_t next = end - row < step ? end : row + step;
        lacis_mul_reached sum = *reached;
        for (int64_t r = row; r < next; r++) {
            sum.entries += bound_of(job, width, r, products[r]);
            sum.products += products[r];
        }
        const uint64_t bytes = (uint64_t)(next - begin) * limits->row_bytes + sum.entries * limits->entry_bytes;
        if (bytes > limits->bytes || sum.products > limits->products) {
            step = step > 1 ? 1 : 0;
            continue;
        }
        *reached = sum;
        row = next;
    }
    return row;
}

int64_t lacis_mul_arena(const lacis_mul_job *job)
{
    const int64_t width = job->t_hi > job->t_lo ? job->t_hi - job->t_lo : 0;
    return width >= ARENA_ENTRIES / 4 ? ARENA_ENTRIES : width * 4 + 1024;
}

/* Twice what workers hold unfilled: the other half may be lost at the ends of stretches (place.c). */
uint64_t lacis_mul_slack(const lacis_mul_job *job)
{
    const uint64_t threads = job->threads > 1 ? (uint64_t)job->threads : 1;
    return 2 * threads * ((uint64_t)lacis_mul_arena(job) + 2 * MUL_PAD);
}

uint64_t lacis_mul_work_bytes(const lacis_mul_job *job)
{
    mul_plan plan;
    lacis_mul_plan(&plan, job, UINT64_MAX);
    const uint64_t threads = job->threads > 1 ? (uint64_t)job->threads : 1;
    return threads * lacis_mul_worker_bytes(&plan) + (threads > 1 ? lacis_mul_hub_bytes(&plan) : 0) +
           lacis_mul_bits_bytes(&plan);
}
