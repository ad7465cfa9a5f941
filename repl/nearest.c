/* SPDX-License-Identifier: Apache-2.0
 *
 * The nearest of some names to a misspelt one, for hints about options, dot commands, modes and topics.
 */
#include "text.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 40 }; /* no name of the shell is longer */

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Edits (insert, drop, change, swap of neighbours) from a to b, letters in any case. */
static int distance(const char *a, const char *b)
{
    int row[3][LONGEST + 1];
    int n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST || m > LONGEST) return LONGEST;
    for (int j = 0; j <= m; j++)
        row[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) && y == tolower((unsigned char)a[i - 2]))
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

void shell_nearest_try(shell_nearest *nearest, const char *candidate)
{
    int edits = distance(nearest->word, candidate);
    int allowed = (int)strlen(nearest->word) > 5 ? 2 : 1;
    if (strlen(nearest->word) >= 2 && strncasecmp(nearest->word, candidate, strlen(nearest->word)) == 0) edits = 1;
    if (edits > allowed || (nearest->best && edits >= nearest->distance)) return;
    nearest->best = candidate;
    nearest->distance = edits;
}
