/* SPDX-License-Identifier: MIT */
/*
 * A port's extended statistics from read to read: see dpdk_xstats.h. Replies keep the order of their names,
 * so each name is looked for first behind the one found before it.
 */
#include "collectors/dpdk_xstats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/telemetry_loss.h"
#include "src/memory.h"

static struct dpdk_xstat *find(const struct dpdk_xstats *xstats, const char *name, size_t *cursor)
{
    for (size_t tried = 0; tried < xstats->n; tried++) {
        struct dpdk_xstat *xstat = &xstats->v[(*cursor + tried) % xstats->n];
        if (strcmp(xstat->name, name) == 0) {
            *cursor = (size_t)(xstat - xstats->v) + 1;
            return xstat;
        }
    }
    return NULL;
}

static struct dpdk_xstat *add(struct dpdk_xstats *xstats, const char *name)
{
    if (xstats->n == DPDK_XSTATS_MAX)
        return NULL;
    if (xstats->n == xstats->alloc) {
        xstats->alloc = xstats->alloc ? xstats->alloc * 2 : 64;
        xstats->v = xrealloc(xstats->v, xstats->alloc, sizeof(*xstats->v));
    }
    struct dpdk_xstat *xstat = &xstats->v[xstats->n++];
    *xstat = (struct dpdk_xstat){0};
    snprintf(xstat->name, sizeof(xstat->name), "%s", name);
    return xstat;
}

/* Counters of loss are shown from zero on, so that the first burst has a rate. */
static bool show(struct dpdk_xstat *xstat, const char *driver, unsigned release)
{
    bool before = xstat->shown;
    xstat->shown = before || xstat->value > 0 || telemetry_loss_of_xstat(driver, release, xstat->name);
    return xstat->shown && !before;
}

bool dpdk_xstats_update(struct dpdk_xstats *xstats, const struct telemetry_xstats *reply, const char *driver,
                        unsigned release, int64_t t_ns)
{
    bool more = false, zero = reply->zeros_hidden && !reply->maybe_truncated;
    size_t cursor = 0;
    for (size_t i = 0; i < xstats->n; i++) {
        xstats->v[i].known = zero;
        xstats->v[i].value = 0;
    }
    for (size_t i = 0; i < reply->n; i++) {
        struct dpdk_xstat *xstat = find(xstats, reply->v[i].name, &cursor);
        if (!xstat && !(xstat = add(xstats, reply->v[i].name)))
            continue;
        xstat->known = true;
        xstat->value = reply->v[i].value;
        more |= show(xstat, driver, release);
    }
    xstats->maybe_truncated = reply->maybe_truncated;
    xstats->t_ns = t_ns;
    return more;
}

void dpdk_xstats_forget(struct dpdk_xstats *xstats)
{
    for (size_t i = 0; i < xstats->n; i++)
        xstats->v[i].known = false;
    xstats->t_ns = 0;
}

void dpdk_xstats_free(struct dpdk_xstats *xstats)
{
    free(xstats->v);
    *xstats = (struct dpdk_xstats){0};
}
