/* SPDX-License-Identifier: Apache-2.0
 *
 * Types and heads of NumPy's format; see common_npy.h.
 */
#include "common_npy.h"

#include <string.h>

enum { MAGIC = 6 };
static const char magic[] = "\x93NUMPY";

bool lacis_npy_is(const lacis_source *source)
{
    return source->size >= MAGIC && memcmp(source->data, magic, MAGIC) == 0;
}

static lacis_status refuse(lacis_run *run, const lacis_source *source, const char *cause)
{
    return lacis_run_fail(run, LACIS_FORMAT, "%s: %s", source->path, cause);
}

lacis_status lacis_npy_read_head(lacis_run *run, const lacis_source *source, lacis_npy_head *h)
{
    const unsigned char *d = (const unsigned char *)source->data;
    if (source->size < 12 || !lacis_npy_is(source)) return refuse(run, source, "this is no .npy file");
    size_t start = d[6] == 1 ? 10 : 12;
    size_t length = d[8] | (size_t)d[9] << 8;
    if (d[6] > 1) length |= (size_t)d[10] << 16 | (size_t)d[11] << 24;
    if (d[6] < 1 || d[6] > 3) return refuse(run, source, "a version of .npy that lacis does not know");
    if (length > LACIS_NPY_HEAD || length > source->size - start)
        return refuse(run, source, "the file ends inside its head; fetch it again");
    memcpy(h->text, d + start, length);
    h->text[length] = '\0';
    h->end = start + length;
    return LACIS_OK;
}

static const lacis_npy_type types[] = {{"<f8", LACIS_F64, LACIS_F64}, {"<f4", LACIS_F32, LACIS_F32},
                                       {"<i8", LACIS_I64, LACIS_I64}, {"<i4", LACIS_I32, LACIS_I32},
                                       {"<u4", LACIS_U32, LACIS_I64}, {"<u2", LACIS_U16, LACIS_I64},
                                       {"|u1", LACIS_U8, LACIS_I64},  {"|b1", LACIS_U8, LACIS_I64},
                                       {"<c8", LACIS_C64, LACIS_C64}, {"<c16", LACIS_C128, LACIS_C128}};

const char *lacis_npy_value(const lacis_npy_head *h, const char *key)
{
    const char *p = strstr(h->text, key);
    if (p == NULL) return "";
    p += strlen(key);
    return p + strspn(p, "': ");
}

const lacis_npy_type *lacis_npy_type_at(const char *p)
{
    for (int i = 0; i < LACIS_COUNT(types); i++) {
        size_t n = strlen(types[i].code);
        if (strncmp(p, types[i].code, n) == 0 && (p[n] == '\'' || p[n] == '"')) return &types[i];
    }
    return NULL;
}

const lacis_npy_type *lacis_npy_type_of(lacis_dtype storage)
{
    for (int i = 0; i < LACIS_COUNT(types); i++)
        if (types[i].storage == storage) return &types[i];
    return NULL;
}

void lacis_npy_write_head(FILE *file, const char *descr, bool fortran, const char *shape, const char *note)
{
    const char *form = "{'descr': %s, 'fortran_order': %s, 'shape': (%s), }%s%s";
    const char *order = fortran ? "True" : "False";
    const char *gap = note == NULL ? "" : " ";
    if (note == NULL) note = "";
    int length = snprintf(NULL, 0, form, descr, order, shape, gap, note);
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10; /* data begin at a multiple of 64 */
    const unsigned char start[] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(padded & 255), (unsigned char)(padded >> 8)};
    fwrite(start, 1, sizeof start, file);
    fprintf(file, form, descr, order, shape, gap, note);
    fprintf(file, "%*s\n", padded - 1 - length, "");
}
