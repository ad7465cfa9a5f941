/* SPDX-License-Identifier: Apache-2.0
 *
 * Text for the whole shell: a growing buffer, UTF-8 and how many terminal columns it takes, numbers as digits, the
 * nearest of some names. Shared names of the shell begin with shell_, those of the library with lacis_.
 */
#ifndef SHELL_TEXT_H
#define SHELL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that grow at the end; data[used] is always zero once something was added. Starts as all zero. */
typedef struct shell_text {
    char *data;
    size_t used, size;
} shell_text;

void shell_text_add(shell_text *text, const char *bytes, size_t count);
void shell_text_puts(shell_text *text, const char *string);
void shell_text_clear(shell_text *text); /* keeps the memory */
void shell_text_free(shell_text *text);

/* realloc and strdup that end the program with a message where memory ran out: every statement is a transaction, so
 * nothing is lost by that. */
void *shell_alloc(void *block, size_t bytes);
char *shell_copy(const char *text, size_t length);

/* Decodes the character at `text` (length >= 1 bytes left) and returns its length; bytes that are not UTF-8 are
 * taken singly and give U+FFFD with *valid = false. */
size_t shell_rune(const char *text, size_t length, uint32_t *rune, bool *valid);
int shell_rune_width(uint32_t rune);
/* Terminal columns of one line of text without control characters. */
int shell_width(const char *text, size_t length);
/* Bytes of the longest beginning that is at most `width` columns wide. */
size_t shell_fit(const char *text, size_t length, int width, int *used);

enum { SHELL_DIGITS = 32 };
/* Writes value in decimal to `out` (SHELL_DIGITS bytes); returns the length. */
size_t shell_digits(int64_t value, char *out);
/* The same with commas between groups of three, and a closing zero. */
const char *shell_grouped(int64_t value, char *out);

bool shell_same(const char *a, const char *b); /* in any case of letters */

/* The candidate that is nearest to `word`, if it is near enough to be meant. */
typedef struct shell_nearest {
    const char *word, *best;
    int distance;
} shell_nearest;
void shell_nearest_try(shell_nearest *nearest, const char *candidate);

#endif
