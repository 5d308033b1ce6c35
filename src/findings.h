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

/* What a rule found in one frame. Texts are whole and printable: names in them are shortened and cleaned, and
 * a command that does not fit is none. */
struct finding {
    const struct rule *rule;
    enum severity severity;
    uint64_t id;      /* of what it is about: with the rule its identity from frame to frame */
    char object[128]; /* its name, for the eye */
    char text[640];   /* one sentence with its evidence */
    char advice[384]; /* a command to try, never run by vnettop; "" = none */
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
    unsigned events; /* 0: a state, found in every frame while it lasts. Else value counts events, and so many
                        within a minute are worth telling */
};

extern const struct rule rules[];
extern const size_t n_rules;

/* Adds a finding about a row of the frame (NULL: about the host). Valid until the next add. */
struct finding *finding_add(struct finding_list *list, const struct rule *rule, enum severity severity,
                            double value, const struct frame_row *about);
/* Of two findings of one rule about one row: which of them this is. */
void finding_distinguish(struct finding *finding, uint64_t by);
void finding_name(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends to the sentence. */
void finding_say(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Sets the command; one that does not fit whole is not given. */
void finding_advise(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
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
