/* SPDX-License-Identifier: Apache-2.0
 *
 * Telling SWC files from edge lists and other texts by content; see common_swc.h.
 */
#include "common_number.h"
#include "common_swc.h"

enum { LINES = 64, FIELDS = 7 };

/* The first samples of a text that might be SWC. */
typedef struct sample {
    int lines;     /* that are no comments */
    int good;      /* of them, with 7 numbers where SWC has whole ones and others */
    int most;      /* fields of the longest line, 7 at most */
    int roots;     /* parents below 0 */
    bool complete; /* the text has no more lines */
    int64_t id[LINES], parent[LINES];
} sample;

static int fields_of(const char *p, const char *end, const char **from, const char **to)
{
    const char *next = p;
    int n = 0;
    while (n < FIELDS && lacis_field(next, end, 0, &from[n], &to[n], &next))
        n++;
    return n;
}

static void take_line(sample *s, const char *p, const char *end)
{
    const char *from[FIELDS], *to[FIELDS];
    bool decimal = false, good = true;
    int64_t type;
    double real;
    int n = fields_of(p, end, from, to);
    s->lines++;
    s->most = n > s->most ? n : s->most;
    if (n < FIELDS) return;
    for (int i = 2; i < FIELDS - 1; i++)
        good = good && lacis_number_real(from[i], to[i], &real);
    good = good && lacis_swc_whole(from[0], to[0], &s->id[s->good], &decimal) && s->id[s->good] >= 0 &&
           lacis_swc_whole(from[1], to[1], &type, &decimal) &&
           lacis_swc_whole(from[FIELDS - 1], to[FIELDS - 1], &s->parent[s->good], &decimal);
    if (!good) return;
    s->roots += s->parent[s->good] < 0;
    s->good++;
}

/* Lines that are cut off at the end of what is looked at do not count. */
static void take_sample(const lacis_text *text, sample *s)
{
    *s = (sample){0};
    const char *p = text->begin, *from, *to;
    for (; p < text->end && s->lines < LINES; p = lacis_line_next(p, text->end))
        if (lacis_swc_sample(p, lacis_line_end(p, text->end), &from, &to)) take_line(s, from, to);
    s->complete = p >= text->end;
}

static bool has_id(const sample *s, int64_t id)
{
    for (int i = 0; i < s->good; i++)
        if (s->id[i] == id) return true;
    return false;
}

/* Whether the samples hang together: ids that differ, and parents that are among them. Where there are more lines
 * than are looked at, a root or parent may come later, but most are near their children. */
static bool is_forest(const sample *s)
{
    int known = 0;
    for (int i = 0; i < s->good; i++) {
        for (int k = 0; k < i; k++)
            if (s->id[k] == s->id[i]) return false;
        known += s->parent[i] < 0 || has_id(s, s->parent[i]);
    }
    return s->complete ? s->roots > 0 && known == s->good : 4 * known >= 3 * s->good;
}

/* A file called .swc is one, however broken, unless all its lines are as short as those of an edge list. */
int lacis_swc_sniff(const lacis_source *source)
{
    lacis_text text;
    sample s;
    lacis_text_peek(source, &text);
    size_t look = source->size < 4096 ? source->size : 4096;
    if (look > 0 && memchr(source->data, 0, look) != NULL) return 0;
    take_sample(&text, &s);
    bool named = lacis_path_ends(source->path, ".swc");
    if (s.lines > 0 && s.good == s.lines && is_forest(&s)) return named ? 95 : 85;
    if (!named) return 0;
    return s.lines > 0 && s.most <= 4 ? 20 : 90;
}
