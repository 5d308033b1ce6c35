/* SPDX-License-Identifier: MIT */
/*
 * Findings: diagnosed causes, each a rule's sentence with its numbers and a command to try. rules.c says what
 * is found in one frame; here it gets its history: a cause must last before it is shown and must be gone for
 * a while before it leaves, so that nothing flickers, and it remembers since when it stands and how bad it
 * was at worst. Time is the frame's.
 */
#ifndef VNETTOP_FINDINGS_H
#define VNETTOP_FINDINGS_H

#include <stdint.h>

#include "src/frame.h"
#include "src/sample.h"

enum severity { SEVERITY_NOTE, SEVERITY_WATCH, SEVERITY_BAD };

/* What a rule found in one frame. */
struct finding {
    const struct rule *rule;
    enum severity severity;
    char object[192]; /* what it is about: with the rule its identity from frame to frame */
    char text[512];   /* one sentence with its evidence */
    char advice[256]; /* a command to try, never run by vnettop; "" = none */
    double value;     /* how bad, in the rule's unit */
    double cost_pps;  /* packets a second that it costs, 0 = not known: the costly come first */
};

struct finding_list {
    size_t n, alloc;
    struct finding *findings;
};

struct rule {
    const char *id;
    const char *unit;  /* of value */
    const char *needs; /* sources, for the manual */
    const char *help;
    void (*check)(const struct rule *rule, const struct frame *frame, struct finding_list *out);
};

extern const struct rule rules[];
extern const size_t n_rules;

/* Adds a finding; text and advice are set by the caller on what is returned (valid until the next add). */
struct finding *finding_add(struct finding_list *list, const struct rule *rule, enum severity severity,
                            double value, const char *object_format, ...)
    __attribute__((format(printf, 5, 6)));
void finding_list_free(struct finding_list *list);

/* Everything the rules find in a frame. */
void findings_look(const struct frame *frame, struct finding_list *out);

struct findings;

struct findings *findings_new(void);
void findings_free(struct findings *findings);

/* Looks at the frame and returns a sample with the `findings` that stand now, most costly first. */
struct sample *findings_update(struct findings *findings, const struct frame *frame);

const char *severity_name(enum severity severity);

#endif
