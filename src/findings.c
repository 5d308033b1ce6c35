/* SPDX-License-Identifier: MIT */
/* The history of findings (see findings.h). */
#include "src/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"

#define SHOWN_AFTER_NS  INT64_C(1800000000)
#define GAP_NS          INT64_C(1000000000) /* what is not shown yet may be missing for so long */
#define GONE_AFTER_NS   INT64_C(3500000000)
#define GONE_AFTER      2 /* and so many frames */
#define EVENT_WINDOW_NS INT64_C(60000000000)
#define MOST_OF_A_RULE  50

struct tracked {
    struct finding finding; /* as found last */
    int64_t first_ns, last_ns;
    unsigned frames, found; /* since the first; in which it was found */
    unsigned missing;       /* in a row, up to now */
    double worst, events;
    bool shown;
};

struct findings {
    size_t n, alloc;
    struct tracked **tracked;
    struct inventory *nothing; /* of the samples without a finding */
};

const char *severity_name(enum severity severity)
{
    static const char *const names[] = {"note", "watch", "bad"};
    return names[severity];
}

/* --- one finding --- */

struct finding *finding_add(struct finding_list *list, const struct rule *rule, enum severity severity,
                            double value, const struct frame_row *about)
{
    if (list->n == list->alloc) {
        list->alloc = list->alloc ? list->alloc * 2 : 16;
        list->findings = xrealloc(list->findings, list->alloc, sizeof(*list->findings));
    }
    struct finding *finding = &list->findings[list->n++];
    finding->rule = rule;
    finding->severity = severity;
    finding->value = value;
    finding->id = about ? about->hash : 0;
    finding->cost_pps = 0;
    finding->object[0] = finding->text[0] = finding->advice[0] = '\0';
    return finding;
}

void finding_distinguish(struct finding *finding, uint64_t by)
{
    finding->id = (finding->id ^ by) * UINT64_C(1099511628211);
}

/* Formats behind what is there. What does not fit is cut at a character, and three dots say so. */
static void append(char *out, size_t size, const char *format, va_list args)
{
    size_t used = strlen(out);
    int n = vsnprintf(out + used, size - used, format, args);
    if (n < 0 || (size_t)n < size - used)
        return;
    size_t end = size - 4;
    while (end > 0 && ((unsigned char)out[end] & 0xc0) == 0x80)
        end--;
    memcpy(out + end, "...", 4);
}

void finding_name(struct finding *finding, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    finding->object[0] = '\0';
    append(finding->object, sizeof(finding->object), format, args);
    va_end(args);
}

void finding_say(struct finding *finding, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append(finding->text, sizeof(finding->text), format, args);
    va_end(args);
}

void finding_advise(struct finding *finding, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(finding->advice, sizeof(finding->advice), format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof(finding->advice))
        finding->advice[0] = '\0';
}

void finding_list_free(struct finding_list *list)
{
    free(list->findings);
    *list = (struct finding_list){0};
}

static int by_value(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    if (x->severity != y->severity)
        return (int)y->severity - (int)x->severity;
    return (x->value < y->value) - (x->value > y->value);
}

/* Of hundreds alike nobody reads more than the worst, and a history would hold nothing else. */
static void keep_worst(struct finding_list *list, size_t from)
{
    size_t n = list->n - from;
    if (n <= MOST_OF_A_RULE)
        return;
    qsort(list->findings + from, n, sizeof(*list->findings), by_value);
    finding_say(&list->findings[from], "; %zu more are like it", n - 1);
    list->n = from + MOST_OF_A_RULE;
}

void findings_look(const struct frame *frame, struct finding_list *out)
{
    for (size_t i = 0; i < n_rules; i++) {
        size_t before = out->n;
        rules[i].check(&rules[i], frame, out);
        keep_worst(out, before);
    }
}

/* --- their history --- */

struct findings *findings_new(void)
{
    struct findings *findings = xzalloc(sizeof(struct findings));
    findings->nothing = inventory_new();
    return findings;
}

void findings_free(struct findings *findings)
{
    if (!findings)
        return;
    for (size_t i = 0; i < findings->n; i++)
        free(findings->tracked[i]);
    inventory_unref(findings->nothing);
    free(findings->tracked);
    free(findings);
}

/* By identity: an open hash of their numbers + 1. */
struct index {
    size_t mask;
    uint32_t *slots;
};

static uint32_t *slot_of(const struct findings *findings, const struct index *index,
                         const struct finding *finding)
{
    uint64_t hash = finding->id + (uint64_t)(finding->rule - rules) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t at = (hash ^ hash >> 32) & index->mask;; at = (at + 1) & index->mask) {
        uint32_t *slot = &index->slots[at];
        const struct finding *there = *slot ? &findings->tracked[*slot - 1]->finding : NULL;
        if (!there || (there->id == finding->id && there->rule == finding->rule))
            return slot;
    }
}

/* With room for so many more. */
static struct index index_of(const struct findings *findings, size_t more)
{
    struct index index = {.mask = 15};
    while (index.mask + 1 < (findings->n + more) * 2)
        index.mask = index.mask * 2 + 1;
    index.slots = xzalloc((index.mask + 1) * sizeof(*index.slots));
    for (size_t i = 0; i < findings->n; i++)
        *slot_of(findings, &index, &findings->tracked[i]->finding) = (uint32_t)i + 1;
    return index;
}

static struct tracked *track(struct findings *findings, const struct index *index,
                             const struct finding *finding, int64_t now_ns)
{
    uint32_t *slot = slot_of(findings, index, finding);
    if (*slot)
        return findings->tracked[*slot - 1];
    if (findings->n == findings->alloc) {
        findings->alloc = findings->alloc ? findings->alloc * 2 : 16;
        findings->tracked = xrealloc(findings->tracked, findings->alloc, sizeof(*findings->tracked));
    }
    struct tracked *tracked = xzalloc(sizeof(*tracked));
    tracked->finding = *finding;
    tracked->first_ns = now_ns;
    tracked->worst = finding->value;
    findings->tracked[findings->n++] = tracked;
    *slot = (uint32_t)findings->n;
    return tracked;
}

