/* SPDX-License-Identifier: MIT */
/*
 * Pieces of the texts that Open vSwitch's control commands print: lines, labels, strict numbers, and the
 * parsers of the small commands (coverage/show, upcall/show, memory/show). The PMD commands are in ovs_pmd.h,
 * dpctl/show in ovs_dpctl.h. Everything is a pure function of the text; names are slices of it, so the text
 * must outlive the result. Labels decide, not places: what a release does not print is absent, what it prints
 * beyond is ignored.
 */
#ifndef COLLECTORS_OVS_TEXT_H
#define COLLECTORS_OVS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A slice of a reply; not terminated. */
struct ovs_span {
    const char *s;
    size_t len;
};

struct ovs_span ovs_span_of(const char *text);
bool ovs_span_is(struct ovs_span span, const char *text);
bool ovs_span_starts(struct ovs_span span, const char *prefix);
bool ovs_span_ends(struct ovs_span span, const char *suffix);
struct ovs_span ovs_span_from(struct ovs_span span, size_t offset);
struct ovs_span ovs_span_trim(struct ovs_span span); /* without blanks and tabs at both ends */

/* Cuts `prefix` off the front; false (and nothing cut) when it does not stand there. */
bool ovs_take(struct ovs_span *span, const char *prefix);

/* Cuts a decimal off the front that fits and ends at a character that cannot belong to a number or a word. */
bool ovs_take_u64(struct ovs_span *span, uint64_t *value);

/* The same for 12, 12.5, -3.25; `nan`, `-nan`, `inf` and exponents are no decimals. */
bool ovs_take_decimal(struct ovs_span *span, double *value);

/* The next line of `rest`, without its newline; false at the end. */
bool ovs_next_line(struct ovs_span *rest, struct ovs_span *line);

/* "  label : value" at the first colon, both trimmed. False without a colon. */
bool ovs_split_label(struct ovs_span line, struct ovs_span *label, struct ovs_span *value);

/* The number right behind `label` where that stands at the start of the line or behind a blank or '('. */
bool ovs_field_u64(struct ovs_span line, const char *label, uint64_t *value);

/* Makes room for one more item of `size` bytes; false at `max` items or without memory. */
bool ovs_grow(void **items, size_t *cap, size_t n, size_t size, size_t max);

enum {
    OVS_MAX_COVERAGE = 4096,
    OVS_MAX_UPCALL_DPS = 64,
};

/* coverage/show: events counted since the daemon's start. Counters that never hit are not listed. */
struct ovs_coverage {
    struct ovs_span name;
    uint64_t total;
};

struct ovs_coverage_list {
    struct ovs_coverage *items;
    size_t n, cap;
    bool truncated; /* more than OVS_MAX_COVERAGE, or out of memory */
};

void ovs_coverage_parse(struct ovs_coverage_list *list, struct ovs_span text); /* empties the list first */
bool ovs_coverage_total(const struct ovs_coverage_list *list, const char *name, uint64_t *total);
void ovs_coverage_free(struct ovs_coverage_list *list);

/* coverage/read-counter: the text is one number. */
bool ovs_coverage_read(struct ovs_span text, uint64_t *total);

/* upcall/show: one per datapath. */
enum ovs_upcall_value {
    OVS_UPCALL_FLOWS, /* datapath flows now */
    OVS_UPCALL_FLOWS_AVG,
    OVS_UPCALL_FLOWS_MAX,
    OVS_UPCALL_LIMIT,   /* the revalidators' limit, which they lower when a dump takes long */
    OVS_UPCALL_DUMP_MS, /* duration of the last dump of all flows */
    OVS_UPCALL_OFFLOADED,
    OVS_UPCALL_N
};

struct ovs_upcall {
    struct ovs_span datapath; /* "netdev@ovs-netdev" */
    uint32_t has;             /* 1 << enum ovs_upcall_value */
    uint64_t v[OVS_UPCALL_N];
};

/* Fills up to `max`; returns how many datapaths were seen. */
size_t ovs_upcall_parse(struct ovs_upcall *items, size_t max, struct ovs_span text);

/* memory/show: "key:N key with blanks:N"; keys vary with the release ("udpif keys", "ports", "handlers",
 * ...). */
bool ovs_memory_value(struct ovs_span text, const char *key, uint64_t *value);

#endif
