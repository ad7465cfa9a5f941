/* SPDX-License-Identifier: Apache-2.0
 *
 * cmocka with what it wants included before it, and short forms that our tests share.
 */
#ifndef LACIS_TESTS_CHECK_H
#define LACIS_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A test between the file's own setup and teardown. */
#define CHECK(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

#endif
