/* SPDX-License-Identifier: Apache-2.0
 *
 * MatrixMarket heads and dense bodies; see common_mtx.h.
 */
#include "common_mtx.h"

#include "common_number.h"

#include <stdio.h>
#include <strings.h>

static bool word_is(const char *from, const char *to, const char *word)
{
    return (size_t)(to - from) == strlen(word) && strncasecmp(from, word, (size_t)(to - from)) == 0;
}

/* The words of the banner, whatever stands first. */
static int banner_words(const lacis_text *text, const char **from, const char **to, int most)
{
    const char *end = lacis_line_end(text->begin, text->end), *p = text->begin;
    int n = 0;
    while (n < most) {
        p = lacis_skip_blanks(p, end);
        if (p >= end) break;
        from[n] = p;
        while (p < end && !lacis_blank(*p)) {
            p++;
        }
        to[n++] = p;
    }
    return n;
}

bool lacis_mtx_banner(const lacis_text *text)
{
    const char *from[4], *to[4];
    if (text->begin >= text->end || *text->begin != '%') return false;
    int n = banner_words(text, from, to, 4);
    if (n > 0 && (word_is(from[0], to[0], "%%MatrixMarket") || word_is(from[0], to[0], "%MatrixMarket"))) return true;
    return n > 2 && (word_is(from[2], to[2], "coordinate") || word_is(from[2], to[2], "array"));
}

static lacis_status expected(lacis_run *run, const lacis_mtx *m, const char *from, const char *to, const char *what)
{
    char quote[LACIS_QUOTE];
    return lacis_text_fail(run, m->text, from, "the banner says %s where %s should stand; mend it",
                           lacis_text_quote(from, to, quote), what);
}

static lacis_status banner_field(lacis_run *run, lacis_mtx *m, const char *from, const char *to)
{
    static const char *const words[] = {"real", "double", "integer", "unsigned-integer", "complex", "pattern"};
    static const lacis_mtx_field fields[] = {LACIS_MTX_REAL,    LACIS_MTX_REAL,    LACIS_MTX_INTEGER,
                                             LACIS_MTX_INTEGER, LACIS_MTX_COMPLEX, LACIS_MTX_PATTERN};
    for (int i = 0; i < LACIS_COUNT(words); i++) {
        if (!word_is(from, to, words[i])) continue;
        m->field = fields[i];
        if (m->dense && m->field == LACIS_MTX_PATTERN)
            return expected(run, m, from, to, "real, integer or complex (an array has values)");
        return LACIS_OK;
    }
    return expected(run, m, from, to, "real, integer, complex or pattern");
}

