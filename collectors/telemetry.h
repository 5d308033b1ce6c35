/* SPDX-License-Identifier: MIT */
/*
 * A client of one DPDK application's telemetry v2 socket (AF_UNIX, SEQPACKET): one connection, one request at
 * a time, an absolute deadline on every call and a stop eventfd. Called by the dpdk collector's worker. It
 * can send nothing but the commands of telemetry_parse.h, and only those the server lists; it must not know
 * what the numbers mean.
 *
 * Two rules of the peer shape it. A client that connects and closes without reading the greeting costs the
 * server one of its ten places for ever (20.08 to 23.11), so a connection that awaits its greeting is kept
 * over a timeout. And a reply names its command but not its argument, so a late reply to "stats of port 0"
 * would pass for port 1: the server answers each request exactly once and in order, so after a timeout the
 * answers still owed are counted, and the next call first waits for them and throws them away before it
 * sends. Closing instead would take a second place of the ten while the server hangs; with counting, a hung
 * application holds one place and one unanswered request, however long.
 *
 *     t = telemetry_new("/", "/run/dpdk/rte/dpdk_telemetry.v2", stop_fd);
 *     telemetry_connect(t, deadline_ns, err, sizeof err);                 // again and again until
 * TELEMETRY_OK telemetry_ask(t, TELEMETRY_ETHDEV_STATS, port, deadline_ns, &reply, err, sizeof err);
 *     telemetry_parse_stats(&reply, &stats);
 *     telemetry_free(t);
 */
#ifndef COLLECTORS_TELEMETRY_H
#define COLLECTORS_TELEMETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectors/telemetry_parse.h"

struct telemetry;

/*
 * path is as the server bound it, seen from root ("/" or "/proc/PID/root" for another mount namespace).
 * stop_fd is polled, never read; -1 for none. NULL when out of memory.
 */
struct telemetry *telemetry_new(const char *root, const char *path, int stop_fd);

/* Waits up to 50 ms for a greeting not yet read, then closes. */
void telemetry_free(struct telemetry *t);

/*
 * Brings the connection up as far as the deadline (CLOCK_MONOTONIC) allows: connect, greeting, list of
 * commands. Call again after TIMEOUT or STOPPED to go on from there, and after GONE, STALE, FULL, DENIED or
 * FAILED to start anew, with the caller's back-off between. OK at once when up already.
 */
enum telemetry_status telemetry_connect(struct telemetry *t, uint64_t deadline_ns, char *err, size_t errlen);

bool telemetry_connected(const struct telemetry *t);

/* Valid when connected. */
const struct telemetry_hello *telemetry_hello(const struct telemetry *t);
pid_t telemetry_peer_pid(
    const struct telemetry *t); /* by SO_PEERCRED, in our PID namespace; 0 not visible from it */
bool telemetry_offers(const struct telemetry *t, enum telemetry_command command);

/*
 * One request. number is the port or lcore of commands that take one, else ignored. OK fills reply, whose
 * contents live until the next call on t. On GONE the connection is closed. A reply that is about another
 * port or lcore than asked (where it says so) is GARBLED.
 */
enum telemetry_status telemetry_ask(struct telemetry *t, enum telemetry_command command, uint32_t number,
                                    uint64_t deadline_ns, struct telemetry_reply *reply, char *err,
                                    size_t errlen);

/* /ethdev/xstats with hide_zero where the server knows it (23.03); reply->zeros_hidden says whether it was
 * used. */
enum telemetry_status telemetry_ask_xstats(struct telemetry *t, uint32_t port, bool hide_zero,
                                           uint64_t deadline_ns, struct telemetry_reply *reply, char *err,
                                           size_t errlen);

/* /mempool/info. A name that is not printable ASCII, or holds a comma, is UNSUPPORTED: it cannot be sent. */
enum telemetry_status telemetry_ask_pool(struct telemetry *t, const char *name, uint64_t deadline_ns,
                                         struct telemetry_reply *reply, char *err, size_t errlen);

/* How many answers the server owes (0 or 1 here) and how many late or unasked ones were thrown away. */
unsigned telemetry_owed(const struct telemetry *t);
unsigned telemetry_discarded(const struct telemetry *t);

#endif
