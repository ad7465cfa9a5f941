/* SPDX-License-Identifier: Apache-2.0
 *
 * The descriptors an engine knows. Each is checked when it enters, those built in as well, so that parser, planner
 * and help need not ask again whether a field is there. Callers: api/ (at open and for lacis_register_*), and
 * everybody who looks up a verb, a format or a generator.
 */
#include "core/registry.h"
#include "core/word.h"

#include <string.h>

/* A list with one more element. Lists are short and grow rarely, so each growth copies. */
static lacis_status grown(lacis_run *run, const void *list, int count, const void *element, void *out)
{
    uint64_t bytes = ((uint64_t)count + 1) * sizeof(void *);
    const void **larger = lacis_memory_alloc(run->host->memory, bytes);
    if (larger == NULL) return lacis_run_no_memory(run, bytes);
    if (count > 0) memcpy(larger, list, (size_t)count * sizeof(void *));
    larger[count] = element;
    lacis_memory_free(run->host->memory, (void *)list);
    memcpy(out, &larger, sizeof larger);
    return LACIS_OK;
}

static bool is_word(const char *text)
{
    if (text == NULL || text[0] == '\0' || (text[0] >= '0' && text[0] <= '9')) return false;
    for (const char *at = text; *at != '\0'; at++) {
        if (!lacis_word_byte(*at)) return false;
    }
    return true;
}

static bool options_whole(const lacis_option_spec *options, int count)
{
    if (count < 0 || (count > 0 && options == NULL)) return false;
    for (int i = 0; i < count; i++) {
        bool known = options[i].form != '\0' && strchr("sbirw", options[i].form) != NULL;
        if (!is_word(options[i].name) || !known || (options[i].form == 'w' && options[i].words == NULL)) return false;
    }
    return true;
}

static bool params_whole(const lacis_op *op)
{
    if (op->param_count < 0 || (op->param_count > 0 && op->params == NULL)) return false;
    for (int i = 0; i < op->param_count; i++) {
        const lacis_param *param = &op->params[i];
        if (param->form == NULL || (param->keyword != NULL && !is_word(param->keyword))) return false;
    }
    return true;
}

static bool variants_whole(const lacis_op *op)
{
    if (op->variant_count <= 0 || op->variants == NULL) return false;
    for (int i = 0; i < op->variant_count; i++) {
        const lacis_variant *variant = op->variants[i];
        if (variant == NULL || variant->name == NULL || variant->cost == NULL || variant->run == NULL) return false;
    }
    return true;
}

lacis_status lacis_registry_add_op(lacis_run *run, lacis_registry *registry, const lacis_op *op)
{
    if (op == NULL || !is_word(op->verb)) {
        return lacis_run_fail(run, LACIS_MISUSE, "an operator needs a verb of letters, digits and _");
    }
    if (op->summary == NULL || op->bind == NULL || !params_whole(op) || !variants_whole(op)) {
        return lacis_run_fail(run, LACIS_MISUSE,
                              "operator %s lacks something: it needs a summary, a bind function, a form for each "
                              "parameter, and variants with name, cost and run",
                              op->verb);
    }
    if (lacis_registry_op(registry, op->verb, strlen(op->verb)) != NULL) {
        return lacis_run_fail(run, LACIS_NAME, "there is an operator %s already", op->verb);
    }
    LACIS_TRY(grown(run, registry->op, registry->ops, op, &registry->op));
    registry->ops++;
    return LACIS_OK;
}

lacis_status lacis_registry_add_loader(lacis_run *run, lacis_registry *registry, const lacis_loader *loader)
{
    if (loader == NULL || !is_word(loader->name)) {
        return lacis_run_fail(run, LACIS_MISUSE, "a loader needs a name of letters, digits and _");
    }
    bool does_something = loader->load != NULL || loader->save != NULL;
    if (loader->summary == NULL || !does_something || !options_whole(loader->options, loader->option_count)) {
        return lacis_run_fail(run, LACIS_MISUSE,
                              "loader %s lacks something: it needs a summary, load or save, and whole options",
                              loader->name);
    }
    if (lacis_registry_loader(registry, loader->name) != NULL) {
        return lacis_run_fail(run, LACIS_NAME, "there is a loader %s already", loader->name);
    }
    LACIS_TRY(grown(run, registry->loader, registry->loaders, loader, &registry->loader));
    registry->loaders++;
    return LACIS_OK;
}

static lacis_status add_generator(lacis_run *run, lacis_registry *registry, const lacis_generator *generator)
{
    bool whole = is_word(generator->name) && generator->summary != NULL && generator->make != NULL &&
                 options_whole(generator->options, generator->option_count);
    if (!whole) return lacis_run_fail(run, LACIS_MISUSE, "a generator needs name, summary, make and whole options");
    if (lacis_registry_generator(registry, generator->name) != NULL) {
        return lacis_run_fail(run, LACIS_NAME, "there is a generator %s already", generator->name);
    }
    LACIS_TRY(grown(run, registry->generator, registry->generators, generator, &registry->generator));
    registry->generators++;
    return LACIS_OK;
}

static lacis_status add_builtin(lacis_run *run, lacis_registry *registry)
{
    for (const lacis_op *const *op = lacis_builtin_ops; *op != NULL; op++) {
        LACIS_TRY(lacis_registry_add_op(run, registry, *op));
    }
    for (const lacis_loader *const *loader = lacis_builtin_loaders; *loader != NULL; loader++) {
        LACIS_TRY(lacis_registry_add_loader(run, registry, *loader));
    }
    for (const lacis_generator *const *generator = lacis_builtin_generators; *generator != NULL; generator++) {
        LACIS_TRY(add_generator(run, registry, *generator));
    }
    return LACIS_OK;
}

lacis_status lacis_registry_init(lacis_run *run, lacis_registry *registry)
{
    *registry = (lacis_registry){0};
    lacis_status status = add_builtin(run, registry);
    if (status != LACIS_OK) lacis_registry_clear(run->host, registry);
    return status;
}

void lacis_registry_clear(lacis_host *host, lacis_registry *registry)
{
    lacis_memory_free(host->memory, (void *)registry->op);
    lacis_memory_free(host->memory, (void *)registry->loader);
    lacis_memory_free(host->memory, (void *)registry->generator);
    *registry = (lacis_registry){0};
}

const lacis_op *lacis_registry_op(const lacis_registry *registry, const char *verb, size_t length)
{
    for (int i = 0; i < registry->ops; i++) {
        if (lacis_word_is(verb, length, registry->op[i]->verb)) return registry->op[i];
    }
    return NULL;
}

const lacis_loader *lacis_registry_loader(const lacis_registry *registry, const char *name)
{
    for (int i = 0; i < registry->loaders; i++) {
        if (lacis_word_is(name, strlen(name), registry->loader[i]->name)) return registry->loader[i];
    }
    return NULL;
}

const lacis_generator *lacis_registry_generator(const lacis_registry *registry, const char *name)
{
    for (int i = 0; i < registry->generators; i++) {
        if (lacis_word_is(name, strlen(name), registry->generator[i]->name)) return registry->generator[i];
    }
    return NULL;
}
