/* SPDX-License-Identifier: MIT */
/* meta.json (see meta.h), kept as the JSON that it will be. */
#include "src/meta.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/format.h"
#include "src/memory.h"
#include "src/utf8.h"

struct meta {
    json_t *root;
};

static const char *const map_names[META_MAPS_N] = {
    [META_LABELS] = "labels", [META_RESULTS] = "results", [META_VERSIONS] = "versions"};

/* A copy in valid UTF-8, which is all that jansson takes. */
static char *clean_text(const char *text)
{
    size_t taken, room = strlen(UTF8_REPLACEMENT);
    char *clean = xrealloc(NULL, strlen(text) + 1, room), *to = clean;
    for (; *text; text += taken) {
        bool valid = utf8_decode(text, UTF8_MAX, &taken) != UTF8_INVALID;
        to = mempcpy(to, valid ? text : UTF8_REPLACEMENT, valid ? taken : room);
    }
    *to = '\0';
    return clean;
}

static json_t *json_text(const char *text)
{
    char *clean = clean_text(text);
    json_t *json = json_string(clean);
    free(clean);
    return json;
}

/* Facts that are not known leave no member. */
static void put_text(json_t *object, const char *name, const char *text)
{
    if (text)
        json_object_set_new(object, name, json_text(text));
}

static void put_number(json_t *object, const char *name, int number)
{
    if (number >= 0)
        json_object_set_new(object, name, json_integer(number));
}

static json_t *cpus_json(const struct host_facts *facts)
{
    json_t *cpus = json_array();
    for (size_t i = 0; i < facts->n_cpus; i++) {
        const struct cpu_fact *fact = &facts->cpus[i];
        json_t *cpu = json_object();
        put_number(cpu, "cpu", fact->cpu);
        put_number(cpu, "core", fact->core);
        put_number(cpu, "package", fact->package);
        put_number(cpu, "numa", fact->numa);
        put_text(cpu, "siblings", fact->siblings);
        if (fact->online >= 0)
            json_object_set_new(cpu, "online", json_boolean(fact->online));
        put_text(cpu, "governor", fact->governor);
        json_array_append_new(cpus, cpu);
    }
    return cpus;
}

static json_t *huge_pages_json(const struct host_facts *facts)
{
    json_t *sizes = json_array();
    for (size_t i = 0; i < facts->n_huge_pages; i++) {
        const struct huge_pages_fact *fact = &facts->huge_pages[i];
        json_array_append_new(sizes, json_pack("{s:i,s:I,s:I}", "size_kb", fact->size_kb, "total",
                                               (json_int_t)fact->total, "free", (json_int_t)fact->free));
    }
    return sizes;
}

static json_t *host_json(const struct host_facts *facts)
{
    json_t *host = json_object();
#define PUT_TEXT(name, path) put_text(host, #name, facts->name);
    HOST_TEXT_FACTS(PUT_TEXT)
#undef PUT_TEXT
    put_text(host, "architecture", facts->architecture);
    put_text(host, "cpu_model", facts->cpu_model);
    put_text(host, "hypervisor", facts->hypervisor);
    put_text(host, "transparent_huge_pages", facts->transparent_huge_pages);
    json_object_set_new(host, "huge_pages", huge_pages_json(facts));
    json_object_set_new(host, "cpus", cpus_json(facts));
    return host;
}

struct meta *meta_new(const struct host_facts *facts, double interval_s)
{
    struct meta *meta = xzalloc(sizeof(*meta));
    meta->root = json_pack("{s:i,s:s,s:s,s:f,s:n,s:n,s:i,s:n,s:n}", "schema_version", META_SCHEMA_VERSION,
                           "tool", "vnettop", "tool_version", VNETTOP_VERSION, "interval_s", interval_s,
                           "start", "end", "frames", 0, "command", "exit_status");
    for (size_t i = 0; i < META_MAPS_N; i++)
        json_object_set_new(meta->root, map_names[i], json_object());
    json_object_set_new(meta->root, "tables", json_array());
    json_object_set_new(meta->root, "sources", json_array());
    json_object_set_new(meta->root, "host", facts ? host_json(facts) : json_object());
    return meta;
}

void meta_free(struct meta *meta)
{
    if (!meta)
        return;
    json_decref(meta->root);
    free(meta);
}

void meta_set(struct meta *meta, enum meta_map map, const char *name, const char *value)
{
    char *clean_name = clean_text(name);
    put_text(json_object_get(meta->root, map_names[map]), clean_name, value);
    free(clean_name);
}