static lacis_status banner_symmetry(lacis_run *run, lacis_mtx *m, const char *from, const char *to)
{
    static const char *const words[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
    static const lacis_mirror mirrors[] = {LACIS_MIRROR_NONE, LACIS_MIRROR_SAME, LACIS_MIRROR_NEGATED,
                                           LACIS_MIRROR_CONJUGATE};
    int found = -1;
    for (int i = 0; i < LACIS_COUNT(words); i++) {
        if (word_is(from, to, words[i])) found = i;
    }
    if (found < 0) return expected(run, m, from, to, "general, symmetric, skew-symmetric or hermitian");
    m->symmetry = mirrors[found];
    if (m->symmetry == LACIS_MIRROR_CONJUGATE && m->field != LACIS_MTX_COMPLEX)
        return expected(run, m, from, to, "another symmetry (only complex matrices are hermitian)");
    if (m->symmetry == LACIS_MIRROR_NEGATED && m->field == LACIS_MTX_PATTERN)
        return expected(run, m, from, to, "another symmetry (a pattern has no sign)");
    return LACIS_OK;
}

static lacis_status read_banner(lacis_run *run, lacis_mtx *m)
{
    const char *from[5], *to[5], *line_end = lacis_line_end(m->text->begin, m->text->end);
    int n = banner_words(m->text, from, to, 5);
    if (n == 0 || (!word_is(from[0], to[0], "%%MatrixMarket") && !word_is(from[0], to[0], "%MatrixMarket")))
        return lacis_text_fail(
            run, m->text, m->text->begin,
            "no MatrixMarket banner; the first line must be like '%%%%MatrixMarket matrix coordinate "
            "real general' (AS snap reads the file as an edge list)");
    if (n < 5)
        return lacis_text_fail(run, m->text, line_end,
                               "the banner ends early; it has five words, as in "
                               "'%%%%MatrixMarket matrix coordinate real general'");
    if (!word_is(from[1], to[1], "matrix")) return expected(run, m, from[1], to[1], "matrix");
    m->dense = word_is(from[2], to[2], "array");
    if (!m->dense && !word_is(from[2], to[2], "coordinate"))
        return expected(run, m, from[2], to[2], "coordinate or array");
    LACIS_TRY(banner_field(run, m, from[3], to[3]));
    LACIS_TRY(banner_symmetry(run, m, from[4], to[4]));
    if (from[0][1] != '%')
        lacis_run_note(run, LACIS_WARNING, "the banner begins with one %% instead of two: read as MatrixMarket");
    return LACIS_OK;
}

/* "%%GraphBLAS type int8_t" and "%lacis base 0 0". */
static void read_comment(lacis_mtx *m, const char *p, const char *end)
{
    static const char graphblas[] = "%%GraphBLAS type ", base[] = "%lacis base ";
    size_t length = (size_t)(end - p);
    if (length >= sizeof graphblas && strncasecmp(p, graphblas, sizeof graphblas - 1) == 0) {
        p += sizeof graphblas - 1;
        while (end > p && lacis_blank(end[-1])) {
            end--;
        }
        snprintf(m->type, sizeof m->type, "%.*s", (int)(end - p < 31 ? end - p : 31), p);
    } else if (length >= sizeof base && strncmp(p, base, sizeof base - 1) == 0) {
        const char *from, *to, *next = p + sizeof base - 1;
        for (int i = 0; i < 2 && lacis_field(next, end, 0, &from, &to, &next); i++) {
            if (!lacis_number_integer(from, to, &m->base[i])) m->base[i] = 1;
        }
    }
}

static lacis_status read_sizes(lacis_run *run, lacis_mtx *m, const char *line, const char *end)
{
    static const char *const names[] = {"rows", "columns", "entries"};
    int64_t *const sizes[] = {&m->rows, &m->cols, &m->entries};
    const char *from = line, *to = line, *next = line;
    char quote[LACIS_QUOTE];
    int n = m->dense ? 2 : 3;
    for (int i = 0; i < n; i++) {
        if (!lacis_field(next, end, 0, &from, &to, &next))
            return lacis_text_fail(run, m->text, to, "the size line lacks its number of %s; mend it", names[i]);
        if (!lacis_number_integer(from, to, sizes[i]) || *sizes[i] < 0)
            return lacis_text_fail(run, m->text, from,
                                   "the number of %s, %s, is not an integer from 0 to 2^63 - 1; mend "
                                   "the size line",
                                   names[i], lacis_text_quote(from, to, quote));
    }
    if (lacis_field(next, end, 0, &from, &to, &next))
        return lacis_text_fail(run, m->text, from, "the size line has more than %d numbers; mend it", n);
    if (m->symmetry != LACIS_MIRROR_NONE && m->rows != m->cols)
        return lacis_text_fail(run, m->text, line,
                               "%lld x %lld is not square, but the banner says that the matrix is "
                               "its own mirror image; mend one of them",
                               (long long)m->rows, (long long)m->cols);
    return LACIS_OK;
}

lacis_status lacis_mtx_head(lacis_run *run, const lacis_text *text, lacis_mtx *m)
{
    *m = (lacis_mtx){.text = text, .base = {1, 1}};
    LACIS_TRY(read_banner(run, m));
    const char *p = lacis_line_next(text->begin, text->end);
    for (; p < text->end; p = lacis_line_next(p, text->end)) {
        const char *end = lacis_line_end(p, text->end);
        if (!lacis_line_empty(p, end)) break;
        read_comment(m, p, end);
    }
    if (p >= text->end)
        return lacis_text_fail(run, text, text->end, "the file ends before its size line; fetch it again");
    m->body = lacis_line_next(p, text->end);
    return read_sizes(run, m, p, lacis_line_end(p, text->end));
}

/* -------------------------------------------------------------------------------------------- dense */

typedef enum dense_fault { DENSE_FINE, DENSE_VALUE, DENSE_SHAPE, DENSE_MANY, DENSE_FEW } dense_fault;

static lacis_status fault(lacis_sink *sink, dense_fault code, const char *from, const char *to, int64_t figure)
{
    sink->fault = (lacis_fault){.code = (int)code, .at = from, .end = to, .figure = figure};
    return LACIS_FORMAT;
}

/* Steps to the next place in column order; only what the symmetry stores. */
static void step(const lacis_mtx *m, int64_t *row, int64_t *col)
{
    if (++*row < m->rows) return;
    ++*col;
    *row = m->symmetry == LACIS_MIRROR_NONE ? 0 : m->symmetry == LACIS_MIRROR_NEGATED ? *col + 1 : *col;
}

static bool places_left(const lacis_mtx *m, int64_t row, int64_t col)
{
    return col < m->cols && row < m->rows;
}

static lacis_status take_number(lacis_sink *sink, const char *from, const char *to)
{
    int64_t integer = 0;
    double real;
    lacis_number_kind kind = lacis_number_parse(from, to, &integer, &real);
    if (kind == LACIS_NUMBER_BAD) return fault(sink, DENSE_VALUE, from, to, 0);
    if (sink->want == LACIS_WANT_ANY && kind == LACIS_NUMBER_INTEGER)
        lacis_seen_integer(&sink->seen, integer);
    else if (sink->want == LACIS_WANT_ANY)
        lacis_seen_real(&sink->seen, real);
    sink->seen.big |= kind == LACIS_NUMBER_BIG;
    if (sink->want == LACIS_WANT_INTEGER)
        sink->value[sink->count].integer = integer;
    else
        sink->value[sink->count].real = real;
    return LACIS_OK;
}

/* One value, of one number or two, a line. */
static lacis_status take_line(const lacis_mtx *m, const char *p, const char *end, lacis_sink *sink, int64_t row,
                              int64_t col)
{
    const char *from = p, *to = p, *next = p;
    int numbers = m->field == LACIS_MTX_COMPLEX ? 2 : 1;
    for (int i = 0; i < numbers; i++) {
        if (!lacis_field(next, end, 0, &from, &to, &next)) return fault(sink, DENSE_SHAPE, to, end, numbers);
        if (i == 0)
            LACIS_TRY(take_number(sink, from, to));
        else if (!lacis_number_real(from, to, &sink->imag[sink->count]))
            return fault(sink, DENSE_VALUE, from, to, 0);
    }
    if (lacis_field(next, end, 0, &from, &to, &next)) return fault(sink, DENSE_SHAPE, from, to, numbers);
    return lacis_sink_put(sink, row + 1, col + 1);
}

static lacis_status read_dense(void *context, int64_t chunk, lacis_sink *sink)
{
    lacis_mtx *m = context;
    const lacis_text *text = m->text;
    (void)chunk; /* the only one: where a value belongs is known from its number alone */
    int64_t row = m->symmetry == LACIS_MIRROR_NEGATED ? 1 : 0, col = 0, taken = 0;
    for (const char *p = m->body; p < text->end; p = lacis_line_next(p, text->end)) {
        const char *end = lacis_line_end(p, text->end);
        sink->line = p;
        if (lacis_line_empty(p, end)) continue;
        while (col < m->cols && row >= m->rows) {
            step(m, &row, &col); /* skew-symmetric columns without an entry */
        }
        if (!places_left(m, row, col)) return fault(sink, DENSE_MANY, p, end, taken);
        LACIS_TRY(take_line(m, lacis_skip_blanks(p, end), end, sink, row, col));
        step(m, &row, &col);
        taken++;
    }
    bool rest = places_left(m, row, col);
    return rest ? fault(sink, DENSE_FEW, text->end, text->end, taken) : LACIS_OK;
}

static lacis_status report_dense(void *context, lacis_run *run, const lacis_fault *f)
{
    const lacis_mtx *m = context;
    char quote[LACIS_QUOTE];
    lacis_text_quote(f->at, f->end, quote);
    switch (f->code) {
    case DENSE_VALUE:
        return lacis_text_fail(run, m->text, f->at, "%s is not a number; mend the line", quote);
    case DENSE_SHAPE:
        return lacis_text_fail(run, m->text, f->at,
                               "a line of this array holds %lld number(s); mend the line or the banner",
                               (long long)f->figure);
    case DENSE_MANY:
        return lacis_text_fail(run, m->text, f->at,
                               "more values than the %lld that the size line declares; mend one of them",
                               (long long)f->figure);
    default:
        return lacis_text_fail(run, m->text, f->at,
                               "the file ends after %lld values, before the array is full; fetch it again",
                               (long long)f->figure);
    }
}

lacis_edge_reader lacis_mtx_dense(lacis_mtx *m)
{
    return (lacis_edge_reader){
        .context = m, .chunks = 1, .read = read_dense, .report = report_dense, .phase = "loading"};
}
