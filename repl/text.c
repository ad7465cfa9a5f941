/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements text.h, except for the nearest name (nearest.c).
 */
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

void *shell_alloc(void *block, size_t bytes)
{
    void *grown = realloc(block, bytes ? bytes : 1);
    if (!grown) {
        fputs("lacis: out of memory\n", stderr);
        exit(1);
    }
    return grown;
}

char *shell_copy(const char *text, size_t length)
{
    char *copy = shell_alloc(NULL, length + 1);
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

void shell_text_add(shell_text *text, const char *bytes, size_t count)
{
    if (text->size - text->used <= count) {
        size_t size = text->size * 2 > text->used + count + 64 ? text->size * 2 : text->used + count + 64;
        text->data = shell_alloc(text->data, size);
        text->size = size;
    }
    memcpy(text->data + text->used, bytes, count);
    text->used += count;
    text->data[text->used] = 0;
}

void shell_text_puts(shell_text *text, const char *string)
{
    shell_text_add(text, string, strlen(string));
}

void shell_text_clear(shell_text *text)
{
    text->used = 0;
    if (text->data) text->data[0] = 0;
}

void shell_text_free(shell_text *text)
{
    free(text->data);
    *text = (shell_text){0};
}

/* Length of the sequence that a lead byte begins; 0 for what cannot begin one. */
static size_t sequence_length(unsigned char lead)
{
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead < 0xE0) return 2;
    if (lead >= 0xE0 && lead < 0xF0) return 3;
    if (lead >= 0xF0 && lead < 0xF5) return 4;
    return 0;
}

size_t shell_rune(const char *text, size_t length, uint32_t *rune, bool *valid)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    static const unsigned char bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    unsigned char lead = (unsigned char)text[0];
    size_t count = sequence_length(lead);
    *rune = 0xFFFD;
    *valid = false;
    if (count == 0 || count > length) return 1;
    uint32_t value = lead & bits[count];
    for (size_t i = 1; i < count; i++) {
        unsigned char byte = (unsigned char)text[i];
        if ((byte & 0xC0) != 0x80) return 1;
        value = value << 6 | (byte & 0x3F);
    }
    if (value < least[count] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return 1;
    *rune = value;
    *valid = true;
    return count;
}

int shell_rune_width(uint32_t rune)
{
    if (rune < 0x7F) return 1;
    int width = wcwidth((wchar_t)rune);
    return width < 0 ? 1 : width;
}

int shell_width(const char *text, size_t length)
{
    int width = 0;
    for (size_t i = 0; i < length;) {
        if ((unsigned char)text[i] < 0x80) {
            width++;
            i++;
            continue;
        }
        uint32_t rune;
        bool valid;
        i += shell_rune(text + i, length - i, &rune, &valid);
        width += shell_rune_width(rune);
    }
    return width;
}

size_t shell_fit(const char *text, size_t length, int width, int *used)
{
    size_t i = 0;
    *used = 0;
    while (i < length) {
        uint32_t rune;
        bool valid;
        size_t count = shell_rune(text + i, length - i, &rune, &valid);
        int columns = shell_rune_width(rune);
        if (*used + columns > width) break;
        *used += columns;
        i += count;
    }
    return i;
}

size_t shell_digits(int64_t value, char *out)
{
    char reversed[SHELL_DIGITS];
    size_t count = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        reversed[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    size_t length = 0;
    if (value < 0) out[length++] = '-';
    while (count > 0)
        out[length++] = reversed[--count];
    return length;
}

const char *shell_grouped(int64_t value, char *out)
{
    char plain[SHELL_DIGITS];
    size_t length = shell_digits(value, plain), at = 0;
    for (size_t i = 0; i < length; i++) {
        size_t left = length - i;
        if (i > 0 && left % 3 == 0 && plain[i - 1] != '-') out[at++] = ',';
        out[at++] = plain[i];
    }
    out[at] = 0;
    return out;
}

bool shell_same(const char *a, const char *b)
{
    return strcasecmp(a, b) == 0;
}
