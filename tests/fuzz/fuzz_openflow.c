/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer harness of the OpenFlow port statistics parser: the first byte picks the version, the rest is the
 * body of an answer.
 */
#include <stdlib.h>

#include "collectors/ovs_ofstats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ovs_of_stats stats = {0};
    if (size == 0)
        return 0;
    ovs_of_parse(&stats, OVS_OF_1_3 + data[0] % 3, data + 1, size - 1);
    for (size_t i = 0; i < stats.n_ports; i++) {
        const struct ovs_of_port *port = &stats.ports[i];
        if (port->first_named + port->n_named > stats.n_named)
            abort();
        for (size_t n = 0; n < port->n_named; n++) {
            struct ovs_span name = stats.named[port->first_named + n].name;
            if ((const uint8_t *)name.s < data || (const uint8_t *)name.s + name.len > data + size)
                abort();
        }
    }
    ovs_of_free(&stats);
    return 0;
}
