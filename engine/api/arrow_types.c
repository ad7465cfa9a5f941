/* SPDX-License-Identifier: Apache-2.0
 *
 * Types and notes as Arrow writes them; see arrow.h. A number is one of Arrow's own; a value of two or four numbers
 * is a list of that fixed size, as this is how they lie in memory already.
 */
#include "api/arrow.h"

#include <string.h>

static const struct {
    lacis_dtype dtype;
    const char *number, *list;
} formats[] = {
    {LACIS_U8, "C", NULL},     {LACIS_U16, "S", NULL},  {LACIS_U32, "I", NULL},   {LACIS_I32, "i", NULL},
    {LACIS_I64, "l", NULL},    {LACIS_F32, "f", NULL},  {LACIS_F64, "g", NULL},   {LACIS_C64, "f", "+w:2"},
    {LACIS_C128, "g", "+w:2"}, {LACIS_DD, "g", "+w:2"}, {LACIS_CDD, "g", "+w:4"},
};
enum { FORMATS = (int)(sizeof formats / sizeof formats[0]) };

const char *lacis_arrow_number(lacis_dtype dtype)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i].dtype == dtype) return formats[i].number;
    return NULL;
}

const char *lacis_arrow_list(lacis_dtype dtype)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i].dtype == dtype) return formats[i].list;
    return NULL;
}

/* Whether a list's schema is this type's. Without a note a pair of doubles is a complex number: the first that fits.
 */
static bool is_list_of(const struct ArrowSchema *schema, int i, bool noted)
{
    return formats[i].list != NULL && strcmp(formats[i].list, schema->format) == 0 &&
           strcmp(formats[i].number, schema->children[0]->format) == 0 &&
           (!noted || lacis_arrow_notes_say(schema->metadata, LACIS_ARROW_TYPE, lacis_dtype_name(formats[i].dtype)));
}

lacis_dtype lacis_arrow_dtype(const struct ArrowSchema *schema)
{
    if (schema->dictionary != NULL) return LACIS_PATTERN;
    for (int i = 0; schema->n_children == 0 && i < FORMATS; i++)
        if (formats[i].list == NULL && strcmp(formats[i].number, schema->format) == 0) return formats[i].dtype;
    for (int i = 0; schema->n_children == 1 && i < 2 * FORMATS; i++)
        if (is_list_of(schema, i % FORMATS, i < FORMATS)) return formats[i % FORMATS].dtype;
    return LACIS_PATTERN;
}

/* ------------------------------------------------------------------------------------------- notes */

/* A count of pairs, then of each text its length and its bytes; lengths are int32_t of the machine's own order. */
uint64_t lacis_arrow_notes_size(const lacis_arrow_note *note, int count)
{
    uint64_t size = sizeof(int32_t);
    for (int i = 0; i < count; i++)
        size += 2 * sizeof(int32_t) + strlen(note[i].key) + strlen(note[i].value);
    return size;
}

static char *put(char *out, const char *text)
{
    int32_t length = (int32_t)strlen(text);
    memcpy(out, &length, sizeof length);
    memcpy(out + sizeof length, text, (size_t)length);
    return out + sizeof length + length;
}

void lacis_arrow_notes_write(const lacis_arrow_note *note, int count, char *out)
{
    int32_t pairs = count;
    memcpy(out, &pairs, sizeof pairs);
    out += sizeof pairs;
    for (int i = 0; i < count; i++)
        out = put(put(out, note[i].key), note[i].value);
}

/* The text at *at, which goes on behind it. */
static bool take(const char **at, const char *wanted)
{
    int32_t length;
    memcpy(&length, *at, sizeof length);
    const char *text = *at + sizeof length;
    if (length < 0) return false;
    *at = text + length;
    return strlen(wanted) == (size_t)length && memcmp(text, wanted, (size_t)length) == 0;
}

bool lacis_arrow_notes_say(const char *notes, const char *key, const char *value)
{
    int32_t pairs = 0;
    if (notes == NULL) return false;
    memcpy(&pairs, notes, sizeof pairs);
    const char *at = notes + sizeof pairs;
    for (int32_t i = 0; i < pairs; i++) {
        bool is_key = take(&at, key), is_value = take(&at, value);
        if (is_key) return is_value;
    }
    return false;
}
