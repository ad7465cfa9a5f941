/* SPDX-License-Identifier: Apache-2.0
 *
 * Places in a cell, as a statement names them, and the nodes there. Called by bind.c.
 */
#include "simulate/simulate.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* 'dend[3](0.5)' taken apart: [3] may be left out for 0, (x) for 0.5. A number alone is a section. */
struct place {
    char name[NEURON_NAME_TEXT];
    double x;
};

static bool read_place(const char *text, struct place *out)
{
    size_t length = strcspn(text, "[(");
    const char *at = text + length;
    long number = 0;
    char *end;
    out->x = 0.5;
    if (length == 0 || length > 16) return false;
    if (*at == '[') {
        number = strtol(at + 1, &end, 10);
        if (end == at + 1 || *end != ']' || number < 0 || number > INT32_MAX) return false;
        at = end + 1;
    }
    if (*at == '(') {
        out->x = strtod(at + 1, &end);
        if (end == at + 1 || *end != ')' || !(out->x >= 0 && out->x <= 1)) return false;
        at = end + 1;
    }
    snprintf(out->name, sizeof out->name, "%.*s[%ld]", (int)length, text, number);
    for (char *c = out->name; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    return *at == '\0';
}

static int64_t section_named(const neuron_sections *sections, const char *name)
{
    char own[NEURON_NAME_TEXT];
    for (int64_t s = 0; s < sections->count; s++) {
        lacis_neuron_name(sections->type[s], sections->number[s], own);
        if (strcmp(own, name) == 0) return s;
    }
    return -1;
}

static lacis_status find_named(lacis_run *run, const lacis_simulation *s, const lacis_item *item, int64_t cell,
                               int32_t *node)
{
    struct place place;
    if (!read_place(item->text, &place))
        return lacis_run_fail_at(run, LACIS_SYNTAX, item->offset, NULL,
                                 "'%s' is no place: write soma, 'dend[3](0.5)' (section and x from 0 to 1) or a "
                                 "sample's id",
                                 item->text);
    int64_t section = section_named(&s->cells.sections[cell], place.name);
    if (section < 0)
        return lacis_run_fail_at(run, LACIS_NAME, item->offset, "SECTIONS lists types and numbers: dend[3] is 3, 3",
                                 "%s has no section %s", lacis_cells_name(run, &s->cells, cell), place.name);
    *node = (int32_t)lacis_neuron_node(&s->trees.tree[cell], section, place.x);
    return LACIS_OK;
}

/* The compartment in which a sample lies. */
static int32_t node_of_sample(const lacis_simulation *s, int64_t cell, int64_t sample)
{
    const neuron_sections *sections = &s->cells.sections[cell];
    int64_t section = sections->sample_section[sample], point = sections->sample_point[sample];
    double length = lacis_neuron_length(sections, section);
    double x = point < 0 ? 1 : sections->arc[sections->first[section] + point] / length;
    int64_t nseg = s->trees.tree[cell].nseg[section], at = (int64_t)(x * (double)nseg);
    return s->trees.tree[cell].first[section] + (int32_t)(at < nseg ? at : nseg - 1);
}

lacis_status lacis_place_find(lacis_run *run, const lacis_simulation *s, const lacis_item *item, int64_t cell,
                              int32_t *node)
{
    if (item->text != NULL) return find_named(run, s, item, cell, node);
    for (int64_t i = s->cells.first[cell]; i < s->cells.first[cell + 1]; i++) {
        if (s->cells.id[i] != item->integer) continue;
        *node = node_of_sample(s, cell, i - s->cells.first[cell]);
        return LACIS_OK;
    }
    return lacis_run_fail_at(run, LACIS_NAME, item->offset, NULL, "%s has no sample %" PRId64,
                             lacis_cells_name(run, &s->cells, cell), item->integer);
}
