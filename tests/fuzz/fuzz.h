/* SPDX-License-Identifier: Apache-2.0
 *
 * What the fuzz targets share: each is one fuzz_one and a list of words, driven by libFuzzer where the compiler has
 * it and by driver.c otherwise.
 */
#ifndef LACIS_TESTS_FUZZ_H
#define LACIS_TESTS_FUZZ_H

#include "lacis.h"

#include <stddef.h>
#include <stdint.h>

/* Runs the target on one input. Anything wrong ends in abort(), with a line on stderr. */
void fuzz_one(const uint8_t *data, size_t size);

/* Words that driver.c splices in; NULL-terminated. */
extern const char *const fuzz_words[];

/* A fresh engine with one thread and a small memory_limit; never fails. */
lacis_engine *fuzz_open(void);

/* Runs statements that must succeed. */
void fuzz_must(lacis_engine *engine, const char *script);

/* Steps a statement of the engine until it ends, some hundred rows are seen, or half a second has passed (then
 * through lacis_interrupt); reads every cell. Finalizes it. */
void fuzz_drain(lacis_engine *engine, lacis_statement *statement);

/* Checks what must hold of an error: a message, and an offset within the text. */
void fuzz_check_error(const lacis_engine *engine, lacis_status status, size_t text_length);

/* Checks the invariants of an array's parts (lacis.h): offsets rise, columns rise and are in range ... */
void fuzz_check_array(const lacis_array *array);

#define FUZZ_CHECK(what)                                                                                             \
    do {                                                                                                             \
        if (!(what)) fuzz_broken(#what, __FILE__, __LINE__);                                                         \
    } while (0)
_Noreturn void fuzz_broken(const char *what, const char *file, int line);

#endif