/* Events are added up, and what is told of them is their sum. */
static void count_events(struct tracked *tracked, const struct finding *finding, int64_t now_ns)
{
    tracked->events += finding->value;
    tracked->finding.value = tracked->worst = tracked->events;
    finding_say(&tracked->finding, ": %.0f times in %.0f s", tracked->events,
                (double)(now_ns - tracked->first_ns) / 1e9);
    tracked->shown = tracked->shown || tracked->events >= finding->rule->events;
}

static void found(struct tracked *tracked, const struct finding *finding, int64_t now_ns)
{
    tracked->finding = *finding;
    tracked->last_ns = now_ns;
    tracked->found++;
    if (finding->rule->events) {
        count_events(tracked, finding, now_ns);
        return;
    }
    if (finding->value > tracked->worst)
        tracked->worst = finding->value;
}

/* In two frames at least, and in half of those since the first: at a tenth of a second one packet is ten a
 * second, and no cause. */
static bool has_lasted(const struct tracked *tracked, int64_t now_ns)
{
    return !tracked->finding.rule->events && tracked->missing == 0 && tracked->found >= 2 &&
           tracked->found * 2 >= tracked->frames && now_ns - tracked->first_ns >= SHOWN_AFTER_NS;
}

static bool has_gone(const struct tracked *tracked, int64_t now_ns)
{
    int64_t gone_ns = now_ns - tracked->last_ns;
    if (tracked->finding.rule->events)
        return tracked->shown ? gone_ns >= EVENT_WINDOW_NS : now_ns - tracked->first_ns >= EVENT_WINDOW_NS;
    if (!tracked->shown)
        return gone_ns >= GAP_NS;
    return gone_ns >= GONE_AFTER_NS && tracked->missing >= GONE_AFTER;
}

/* What has gone is forgotten; when it comes back it begins anew. */
static void age(struct findings *findings, int64_t now_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < findings->n; i++) {
        struct tracked *tracked = findings->tracked[i];
        tracked->frames++;
        tracked->missing = tracked->last_ns == now_ns ? 0 : tracked->missing + 1;
        tracked->shown = tracked->shown || has_lasted(tracked, now_ns);
        if (has_gone(tracked, now_ns))
            free(tracked);
        else
            findings->tracked[kept++] = tracked;
    }
    findings->n = kept;
}

static int by_cost(const void *a, const void *b)
{
    const struct tracked *x = *(struct tracked *const *)a, *y = *(struct tracked *const *)b;
    if (x->finding.severity != y->finding.severity)
        return (int)y->finding.severity - (int)x->finding.severity;
    if (x->finding.cost_pps != y->finding.cost_pps)
        return x->finding.cost_pps < y->finding.cost_pps ? 1 : -1;
    if (x->finding.rule != y->finding.rule)
        return x->finding.rule < y->finding.rule ? -1 : 1;
    int order = strcmp(x->finding.object, y->finding.object);
    return order ? order : (x->finding.id > y->finding.id) - (x->finding.id < y->finding.id);
}

static void add_row(struct sample *sample, struct inventory *texts, const struct tracked *tracked,
                    int64_t now_ns)
{
    const struct finding *finding = &tracked->finding;
    struct findings_info *info = inventory_info(texts, TABLE_FINDINGS, "finding:%s:%016llx",
                                                finding->rule->id, (unsigned long long)finding->id);
    info_set(info, rule, finding->rule->id);
    info_set(info, object, inventory_text(texts, finding->object));
    struct findings_row *row = sample_row(sample, TABLE_FINDINGS, info);
    row_set(row, severity, severity_name(finding->severity));
    row_set(row, text, inventory_text(texts, finding->text));
    if (finding->advice[0])
        row_set(row, advice, inventory_text(texts, finding->advice));
    row_set(row, since_s, (double)(now_ns - tracked->first_ns) / 1e9);
    row_set(row, value, finding->value);
    row_set(row, worst, tracked->worst);
    row_set(row, unit, finding->rule->unit);
    if (finding->cost_pps > 0)
        row_set(row, cost_pps, finding->cost_pps);
}

static size_t count_shown(const struct findings *findings)
{
    size_t n = 0;
    for (size_t i = 0; i < findings->n; i++)
        n += findings->tracked[i]->shown;
    return n;
}

struct sample *findings_update(struct findings *findings, const struct frame *frame)
{
    struct finding_list list = {0};
    findings_look(frame, &list);
    struct index index = index_of(findings, list.n);
    for (size_t i = 0; i < list.n; i++)
        found(track(findings, &index, &list.findings[i], frame->now_ns), &list.findings[i], frame->now_ns);
    free(index.slots);
    finding_list_free(&list);
    age(findings, frame->now_ns);
    if (findings->n > 0) /* qsort takes no NULL */
        qsort(findings->tracked, findings->n, sizeof(*findings->tracked), by_cost);
    bool any = count_shown(findings) > 0;
    struct inventory *texts = any ? inventory_new() : inventory_ref(findings->nothing);
    struct sample *sample = sample_new(texts);
    sample->t0_ns = sample->t1_ns = frame->now_ns;
    sample->wall_ns = frame->wall_ns;
    for (size_t i = 0; i < findings->n; i++)
        if (findings->tracked[i]->shown)
            add_row(sample, texts, findings->tracked[i], frame->now_ns);
    inventory_unref(texts);
    return sample;
}
