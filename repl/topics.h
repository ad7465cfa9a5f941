/* SPDX-License-Identifier: Apache-2.0
 *
 * What .help explains besides dot commands and operators. tests/repl/help.py runs the examples.
 */
#ifndef SHELL_TOPICS_H
#define SHELL_TOPICS_H

typedef struct shell_topic {
    const char *name, *summary;
    const char *text; /* a paragraph or row a line, broken when shown; NULL: made from the table of modes */
    const char *const *examples; /* statements without their semicolons, which run in their order; NULL: none */
} shell_topic;

const shell_topic *shell_topic_at(int index); /* NULL past the last */
const shell_topic *shell_topic_find(const char *name);
/* Of a word that statements begin with, or that stands in many, such as LOAD: the topic with examples of it; NULL: it
 * is none. */
const shell_topic *shell_topic_of_word(const char *word);

#endif
