/* SPDX-License-Identifier: Apache-2.0
 *
 * Random trees as SWC texts, for tests: chains, bushes and what is between; in order or shuffled, with any ids.
 */
#ifndef LACIS_TESTS_TREES_H
#define LACIS_TESTS_TREES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum tree_shape {
    TREE_CHAIN,  /* each sample hangs on the one before */
    TREE_DEEP,   /* mostly so, with a branch now and then */
    TREE_BUSHY,  /* on any sample before */
    TREE_BINARY, /* sample i on i / 2 */
    TREE_STAR    /* all on the first */
} tree_shape;

typedef struct tree {
    int64_t count;
    int32_t *up; /* parent's index, below its own; -1: a root */
    double *x, *y, *z, *radius;
    int *type;
} tree;

typedef struct tree_dice {
    uint64_t state;
} tree_dice;

static inline uint64_t tree_below(tree_dice *dice, uint64_t n)
{
    dice->state = dice->state * 6364136223846793005u + 1442695040888963407u;
    return (dice->state >> 33) % n;
}

static inline int32_t tree_parent(tree_dice *dice, tree_shape shape, int64_t i)
{
    switch (shape) {
    case TREE_CHAIN:
        return (int32_t)i - 1;
    case TREE_DEEP:
        return (int32_t)(tree_below(dice, 20) == 0 ? tree_below(dice, (uint64_t)i) : (uint64_t)i - 1);
    case TREE_BUSHY:
        return (int32_t)tree_below(dice, (uint64_t)i);
    case TREE_BINARY:
        return (int32_t)((i - 1) / 2);
    default:
        return 0;
    }
}

/* Sample 0 is the soma; coordinates are hundredths, so that they read back as they are. roots: trees in it. */
static inline void tree_make(tree *t, tree_shape shape, int64_t count, int64_t roots, uint64_t seed)
{
    tree_dice dice = {seed};
    t->count = count;
    t->up = malloc((size_t)count * sizeof *t->up);
    t->type = malloc((size_t)count * sizeof *t->type);
    double **column[] = {&t->x, &t->y, &t->z, &t->radius};
    for (int c = 0; c < 4; c++) {
        *column[c] = malloc((size_t)count * sizeof(double));
        for (int64_t i = 0; i < count; i++)
            (*column[c])[i] = (double)(1 + tree_below(&dice, 20000)) / 100;
    }
    for (int64_t i = 0; i < count; i++) {
        t->up[i] = i < roots ? -1 : tree_parent(&dice, shape, i);
        t->type[i] = i == 0 ? 1 : 2 + (int)tree_below(&dice, 3);
    }
}

static inline void tree_free(tree *t)
{
    free(t->up);
    free(t->type);
    free(t->x);
    free(t->y);
    free(t->z);
    free(t->radius);
}

/* The text; ids are first + stride * index, lines in the order of their index, or shuffled where seed is not 0. To be
 * freed. */
static inline char *tree_text(const tree *t, int64_t first, int64_t stride, uint64_t seed)
{
    tree_dice dice = {seed};
    int64_t *order = malloc((size_t)t->count * sizeof *order);
    for (int64_t i = 0; i < t->count; i++)
        order[i] = i;
    for (int64_t i = t->count - 1; seed != 0 && i > 0; i--) {
        int64_t k = (int64_t)tree_below(&dice, (uint64_t)i + 1), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    char *text = malloc((size_t)t->count * 120 + 1), *p = text;
    *p = '\0';
    for (int64_t k = 0; k < t->count; k++) {
        int64_t i = order[k];
        long long up = t->up[i] < 0 ? -1 : (long long)(first + stride * t->up[i]);
        p += sprintf(p, "%lld %d %.2f %.2f %.2f %.2f %lld\n", (long long)(first + stride * i), t->type[i], t->x[i],
                     t->y[i], t->z[i], t->radius[i], up);
    }
    free(order);
    return text;
}

#endif
