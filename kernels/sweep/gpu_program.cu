/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs of rules: the text that stands before their functions, and when one is worth compiling.
 */
#include "sweep/gpu_inside.h"
#include "sweep/gpu_window.cuh"

#include <stdarg.h>
#include <stdio.h>

namespace sweep
{

enum {
    TAPS_MOST = 512,
    LINEAR_TAPS_MOST = 96 /* of rules that the general kernel does, too: from here on it is not slower */
};

/* A text of which as much is written as there is room for. */
struct Text {
    char *to;
    uint64_t size, length;
};

static void say(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(Text *text, const char *format, ...)
{
    va_list arguments;
    const bool room = text->length < text->size;
    va_start(arguments, format);
    const int length =
        vsnprintf(room ? text->to + text->length : nullptr, room ? text->size - text->length : 0, format, arguments);
    va_end(arguments);
    if (length > 0) text->length += (uint64_t)length;
}

static int groups_of(const lacis_sweep_rule *rule)
{
    return rule->written ? 0 : rule->linear.groups;
}

struct Amount {
    int taps, groups, weights;
    bool written;
};
static Amount amount_of(const lacis_sweep_start *start)
{
    Amount a = {};
    for (int f = 0; f < start->fields; f++) {
        const lacis_sweep_rule *rule = &start->rule[f];
        a.taps += rule->taps;
        a.groups += groups_of(rule);
        a.weights += rule->written ? 0 : 1 + rule->linear.groups;
        a.written = a.written || rule->written;
    }
    return a;
}

static void say_taps(Text *text, const lacis_sweep_start *start)
{
    say(text, "#define LACIS_SWEEP_TAP_LIST");
    for (int f = 0; f < start->fields; f++)
        for (int i = 0; i < start->rule[f].taps; i++) {
            const lacis_sweep_tap *tap = &start->rule[f].tap[i];
            say(text, " {%d,%d,%d,%d},", tap->array, tap->at[0], tap->at[1], tap->at[2]);
        }
    say(text, " {0,0,0,0}\n"); /* one that there is not, so that there are some */
}

static void say_fields(Text *text, const lacis_sweep_start *start)
{
    int at = 0;
    say(text, "#define LACIS_SWEEP_WRITTEN_LIST");
    for (int f = 0; f < start->fields; f++)
        say(text, " %d,", start->rule[f].written);
    say(text, "\n#define LACIS_SWEEP_FIRST_TAP_LIST 0");
    for (int f = 0; f < start->fields; f++)
        say(text, ", %d", at += start->rule[f].taps);
    at = 0;
    say(text, "\n#define LACIS_SWEEP_FIRST_GROUP_LIST 0");
    for (int f = 0; f < start->fields; f++)
        say(text, ", %d", at += groups_of(&start->rule[f]));
}

static void say_groups(Text *text, const lacis_sweep_start *start)
{
    int at = 0;
    say(text, "\n#define LACIS_SWEEP_GROUP_LIST");
    for (int f = 0; f < start->fields; f++) {
        const lacis_sweep_rule *rule = &start->rule[f];
        for (int g = 0; g < groups_of(rule); g++)
            say(text, " {%d,%d},", at + rule->linear.first[g], at + rule->linear.first[g + 1]);
        at += rule->taps;
    }
    say(text, " {0,0}\n");
}

static void say_functions(Text *text, const lacis_sweep_start *start, const char *type)
{
    for (int f = 0; f < start->fields; f++) {
        if (!start->rule[f].written) continue;
        say(text, "LACIS_DEVICE %s lacis_rule_%d(", type, f);
        for (int i = 0; i < start->rule[f].taps + 4; i++)
            say(text, "%s, ", type);
        say(text, "int *bad);\n");
    }
    say(text, "#define LACIS_SWEEP_CALLS");
    for (int f = 0; f < start->fields; f++) {
        if (!start->rule[f].written) continue;
        say(text, " if constexpr (F == %d) return lacis_rule_%d(", f, f);
        for (int i = 0; i < start->rule[f].taps; i++)
            say(text, "v[%d], ", i);
        say(text, "x, y, z, t, bad);");
    }
    say(text, "\n");
}

} // namespace sweep

using namespace sweep;

extern "C" const char lacis_text_gpu_sweep_written_cuh[]; /* with what it includes (cmake/embed.cmake) */

const char *const lacis_sweep_gpu_kernel_name[LACIS_SWEEP_GPU_KERNELS] = {"lacis_sweep_kernel",
                                                                          "lacis_sweep_change_kernel"};

const char *lacis_sweep_gpu_source(void)
{
    return lacis_text_gpu_sweep_written_cuh;
}

uint64_t lacis_sweep_gpu_prefix(const lacis_sweep_start *start, char *out, uint64_t size)
{
    const Amount a = amount_of(start);
    const char *const type = start->type == LACIS_SWEEP_F32 ? "float" : "double";
    Text text = {out, size, 0};
    if (a.taps > TAPS_MOST || a.weights > SWEEP_WEIGHTS) return 0;
    say(&text,
        "#define LACIS_SWEEP_T %s\n#define LACIS_SWEEP_DIMS %d\n#define LACIS_SWEEP_FIELDS %d\n"
        "#define LACIS_SWEEP_TAPS %d\n#define LACIS_SWEEP_GROUPS %d\n",
        type, start->dims, start->fields, a.taps, a.groups);
    say_taps(&text, start);
    say_fields(&text, start);
    say_groups(&text, start);
    say_functions(&text, start, type);
    return text.length + 1;
}

bool lacis_sweep_gpu_wants(const lacis_sweep_start *start)
{
    const Amount a = amount_of(start);
    if (a.written) return true;
    return march_kernel(start, false) == nullptr && a.taps <= LINEAR_TAPS_MOST && a.weights <= SWEEP_WEIGHTS;
}
