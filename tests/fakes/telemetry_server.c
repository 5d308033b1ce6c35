/* SPDX-License-Identifier: MIT */
/*
 * A telemetry server that is DPDK's own library, with commands of ours behind it: what librte_telemetry makes
 * of more entries than it takes, of the greatest numbers, of names that nobody expects. Run by
 * test_dpdk_vnettop.sh; built only where libdpdk is. Arguments are EAL's; it serves until it is killed. It
 * shares no code with the client.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_telemetry.h>
#include <rte_version.h>

#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
#define add_u64 rte_tel_data_add_dict_uint
#else
#define add_u64 rte_tel_data_add_dict_u64
#endif

#define XSTATS 300 /* the library takes 256 */

static int list(const char *cmd, const char *params, struct rte_tel_data *data)
{
    (void)cmd;
    (void)params;
    rte_tel_data_start_array(data, RTE_TEL_INT_VAL);
    return rte_tel_data_add_array_int(data, 0);
}

static int info(const char *cmd, const char *params, struct rte_tel_data *data)
{
    (void)cmd;
    (void)params;
    rte_tel_data_start_dict(data);
    rte_tel_data_add_dict_string(data, "name", "net_tap\"\\\t<vm>,0");
    rte_tel_data_add_dict_string(data, "mac_addr", "02:00");
    rte_tel_data_add_dict_int(data, "numa_node", -1);
    return rte_tel_data_add_dict_int(data, "mtu", 1500);
}

/* Counters at the end of their range, and one that rises with each request. */
static int stats(const char *cmd, const char *params, struct rte_tel_data *data)
{
    static uint64_t asked;
    (void)cmd;
    (void)params;
    rte_tel_data_start_dict(data);
    add_u64(data, "ipackets", UINT64_MAX - 1000000 + asked);
    add_u64(data, "opackets", (UINT64_C(1) << 53) + asked);
    asked++;
    return add_u64(data, "imissed", 0);
}

static int xstats(const char *cmd, const char *params, struct rte_tel_data *data)
{
    (void)cmd;
    (void)params;
    rte_tel_data_start_dict(data);
    for (unsigned i = 0; i < XSTATS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "rx_q%u_packets", i);
        add_u64(data, name, UINT64_MAX - i);
    }
    return 0;
}

static int nothing(const char *cmd, const char *params, struct rte_tel_data *data)
{
    (void)cmd;
    (void)params;
    rte_tel_data_start_dict(data);
    return -1; /* the library says null */
}

int main(int argc, char **argv)
{
    if (rte_eal_init(argc, argv) < 0)
        return 1;
    if (rte_telemetry_register_cmd("/ethdev/list", list, "one port") ||
        rte_telemetry_register_cmd("/ethdev/info", info, "a name that nobody expects") ||
        rte_telemetry_register_cmd("/ethdev/stats", stats, "great numbers") ||
        rte_telemetry_register_cmd("/ethdev/xstats", xstats, "more than fit") ||
        rte_telemetry_register_cmd("/ethdev/link_status", nothing, "null"))
        return 1;
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
