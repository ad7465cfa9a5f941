/* SPDX-License-Identifier: Apache-2.0
 *
 * Kinds of bodies; see common_kinds.h.
 */
#include "common_kinds.h"

#include <string.h>
#include <strings.h>

static int kind_of(const char *word, size_t length, const char *const *names, int count)
{
    if (length == 1 && word[0] >= '0' && word[0] < '0' + count) return word[0] - '0';
    for (int k = 0; k < count; k++)
        if (strlen(names[k]) == length && strncasecmp(names[k], word, length) == 0) return k;
    return -1;
}

lacis_status lacis_kinds_read(lacis_run *run, const lacis_options *given, const char *const *names, int count,
                              unsigned *out)
{
    const char *text = lacis_option_text(given, "kinds");
    *out = text == NULL ? (1U << count) - 1 : 0;
    for (const char *p = text; p != NULL && *(p += strspn(p, ", ")) != '\0';) {
        size_t length = strcspn(p, ", ");
        int kind = kind_of(p, length, names, count);
        if (kind < 0)
            return lacis_run_fail_at(run, LACIS_RANGE, lacis_option_offset(given, "kinds"), NULL,
                                     "kinds: '%.*s' is none of 0 .. %d, %s ... %s", (int)length, p, count - 1,
                                     names[0], names[count - 1]);
        *out |= 1U << kind;
        p += length;
    }
    return LACIS_OK;
}

void lacis_kinds_note(lacis_run *run, const char *const *names, int count, unsigned wanted, const int64_t *bodies)
{
    const char *text = NULL;
    int several = 0;
    for (int k = 0; k < count; k++) {
        if (bodies[k] == 0) continue;
        text = lacis_run_text(run, "%s%s%lld %s%s", text == NULL ? "" : text, text == NULL ? "" : ", ",
                              (long long)bodies[k], names[k], wanted >> k & 1 ? "" : " (left out)");
        if (text == NULL) return; /* no memory for a note */
        several++;
    }
    if (several > 1) lacis_run_note(run, LACIS_NOTE, "%s", text);
}
