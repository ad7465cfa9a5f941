/* SPDX-License-Identifier: Apache-2.0
 *
 * Fields of edge lists; see common_columns.h.
 */
#include "common_columns.h"

#include "common_number.h"

#include <strings.h>

static bool is_one_of(const char *from, const char *to, const char *words)
{
    size_t length = (size_t)(to - from);
    while (*words != '\0') {
        size_t n = strcspn(words, " ");
        if (n == length && strncasecmp(words, from, n) == 0) return true;
        words += n;
        words += strspn(words, " ");
    }
    return false;
}

void lacis_columns_named(const char *from, const char *to, char delimiter, lacis_columns_found *found)
{
    const char *a, *b, *next = from;
    *found = (lacis_columns_found){-1, -1, -1, -1};
    for (int i = 0; lacis_field(next, to, delimiter, &a, &b, &next); i++) {
        if (found->src < 0 &&
            is_one_of(a, b,
                      "src source from u i fromnodeid from_id source_id src_id id_1 node_1 node1 person1id row"))
            found->src = i;
        else if (found->dst < 0 && is_one_of(a, b,
                                             "dst target to v j tonodeid to_id target_id dst_id id_2 node_2 node2 "
                                             "person2id dest destination column col"))
            found->dst = i;
        else if (found->value < 0 && is_one_of(a, b, "value weight w val rating score"))
            found->value = i;
        else if (found->time < 0 && is_one_of(a, b, "time timestamp t date datetime unixtime creationdate"))
            found->time = i;
    }
}

static void set_columns(lacis_lines *lines, const lacis_columns_found *found)
{
    lines->src = found->src;
    lines->dst = found->dst;
    lines->value = found->value;
}

lacis_status lacis_columns_given(lacis_run *run, const lacis_layout *layout, const lacis_sample *sample,
                                 lacis_lines *lines)
{
    lacis_columns_found found;
    const char *columns = layout->columns, *end = columns + strlen(columns);
    lacis_columns_named(columns, end, ',', &found);
    if (found.src < 0 || found.dst < 0)
        return lacis_run_fail_at(
            run, LACIS_RANGE, layout->columns_offset, NULL,
            "columns = '%s' names no %s; it lists the fields of a line, as in 'src,dst,value', with "
            "any other name for what is to be left out",
            columns, found.src < 0 ? "src" : "dst");
    set_columns(lines, &found);
    lines->fields = lacis_count_fields(columns, end, ',');
    lines->more =
        sample->count > 0 && lacis_count_fields(sample->from[0], sample->to[0], lines->delimiter) > lines->fields;
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------- guessing */

/* What a field is in all lines of the sample. */
typedef struct field_kind {
    bool integer, number, time;
} field_kind;

static int kinds_of(const lacis_sample *sample, char delimiter, field_kind *kind)
{
    int fields = 0;
    for (int i = 0; i < LACIS_FIELDS; i++) {
        kind[i] = (field_kind){true, true, true};
    }
    for (int line = 0; line < sample->count; line++) {
        const char *a, *b, *next = sample->from[line];
        int64_t integer;
        double real;
        int n = 0;
        for (; n < LACIS_FIELDS && lacis_field(next, sample->to[line], delimiter, &a, &b, &next); n++) {
            lacis_number_kind k = lacis_number_parse(a, b, &integer, &real);
            kind[n].integer &= k == LACIS_NUMBER_INTEGER;
            kind[n].number &= k != LACIS_NUMBER_BAD;
            kind[n].time &= k != LACIS_NUMBER_BAD && lacis_time_like(real, real);
        }
        if (line == 0) fields = n;
    }
    return fields;
}

/* Without a header: the first two integer fields are the ids, unless the first ones are something else throughout. */
static void guess_ids(const field_kind *kind, int fields, lacis_columns_found *found)
{
    int at = 0;
    while (at < fields && !kind[at].integer) {
        at++;
    }
    bool two = at + 1 < fields && kind[at + 1].integer;
    found->src = two ? at : 0;
    found->dst = two ? at + 1 : 1;
}

/* The first field behind the ids that is a number and no time; if none, a time that counting has yet to confirm. */
static void guess_value(const field_kind *kind, int fields, lacis_columns_found *found)
{
    int last = found->src > found->dst ? found->src : found->dst;
    for (int i = last + 1; i < fields; i++) {
        if (!kind[i].number || i == found->time) continue;
        if (!kind[i].time && found->value < 0) found->value = i;
        if (kind[i].time && found->time < 0) found->time = i;
    }
}

/* Why a field is left out; USED: it is not. */
enum { USED, TIME, NEITHER, NO_NUMBER, REASONS };

static int reason_of(const field_kind *kind, int field, const lacis_columns_found *found)
{
    if (field == found->src || field == found->dst || field == found->value) return USED;
    return field == found->time ? TIME : kind[field].number ? NEITHER : NO_NUMBER;
}

/* One note a reason, however many fields it holds for. */
static void note_left_out(lacis_run *run, const field_kind *kind, int fields, const lacis_columns_found *found)
{
    enum { NUMBER = 12 }; /* ", " and an int */
    static const char *const one[] = {"", "looks like a time and is", "is neither id nor value and is",
                                      "is no number and is"};
    static const char *const many[] = {"", "look like times and are", "are neither ids nor values and are",
                                       "are no numbers and are"};
    for (int reason = TIME; reason < REASONS; reason++) {
        char list[LACIS_FIELDS * NUMBER] = "";
        size_t used = 0;
        int count = 0;
        for (int i = 0; i < fields; i++)
            if (reason_of(kind, i, found) == reason)
                used += (size_t)snprintf(list + used, sizeof list - used, "%s%d", count++ > 0 ? ", " : "", i + 1);
        if (count > 0)
            lacis_run_note(run, LACIS_NOTE, "column%s %s %s left out (columns = 'src,dst,value' chooses others)",
                           count > 1 ? "s" : "", list, count > 1 ? many[reason] : one[reason]);
    }
}

/* Text fields with blanks inside have no fixed number: then only those up to the last that is used must be there. */
static void set_fields(lacis_lines *lines, const lacis_sample *sample, const field_kind *kind, int fields)
{
    int used = lines->src > lines->dst ? lines->src : lines->dst;
    if (lines->value > used) used = lines->value;
    lines->fields = fields > used ? fields : used + 1;
    for (int i = 0; i < sample->count; i++) {
        int n = lacis_count_fields(sample->from[i], sample->to[i], lines->delimiter);
        if (n == fields || used + 1 >= LACIS_FIELDS || kind[used + 1].number) continue;
        lines->fields = used + 1;
        lines->more = true;
    }
}

void lacis_columns_guess(lacis_run *run, lacis_layout *layout, const lacis_sample *sample, lacis_lines *lines,
                         const lacis_columns_found *named)
{
    field_kind kind[LACIS_FIELDS];
    int fields = kinds_of(sample, lines->delimiter, kind);
    lacis_columns_found found = *named;
    if (found.src < 0 || found.dst < 0) {
        found = (lacis_columns_found){-1, -1, -1, -1};
        guess_ids(kind, fields, &found);
    }
    bool time_named = found.time >= 0;
    if (found.value < 0) guess_value(kind, fields, &found);
    if (found.value < 0 && found.time >= 0 && !time_named) { /* only the whole file can tell */
        found.value = found.time;
        found.time = -1;
        if (!layout->keep_values) layout->time_column = found.value + 1;
    }
    if (sample->count > 0) note_left_out(run, kind, fields, &found);
    set_columns(lines, &found);
    set_fields(lines, sample, kind, fields);
}
