/* SPDX-License-Identifier: MIT */
/* The history of findings (see findings.h). */
#include "src/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"

#define SHOWN_AFTER_NS INT64_C(1800000000)
#define GONE_AFTER_NS  INT64_C(3500000000)

struct tracked {
    struct finding finding; /* as found last */
    int64_t first_ns, last_ns;
    unsigned frames; /* in which it was found without a gap of GONE_AFTER_NS */
    double worst;
    bool shown;
};

struct findings {
    size_t n, alloc;
    struct tracked *tracked;
};

const char *severity_name(enum severity severity)
{
    static const char *const names[] = {"note", "watch", "bad"};
    return names[severity];
}

struct finding *finding_add(struct finding_list *list, const struct rule *rule, enum severity severity,
                            double value, const char *object_format, ...)
{
    if (list->n == list->alloc) {
        list->alloc = list->alloc ? list->alloc * 2 : 16;
        list->findings = xrealloc(list->findings, list->alloc, sizeof(*list->findings));
    }
    struct finding *finding = &list->findings[list->n++];
    *finding = (struct finding){.rule = rule, .severity = severity, .value = value};
    va_list args;
    va_start(args, object_format);
    vsnprintf(finding->object, sizeof(finding->object), object_format, args);
    va_end(args);
    return finding;
}

void finding_list_free(struct finding_list *list)
{
    free(list->findings);
    *list = (struct finding_list){0};
}

void findings_look(const struct frame *frame, struct finding_list *out)
{
    for (size_t i = 0; i < n_rules; i++)
        rules[i].check(&rules[i], frame, out);
}

struct findings *findings_new(void)
{
    return xzalloc(sizeof(struct findings));
}

void findings_free(struct findings *findings)
{
    if (!findings)
        return;
    free(findings->tracked);
    free(findings);
}

static struct tracked *track(struct findings *findings, const struct finding *finding, int64_t now_ns)
{
    for (size_t i = 0; i < findings->n; i++) {
        struct tracked *tracked = &findings->tracked[i];
        if (tracked->finding.rule == finding->rule && strcmp(tracked->finding.object, finding->object) == 0)
            return tracked;
    }
    if (findings->n == findings->alloc) {
        findings->alloc = findings->alloc ? findings->alloc * 2 : 16;
        findings->tracked = xrealloc(findings->tracked, findings->alloc, sizeof(*findings->tracked));
    }
    struct tracked *tracked = &findings->tracked[findings->n++];
    *tracked = (struct tracked){.first_ns = now_ns, .worst = finding->value};
    return tracked;
}

static void found(struct findings *findings, const struct finding *finding, int64_t now_ns)
{
    struct tracked *tracked = track(findings, finding, now_ns);
    tracked->finding = *finding;
    tracked->last_ns = now_ns;
    tracked->frames++;
    if (finding->value > tracked->worst)
        tracked->worst = finding->value;
    if (tracked->frames >= 2 && now_ns - tracked->first_ns >= SHOWN_AFTER_NS)
        tracked->shown = true;
}

/* What was not found for a while is forgotten; when it comes back it begins anew. */
static void forget(struct findings *findings, int64_t now_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < findings->n; i++) {
        const struct tracked *tracked = &findings->tracked[i];
        int64_t gone_ns = now_ns - tracked->last_ns;
        if (gone_ns < GONE_AFTER_NS && (tracked->shown || gone_ns == 0))
            findings->tracked[kept++] = *tracked;
    }
    findings->n = kept;
}

static int by_cost(const void *a, const void *b)
{
    const struct tracked *x = a, *y = b;
    if (x->finding.severity != y->finding.severity)
        return (int)y->finding.severity - (int)x->finding.severity;
    if (x->finding.cost_pps != y->finding.cost_pps)
        return x->finding.cost_pps < y->finding.cost_pps ? 1 : -1;
    if (x->finding.rule != y->finding.rule)
        return x->finding.rule < y->finding.rule ? -1 : 1;
    return strcmp(x->finding.object, y->finding.object);
}

static void add_row(struct sample *sample, struct inventory *texts, const struct tracked *tracked,
                    int64_t now_ns)
{
    const struct finding *finding = &tracked->finding;
    struct findings_info *info =
        inventory_info(texts, TABLE_FINDINGS, "finding:%s:%s", finding->rule->id, finding->object);
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

struct sample *findings_update(struct findings *findings, const struct frame *frame)
{
    struct finding_list list = {0};
    findings_look(frame, &list);
    for (size_t i = 0; i < list.n; i++)
        found(findings, &list.findings[i], frame->now_ns);
    finding_list_free(&list);
    forget(findings, frame->now_ns);
    qsort(findings->tracked, findings->n, sizeof(*findings->tracked), by_cost);
    struct inventory *texts = inventory_new();
    struct sample *sample = sample_new(texts);
    sample->t0_ns = sample->t1_ns = frame->now_ns;
    sample->wall_ns = frame->wall_ns;
    for (size_t i = 0; i < findings->n; i++)
        if (findings->tracked[i].shown)
            add_row(sample, texts, &findings->tracked[i], frame->now_ns);
    inventory_unref(texts);
    return sample;
}
