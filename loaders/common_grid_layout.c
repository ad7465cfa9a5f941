/* SPDX-License-Identifier: Apache-2.0
 *
 * What a text of a grid looks like, from its first line; see common_grid_text.h.
 */
#include "common_grid_text.h"
#include "common_number.h"

static const char axes[] = "xyz";

static const char *first_line(const lacis_text *text)
{
    const char *p = text->begin;
    while (p < text->end && lacis_line_empty(p, lacis_line_end(p, text->end)))
        p = lacis_line_next(p, text->end);
    return p;
}

/* Commas, semicolons or blanks, whichever stand in the line. */
static char delimiter_of(const char *p, const char *end)
{
    for (; p < end; p++)
        if (*p == ',' || *p == ';') return *p;
    return '\0';
}

static bool is_number(const char *p, const char *end, char delimiter)
{
    const char *from, *to, *next;
    double real;
    return lacis_field(p, end, delimiter, &from, &to, &next) && lacis_number_real(from, to, &real);
}

/* 0, 1, 2 of x, y, z; -1 of any other name. */
static int axis_named(const char *from, const char *to)
{
    const char *at = to - from == 1 ? memchr(axes, *from | 32, 3) : NULL;
    return at == NULL ? -1 : (int)(at - axes);
}

static lacis_status read_column(lacis_run *run, lacis_grid_layout *layout, const char *from, const char *to)
{
    char quote[LACIS_QUOTE];
    int axis = axis_named(from, to), column = layout->columns;
    lacis_text_quote(from, to, quote);
    if (column == LACIS_GRID_COLUMNS || (axis < 0 && layout->shape.fields == LACIS_GRID_FIELDS))
        return lacis_text_fail(run, layout->text, from, "a grid has at most %d fields; cut some columns off",
                               LACIS_GRID_FIELDS);
    for (int i = 0; i < column; i++)
        if (axis >= 0 && layout->axis[i] == axis)
            return lacis_text_fail(run, layout->text, from, "%s is there twice; rename one", quote);
    layout->axis[column] = axis;
    layout->columns++;
    if (axis >= 0) {
        layout->shape.dims++;
        return LACIS_OK;
    }
    const char *fault = lacis_grid_name_fault(from, to);
    for (int i = 0; i < layout->shape.fields && fault == NULL; i++)
        if (strlen(layout->shape.name[i]) == (size_t)(to - from) &&
            strncasecmp(layout->shape.name[i], from, (size_t)(to - from)) == 0)
            fault = "is there twice";
    if (fault != NULL)
        return lacis_text_fail(run, layout->text, from, "a field's name, %s, %s; rename it", quote, fault);
    const char *name = lacis_run_text(run, "%.*s", (int)(to - from), from);
    if (name == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    layout->field[column] = layout->shape.fields;
    layout->shape.name[layout->shape.fields++] = name;
    return LACIS_OK;
}

/* The header of cells. */
static lacis_status read_header(lacis_run *run, lacis_grid_layout *layout, const char *p, const char *end)
{
    const char *from, *to, *next = p;
    bool there[3] = {false};
    while (lacis_field(next, end, layout->delimiter, &from, &to, &next))
        LACIS_TRY(read_column(run, layout, from, to));
    for (int i = 0; i < layout->columns; i++)
        if (layout->axis[i] >= 0) there[layout->axis[i]] = true;
    if (!there[0] || (there[2] && !there[1]) || layout->shape.fields == 0)
        return lacis_text_fail(
            run, layout->text, p,
            "a grid's cells need columns x, maybe y and z, and a field; a matrix of numbers has no "
            "header");
    return LACIS_OK;
}

lacis_status lacis_grid_layout_find(lacis_run *run, const lacis_text *text, lacis_grid_layout *out)
{
    const char *p = first_line(text), *end = lacis_line_end(p, text->end);
    *out = (lacis_grid_layout){.text = text, .begin = p, .end = text->end, .delimiter = delimiter_of(p, end)};
    if (p >= text->end) return lacis_text_fail(run, text, p, "the file has no numbers; fetch it again");
    out->cells = !is_number(p, end, out->delimiter);
    if (out->cells) {
        out->begin = lacis_line_next(p, text->end);
        return read_header(run, out, p, end);
    }
    out->shape.dims = 2;
    out->shape.fields = 1;
    out->shape.name[0] = "value";
    return LACIS_OK;
}

/* "x,u", "x,y,u,v", "x,y,z,value": how many of x, y, z stand before plain names; 0: it is something else. */
static int count_axes(const char *p, const char *end)
{
    const char *from, *to, *next = p;
    int axis = 0, fields = 0;
    while (lacis_field(next, end, ',', &from, &to, &next)) {
        if (fields == 0 && axis < 3 && axis_named(from, to) == axis)
            axis++;
        else if (lacis_grid_name_fault(from, to) == NULL)
            fields++;
        else
            return 0;
    }
    return fields > 0 && fields <= LACIS_GRID_FIELDS ? axis : 0;
}

bool lacis_grid_layout_sniff(const lacis_text *text)
{
    const char *p = first_line(text), *end = lacis_line_end(p, text->end), *from, *to, *next;
    int axis = count_axes(p, end);
    next = lacis_line_next(p, text->end);
    end = lacis_line_end(next, text->end);
    for (int i = 0; i < axis; i++)
        if (!lacis_field(next, end, ',', &from, &to, &next) || to != from + 1 || *from != '0') return false;
    return axis > 0;
}
