/* SPDX-License-Identifier: Apache-2.0
 *
 * What completion hands out, called by the parser at the places where it asks for something (see parser.h). Each does
 * nothing unless a completion is under way and the parser stands at the end of its text.
 */
#ifndef LACIS_LANG_OFFER_H
#define LACIS_LANG_OFFER_H

#include "lang/parser.h"

/* One completion: what is typed of the word, and where the ways to go on are sent. */
struct lacis_completer {
    lacis_run *run;
    const lacis_completion_source *source;
    const char *prefix;
    size_t length;
    char quote; /* the word stands in an unfinished '...' or "..."; 0: in none */
    lacis_complete_fn fn;
    void *arg;
    bool asked;          /* the parser asked for something */
    lacis_status status; /* memory ran out on the way */
};

void lacis_offer_word(const lacis_parser *parser, const char *word, const char *kind);
void lacis_offer_keyword(const lacis_parser *parser, const char *word);   /* in the case that is being typed */
void lacis_offer_keywords(const lacis_parser *parser, const char *words); /* "A|B|C" */
void lacis_offer_verbs(const lacis_parser *parser);
void lacis_offer_names(const lacis_parser *parser);    /* arrays and views */
void lacis_offer_settings(const lacis_parser *parser); /* SET */
void lacis_offer_files(const lacis_parser *parser);
void lacis_offer_formats(const lacis_parser *parser, bool saving);
void lacis_offer_generators(const lacis_parser *parser);
/* count < 0: the options of every loader */
void lacis_offer_options(const lacis_parser *parser, const lacis_option_spec *specs, int count);
void lacis_offer_value(const lacis_parser *parser, const lacis_option_spec *spec);
void lacis_offer_aggregates(const lacis_parser *parser);
void lacis_offer_expression(const lacis_parser *parser, const char *slots); /* slots and functions */
void lacis_offer_sql(const lacis_parser *parser); /* wherever in SQL the text ends, unless the parser asked already */

#endif
