/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparing keywords and names without regard to case. ASCII alone, so that the embedding program's locale does not
 * decide what a keyword is. Used by the registry, the nearest-name search and the statement parser.
 */
#ifndef LACIS_CORE_WORD_H
#define LACIS_CORE_WORD_H

#include <stdbool.h>
#include <stddef.h>

static inline char lacis_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline char lacis_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Whether `word` starts with the `length` bytes at `text`. */
static inline bool lacis_word_starts(const char *word, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (word[i] == '\0' || lacis_lower(word[i]) != lacis_lower(text[i])) return false;
    }
    return true;
}

/* Whether the `length` bytes at `text` are `word`. */
static inline bool lacis_word_is(const char *text, size_t length, const char *word)
{
    return lacis_word_starts(word, text, length) && word[length] == '\0';
}

/* Letters, digits, _ and all bytes above 127: what a name may hold without quotes. */
static inline bool lacis_word_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (unsigned char)c > 127;
}

#endif
