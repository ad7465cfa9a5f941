/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of status codes and the version of the library.
 */
#include "lacis.h"

const char *lacis_version(void)
{
    return LACIS_VERSION;
}

const char *lacis_status_name(lacis_status status)
{
    static const char *const name[] = {
        [LACIS_OK] = "ok",
        [LACIS_ROW] = "row",
        [LACIS_DONE] = "done",
        [LACIS_SYNTAX] = "syntax error",
        [LACIS_NAME] = "name error",
        [LACIS_TYPE] = "type error",
        [LACIS_RANGE] = "value out of range",
        [LACIS_OVERFLOW] = "integer overflow",
        [LACIS_FORMAT] = "bad file format",
        [LACIS_IO] = "input/output error",
        [LACIS_FULL] = "disk full",
        [LACIS_NOMEM] = "out of memory",
        [LACIS_LIMIT] = "over the memory limit",
        [LACIS_INTERRUPT] = "interrupted",
        [LACIS_CANTOPEN] = "cannot open",
        [LACIS_CORRUPT] = "database damaged",
        [LACIS_BUSY] = "database busy",
        [LACIS_UNSUPPORTED] = "not supported here",
        [LACIS_SQL] = "SQL error",
        [LACIS_MISUSE] = "misuse",
    };
    if ((size_t)status >= sizeof name / sizeof name[0]) return "unknown status";
    return name[status];
}