void meta_set_command(struct meta *meta, const char *const *argv)
{
    json_t *words = json_array();
    for (; *argv; argv++)
        json_array_append_new(words, json_text(*argv));
    json_object_set_new(meta->root, "command", words);
}

static void put_moment(struct meta *meta, const char *name, int64_t mono_ns, int64_t wall_ns)
{
    char time_text[FORMAT_SIZE];
    format_rfc3339(time_text, sizeof(time_text), wall_ns);
    json_object_set_new(meta->root, name,
                        json_pack("{s:s,s:I,s:I}", "time", time_text, "unix_ms",
                                  (json_int_t)(wall_ns / 1000000), "monotonic_ns", (json_int_t)mono_ns));
}

void meta_set_start(struct meta *meta, int64_t mono_ns, int64_t wall_ns)
{
    put_moment(meta, "start", mono_ns, wall_ns);
}

void meta_set_end(struct meta *meta, int64_t mono_ns, int64_t wall_ns)
{
    put_moment(meta, "end", mono_ns, wall_ns);
}

void meta_set_tables(struct meta *meta, const enum table_id *tables, size_t n)
{
    json_t *names = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(names, json_string(table_get(tables[i])->name));
    json_object_set_new(meta->root, "tables", names);
}

void meta_set_frames(struct meta *meta, uint64_t frames)
{
    json_object_set_new(meta->root, "frames", json_integer((json_int_t)frames));
}

void meta_set_exit_status(struct meta *meta, int exit_status)
{
    json_object_set_new(meta->root, "exit_status", exit_status < 0 ? json_null() : json_integer(exit_status));
}

/* An object of some of a row's columns, texts and numbers; what has no value is left out. */
static json_t *row_object(const struct frame *frame, enum table_id id, const struct frame_row *row,
                          const char *const *keys, size_t n)
{
    json_t *object = json_object();
    for (size_t k = 0; k < n; k++) {
        struct cell cell = frame_cell(frame, row, column_find(table_get(id), keys[k]));
        if (cell.kind == CELL_U64)
            json_object_set_new(object, keys[k], json_integer((json_int_t)cell.u64));
        else if (cell.kind == CELL_STR)
            put_text(object, keys[k], cell.str);
    }
    return object;
}

/* "libvirt 9.0.0, qemu 7.2.0": a name and its version each. */
static void set_versions(struct meta *meta, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, ",");
        char name[64], *blank;
        snprintf(name, sizeof(name), "%.*s", (int)length, text);
        blank = strrchr(name, ' ');
        if (blank) {
            *blank = '\0';
            meta_set(meta, META_VERSIONS, name, blank + 1);
        }
        text += length;
        text += strspn(text, ", ");
    }
}

void meta_set_sources(struct meta *meta, const struct frame *frame)
{
    static const char *const keys[] = {"name", "state", "detail", "version"};
    const struct column *version = column_find(table_get(TABLE_SOURCES), "version");
    json_t *sources = json_array();
    for (size_t i = 0; i < frame->table[TABLE_SOURCES].n; i++) {
        const struct frame_row *row = &frame->table[TABLE_SOURCES].rows[i];
        struct cell cell = frame_cell(frame, row, version);
        json_array_append_new(sources,
                              row_object(frame, TABLE_SOURCES, row, keys, sizeof(keys) / sizeof(keys[0])));
        if (cell.kind == CELL_STR)
            set_versions(meta, cell.str);
    }
    json_object_set_new(meta->root, "sources", sources);
}

void meta_set_pins(struct meta *meta, const struct frame *frame)
{
    static const char *const keys[] = {"vm",  "vm_key",       "role",        "index",       "pid",
                                       "tid", "allowed_cpus", "pinned_cpus", "pinned_next", "cpu"};
    json_t *pins = json_array();
    for (size_t i = 0; i < frame->table[TABLE_THREADS].n; i++)
        json_array_append_new(pins, row_object(frame, TABLE_THREADS, &frame->table[TABLE_THREADS].rows[i],
                                               keys, sizeof(keys) / sizeof(keys[0])));
    json_object_set_new(meta->root, "pin_map", pins);
}

char *meta_text(const struct meta *meta)
{
    char *text = json_dumps(meta->root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    size_t n = text ? strlen(text) : 0;
    char *line = text ? realloc(text, n + 2) : NULL;
    if (!line) {
        free(text);
        return NULL;
    }
    memcpy(line + n, "\n", 2);
    return line;
}
