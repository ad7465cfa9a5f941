/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of options, for settings.c and show.c.
 */
#ifndef LACIS_EXEC_SETTINGS_H
#define LACIS_EXEC_SETTINGS_H

#include "exec/exec.h"

struct setting {
    const char *name, *takes, *help;
    bool (*set)(lacis_host *host, const char *value); /* false: not a value it takes */
    void (*get)(const lacis_host *host, char *value, size_t size);
};
extern const struct setting lacis_setting[];
extern const int lacis_settings;

#endif
