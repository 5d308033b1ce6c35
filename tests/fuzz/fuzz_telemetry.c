/* SPDX-License-Identifier: MIT */
/*
 * Fuzzer of the telemetry parsers: the first byte chooses the command (or the greeting), the rest is the
 * reply. Checks besides the sanitizers: every text that comes out ends inside its field and holds no control
 * character, counts stay inside their arrays, and what our JSON reader takes another reader takes as well
 * (but for numbers it cannot hold).
 */
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/dpdk_find.h"
#include "collectors/telemetry_loss.h"
#include "collectors/telemetry_parse.h"

static void check(bool good)
{
    if (!good)
        abort();
}

static void check_text(const char *text, size_t size)
{
    size_t n = strnlen(text, size);
    check(n < size);
    for (size_t i = 0; i < n; i++)
        check((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
}

static void check_texts(const struct telemetry_reply *reply)
{
    struct telemetry_texts texts = {0};
    if (telemetry_parse_texts(reply, &texts) == TELEMETRY_OK)
        for (uint32_t i = 0; i < texts.n; i++)
            check_text(texts.v[i], strlen(texts.v[i]) + 1);
    telemetry_texts_free(&texts);
}

static void check_xstats(const struct telemetry_reply *reply)
{
    struct telemetry_xstats xstats = {0};
    struct telemetry_losses loss;
    struct telemetry_stats stats;
    if (telemetry_parse_xstats(reply, &xstats) == TELEMETRY_OK) {
        check(xstats.n <= TELEMETRY_DICT_MAX && xstats.n <= xstats.cap);
        for (uint32_t i = 0; i < xstats.n; i++) {
            uint64_t value;
            check_text(xstats.v[i].name, sizeof xstats.v[i].name);
            check(telemetry_xstats_get(&xstats, xstats.v[i].name, &value) && value == xstats.v[i].value);
            telemetry_loss_of_xstat("net_vhost", 2011, xstats.v[i].name);
        }
        telemetry_losses("net_vhost", 2011, NULL, &xstats, TELEMETRY_TX, &loss);
        telemetry_stats_of_xstats(&xstats, &stats);
    }
    telemetry_xstats_free(&xstats);
}

static void check_port(const struct telemetry_reply *reply)
{
    struct telemetry_port port;
    if (telemetry_parse_port(reply, &port) != TELEMETRY_OK)
        return;
    check_text(port.name, sizeof port.name);
    check_text(port.driver, sizeof port.driver);
    check_text(port.mac, sizeof port.mac);
}

static void check_rest(const struct telemetry_reply *reply)
{
    static struct telemetry_usage usage;
    static struct telemetry_ids ids;
    struct telemetry_stats stats;
    struct telemetry_link link;
    struct telemetry_pool pool;
    struct telemetry_lcore lcore;
    struct telemetry_hello hello;
    uint32_t mask;
    if (telemetry_parse_ids(reply, &ids) == TELEMETRY_OK)
        check(ids.n <= TELEMETRY_LIST_MAX);
    if (telemetry_parse_usage(reply, &usage) == TELEMETRY_OK)
        check(usage.n <= TELEMETRY_LIST_MAX);
    if (telemetry_parse_stats(reply, &stats) == TELEMETRY_OK)
        check(stats.n_queues[0] <= TELEMETRY_QUEUES);
    if (telemetry_parse_pool(reply, &pool) == TELEMETRY_OK)
        check_text(pool.name, sizeof pool.name);
    if (telemetry_parse_lcore(reply, &lcore) == TELEMETRY_OK)
        check_text(lcore.role, sizeof lcore.role);
    if (telemetry_parse_info(reply, &hello) == TELEMETRY_OK)
        check_text(hello.version, sizeof hello.version);
    telemetry_parse_link(reply, &link);
    telemetry_parse_root(reply, &mask);
}

/* The other reader stops at 2^63-1 and at what a double cannot hold. */
static bool has_large_number(const char *bytes, size_t len)
{
    size_t run = 0;
    for (size_t i = 0; i < len; i++) {
        run = bytes[i] >= '0' && bytes[i] <= '9' ? run + 1 : 0;
        if (run > 18 ||
            ((bytes[i] == 'e' || bytes[i] == 'E') && i && bytes[i - 1] >= '0' && bytes[i - 1] <= '9'))
            return true;
    }
    return false;
}

static void check_against_other_reader(const char *bytes, size_t len, bool ours)
{
    if (has_large_number(bytes, len))
        return;
    json_t *theirs = json_loadb(bytes, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    check(!ours || theirs);
    json_decref(theirs);
}

static void check_unix_line(const uint8_t *data, size_t size)
{
    char line[512];
    uint64_t inode;
    size_t n = size < sizeof line - 1 ? size : sizeof line - 1;
    memcpy(line, data, n);
    line[n] = '\0';
    const char *path = dpdk_find_unix_path(line, &inode);
    check(!path || *path == '/');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json64 doc = {0};
    struct telemetry_reply reply;
    struct telemetry_hello hello;
    char err[256], driver[32];
    if (size < 1)
        return 0;
    unsigned choice = data[0] % (TELEMETRY_COMMANDS + 2);
    size_t len = size - 1;
    char *bytes = malloc(len + 1), *copy = malloc(len + 1);
    memcpy(bytes, data + 1, len);
    memcpy(copy, data + 1, len);
    bytes[len] = copy[len] = '\0';
    telemetry_driver_of(copy, driver, sizeof driver);
    check_unix_line(data + 1, len);
    if (choice >= TELEMETRY_COMMANDS) {
        bool ours = json64_parse(&doc, bytes, len, err, sizeof err);
        check_against_other_reader(copy, len, ours);
        if (telemetry_read_hello(&doc, copy, len, &hello, err, sizeof err) == TELEMETRY_OK)
            check_text(hello.version, sizeof hello.version);
    } else if (telemetry_read_reply(&reply, (enum telemetry_command)choice, &doc, bytes, len, 16384, err,
                                    sizeof err) == TELEMETRY_OK) {
        check_texts(&reply);
        check_xstats(&reply);
        check_port(&reply);
        check_rest(&reply);
    }
    json64_free(&doc);
    free(copy);
    free(bytes);
    return 0;
}
