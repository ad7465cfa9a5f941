/* SPDX-License-Identifier: Apache-2.0
 *
 * The candidate nearest to a misspelt word, for the hints of error messages. Distance: insertions, deletions,
 * substitutions and swaps of neighbours (Damerau, CACM 7(3), 1964; the restricted form), case ignored. Words longer
 * than the fixed buffers get no hint. Callers: the parser, the catalog, the options.
 */
#include "core/registry.h"
#include "core/word.h"

#include <string.h>

enum { LONGEST = sizeof(((lacis_nearest *)0)->best) - 1 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Three rows of the usual table are enough: the swap looks two rows back. Both lengths are <= LONGEST. */
static int distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int rows[3][LONGEST + 1];
    int *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++) {
        above[j] = (int)j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            char x = lacis_lower(a[i - 1]), y = lacis_lower(b[j - 1]);
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (x != y));
            bool swapped = i > 1 && j > 1 && x == lacis_lower(b[j - 2]) && lacis_lower(a[i - 2]) == y;
            if (swapped) row[j] = least(row[j], before[j - 2] + 1);
        }
        int *free_row = before;
        before = above;
        above = row;
        row = free_row;
    }
    return above[b_length];
}

void lacis_nearest_begin(lacis_nearest *nearest, const char *word, size_t length)
{
    *nearest = (lacis_nearest){.word = word, .length = length, .distance = LONGEST + 1};
}

void lacis_nearest_try(lacis_nearest *nearest, const char *candidate)
{
    size_t length = strlen(candidate);
    if (length == 0 || length > LONGEST || nearest->length > LONGEST) return;
    int found = distance(nearest->word, nearest->length, candidate, length);
    if (found >= nearest->distance) return;
    nearest->distance = found;
    memcpy(nearest->best, candidate, length + 1);
}

const char *lacis_name_nearest(const char *word, const char *const *names, int count)
{
    lacis_nearest nearest;
    lacis_nearest_begin(&nearest, word, strlen(word));
    for (int i = 0; i < count; i++)
        lacis_nearest_try(&nearest, names[i]);
    const char *best = lacis_nearest_result(&nearest);
    for (int i = 0; i < count && best != NULL; i++)
        if (strcmp(names[i], best) == 0) return names[i];
    return NULL;
}

/* Near enough: a third of the letters wrong at most, or one; and at least one letter right. */
const char *lacis_nearest_result(const lacis_nearest *nearest)
{
    int allowed = (int)(nearest->length / 3);
    if (allowed < 1) allowed = 1;
    bool meant = nearest->best[0] != '\0' && nearest->distance <= allowed && nearest->distance < (int)nearest->length;
    return meant ? nearest->best : NULL;
}
