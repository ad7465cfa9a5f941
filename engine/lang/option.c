/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of options: WITH (name = value, ...) of LOAD, and the values of a generator, which may stand without names.
 * Names and values are checked where the loader or generator is known, not here. Caller: admin.c.
 */
#include "lang/offer.h"

#include <string.h>

static const lacis_option_spec *spec_named(const lacis_option_spec *specs, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (lacis_word_is(name, strlen(name), specs[i].name)) return &specs[i];
    }
    return NULL;
}

static void offer_values(lacis_parser *parser, const lacis_option_spec *specs, int count, const char *name)
{
    const lacis_option_spec *spec = spec_named(specs, count, name);
    const lacis_registry *registry = parser->registry;
    for (int i = 0; count < 0 && spec == NULL && i < registry->loaders; i++) {
        spec = spec_named(registry->loader[i]->options, registry->loader[i]->option_count, name);
    }
    if (spec != NULL) lacis_offer_value(parser, spec);
}

static lacis_status one(lacis_parser *parser, const lacis_option_spec *specs, int count, lacis_ast_option *out)
{
    *out = (lacis_ast_option){.offset = parser->lexer.token.offset};
    lacis_lexer ahead = parser->lexer;
    lacis_lexer_next(&ahead);
    lacis_offer_options(parser, specs, count);
    if (lacis_parser_at_name(parser) && lacis_lexer_is(&ahead, "=")) {
        LACIS_TRY(lacis_parser_name(parser, "an option", &out->name));
        lacis_lexer_next(&parser->lexer);
        offer_values(parser, specs, count, out->name);
    }
    out->value_offset = parser->lexer.token.offset;
    return lacis_parser_literal(parser, &out->text, &out->string);
}

static lacis_status room_for_one(lacis_parser *parser, int *room, lacis_ast *out)
{
    if (out->options < *room) return LACIS_OK;
    int larger = *room == 0 ? 8 : 2 * *room;
    lacis_ast_option *list;
    LACIS_TRY(lacis_run_scratch(parser->run, (uint64_t)larger * sizeof *list, &list));
    if (out->options > 0) memcpy(list, out->option, (size_t)out->options * sizeof *list);
    out->option = list;
    *room = larger;
    return LACIS_OK;
}

lacis_status lacis_parser_options(lacis_parser *parser, const lacis_option_spec *specs, int spec_count,
                                  lacis_ast *out)
{
    int room = 0;
    LACIS_TRY(lacis_parser_expect(parser, "("));
    if (lacis_lexer_accept(&parser->lexer, ")")) return LACIS_OK;
    do {
        LACIS_TRY(room_for_one(parser, &room, out));
        LACIS_TRY(one(parser, specs, spec_count, &out->option[out->options]));
        out->options++;
    } while (lacis_lexer_accept(&parser->lexer, ","));
    return lacis_parser_expect(parser, ")");
}
