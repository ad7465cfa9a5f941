/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts, lines, fields and errors with a place; see common_text.h.
 */
#include "common_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

enum { PEEK = 1 << 16 };

/* Old Macintosh texts end lines with CR alone: worth a copy, since everything else may then look for LF. The first
 * line end tells. */
static lacis_status lone_cr(lacis_run *run, lacis_text *text)
{
    size_t size = (size_t)(text->end - text->begin);
    const char *cr = size > 0 ? memchr(text->begin, '\r', size < PEEK ? size : PEEK) : NULL;
    if (cr == NULL || (cr + 1 < text->end && cr[1] == '\n')) return LACIS_OK;
    if (memchr(text->begin, '\n', (size_t)(cr - text->begin)) != NULL) return LACIS_OK;
    LACIS_TRY(lacis_run_alloc(run, size, &text->copy));
    for (size_t i = 0; i < size; i++) {
        text->copy[i] = text->begin[i] == '\r' ? '\n' : text->begin[i];
    }
    text->start = text->begin = text->copy;
    text->end = text->copy + size;
    return LACIS_OK;
}

void lacis_text_peek(const lacis_source *source, lacis_text *text)
{
    size_t size = source->size;
    *text = (lacis_text){.path = source->path, .start = source->data, .begin = source->data};
    if (size >= 3 && memcmp(source->data, "\xef\xbb\xbf", 3) == 0) text->begin += 3;
    text->end = source->data + size;
}

lacis_status lacis_text_open(lacis_run *run, const lacis_source *source, lacis_text *text)
{
    lacis_text_peek(source, text);
    size_t size = source->size, look = size < 4096 ? size : 4096;
    if (size >= 2 && (memcmp(source->data, "\xff\xfe", 2) == 0 || memcmp(source->data, "\xfe\xff", 2) == 0))
        return lacis_text_fail(run, text, text->start, "the text is UTF-16; save it as UTF-8");
    const char *zero = look > 0 ? memchr(source->data, 0, look) : NULL;
    if (zero != NULL)
        return lacis_text_fail(run, text, zero, "a zero byte: this is no text; name its format with AS");
    return lone_cr(run, text);
}

void lacis_text_close(lacis_run *run, lacis_text *text)
{
    lacis_run_free(run, text->copy);
    text->copy = NULL;
}

int64_t lacis_text_line(const lacis_text *text, const char *at)
{
    int64_t line = 1;
    const char *p = text->start;
    while (p < at && (p = memchr(p, '\n', (size_t)(at - p))) != NULL) {
        line++;
        p++;
    }
    return line;
}

lacis_status lacis_text_fail(lacis_run *run, const lacis_text *text, const char *at, const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    const char *from = at;
    while (from > text->start && from[-1] != '\n') {
        from--;
    }
    return lacis_run_fail(run, LACIS_FORMAT, "%s:%lld:%lld: %s", text->path, (long long)lacis_text_line(text, from),
                          (long long)(at - from + 1), message);
}

const char *lacis_text_quote(const char *at, const char *end, char *out)
{
    enum { SHOWN = LACIS_QUOTE - 8 };
    int n = 0;
    out[n++] = '\'';
    while (at < end && *at != '\n' && *at != '\r' && n < SHOWN) {
        unsigned char c = (unsigned char)*at++;
        out[n++] = c < 32 || c == 127 ? '?' : (char)c;
    }
    if (n == SHOWN) {
        memcpy(out + n, "...", 3);
        n += 3;
    }
    out[n++] = '\'';
    out[n] = '\0';
    return out;
}

bool lacis_path_ends(const char *path, const char *extensions)
{
    size_t length = strlen(path);
    if (length > 3 && strcasecmp(path + length - 3, ".gz") == 0) length -= 3;
    for (const char *e = extensions; *e != '\0';) {
        size_t n = strcspn(e, " ");
        if (n > 0 && n < length && strncasecmp(path + length - n, e, n) == 0) return true;
        e += n;
        e += strspn(e, " ");
    }
    return false;
}

static bool field_blank(const char *p, const char *end, const char **from, const char **to, const char **next)
{
    p = lacis_skip_blanks(p, end);
    if (p >= end || lacis_comment_at(p, end)) return false;
    *from = p;
    while (p < end && !lacis_blank(*p)) {
        p++;
    }
    *to = p;
    p = lacis_skip_blanks(p, end);
    *next = p < end ? p : NULL;
    return true;
}

bool lacis_field(const char *p, const char *end, char delimiter, const char **from, const char **to,
                 const char **next)
{
    if (p == NULL) return false;
    if (delimiter == 0) return field_blank(p, end, from, to, next);
    p = lacis_skip_blanks(p, end);
    const char *stop;
    if (p < end && *p == '"') { /* a quoted field runs to its closing quote */
        const char *close = memchr(p + 1, '"', (size_t)(end - p - 1));
        while (close != NULL && close + 1 < end && close[1] == '"') /* two stand for one */
            close = memchr(close + 2, '"', (size_t)(end - close - 2));
        *from = p + 1;
        *to = close != NULL ? close : end;
        stop = close != NULL ? memchr(close, delimiter, (size_t)(end - close)) : NULL;
    } else {
        stop = p < end ? memchr(p, delimiter, (size_t)(end - p)) : NULL;
        const char *last = stop != NULL ? stop : end;
        *from = p < last ? p : last;
        while (last > *from && lacis_blank(last[-1])) {
            last--;
        }
        *to = last;
    }
    *next = stop != NULL ? stop + 1 : NULL;
    return true;
}
