#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Reads recordings of Open vSwitch with Python's own csv module, and holds each row of pmds and ports against its raw
counters and those of the row before. Called by test_ovs_vnettop.sh and test_ovs_dpdk_vnettop.sh; each command prints
what the script compares, or ends with one line that says which row is wrong.
"""
import csv
import datetime
import json
import os
import socket
import sys
import time

TABLES = {
    "pmds": (("ovs", "datapath", "thread", "core"),
             {"rx_pps": ("rx_packets",), "upcalls_per_s": ("upcalls",)}),
    "ports": (("netns", "name"),
              {"rx_pps": ("rx_packets",), "tx_pps": ("tx_packets",), "tx_drop_pps": ("tx_dropped",),
               "tx_failure_drop_pps": ("tx_failure_drops",)}),
}


class Wrong(Exception):
    pass


def read(folder, table):
    with open(os.path.join(folder, table + ".csv"), newline="", encoding="utf-8") as f:
        text = f.read()
    return list(csv.DictReader(text[:text.rfind("\n") + 1].splitlines()))


def series(folder, table, keys):
    """The rows that match, each sample once."""
    out = []
    for row in read(folder, table):
        if all(row[k] == v for k, v in keys):
            if not out or abs(taken(row) - taken(out[-1])) > 1e-6:
                out.append(row)
    return out


def taken(row):
    return float(row["elapsed_s"]) - float(row["age_s"])


def risen(row, before, column):
    return int(row[column]) - int(before[column])


def check_rates(row, before, rates):
    for rate, (counter,) in rates.items():
        if row[rate] and abs(float(row[rate]) * float(row["interval_s"]) - risen(row, before, counter)) > 0.01:
            raise Wrong("%s: %s %s x %s s is not %d" % (row["time"], rate, row[rate], row["interval_s"],
                                                       risen(row, before, counter)))


def check_cycles(row, before):
    if not row.get("busy_pct"):
        return
    busy, idle = risen(row, before, "busy_cycles"), risen(row, before, "idle_cycles")
    if abs(float(row["busy_pct"]) - 100 * busy / (busy + idle)) > 1e-4:
        raise Wrong("%s: busy %s of %d busy and %d idle cycles" % (row["time"], row["busy_pct"], busy, idle))
    packets = risen(row, before, "rx_packets")
    if packets and abs(float(row["cycles_per_packet"]) - busy / packets) > 1e-4 * busy / packets:
        raise Wrong("%s: %s cycles a packet of %d and %d" % (row["time"], row["cycles_per_packet"], busy, packets))


def cmd_check(folder):
    """Every row of pmds and ports against its predecessor; prints how many rates were compared and the highest."""
    compared, most = 0, 0.0
    for table, (keys, rates) in TABLES.items():
        before = {}
        for row in read(folder, table):
            key = tuple(row[k] for k in keys)
            old, before[key] = before.get(key), row
            for rate in rates:
                most = max(most, float(row[rate] or 0))
            if not old or not row["interval_s"] or not old["age_s"]:
                continue
            if abs(taken(row) - taken(old) - float(row["interval_s"])) > 1e-6 or "rst" in row["quality"]:
                continue
            check_rates(row, old, rates)
            if table == "pmds":
                check_cycles(row, old)
            compared += 1
    print("compared=%d most=%.0f" % (compared, most))


def cmd_span(folder, table, column, *keys):
    """The column's first and last value, those of rows that have it, and the seconds between their reads."""
    rows = [r for r in series(folder, table, [k.split("=", 1) for k in keys]) if r[column]]
    if len(rows) < 2:
        raise Wrong("%s: %d rows with %s" % (table, len(rows), column))
    print(rows[0][column], rows[-1][column], "%.6f" % (taken(rows[-1]) - taken(rows[0])))


def cmd_added(folder, table, rate, *keys):
    """Rate times interval of all rows but the first, added up."""
    rows = series(folder, table, [k.split("=", 1) for k in keys])
    print("%.0f" % sum(float(r[rate]) * float(r["interval_s"]) for r in rows[1:] if r[rate]))


def cmd_busy(folder, core):
    rows = [r for r in series(folder, "pmds", [("core", core)]) if r["busy_cycles"]]
    busy, idle = risen(rows[-1], rows[0], "busy_cycles"), risen(rows[-1], rows[0], "idle_cycles")
    print("%.4f" % (100 * busy / (busy + idle)))


def says(row, word):
    """Is the row's rx_pps new or rst?"""
    for told in row["quality"].split():
        name, _, columns = told.partition("=")
        if name == word and (not columns or "rx_pps" in columns.split("+")):
            return True
    return False


def cmd_words(folder, table, *keys):
    """Of how many rows rx_pps is `new` and `rst`, and how many there are."""
    rows = series(folder, table, [k.split("=", 1) for k in keys])
    print("rows=%d new=%d rst=%d" % (len(rows), sum(says(r, "new") for r in rows), sum(says(r, "rst") for r in rows)))


def ask(path, method, *params):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(10)
        s.connect(path)
        s.sendall(json.dumps({"id": 0, "method": method, "params": list(params)}).encode())
        text = b""
        while True:
            text += s.recv(1 << 16)
            try:
                return json.loads(text)["result"]
            except ValueError:
                pass


def timed(path, *question):
    sent = time.time()
    return ask(path, *question), (sent + time.time()) / 2


def cmd_sample(path, port, core, seconds):
    """Packets of a port as dpctl tells them, idle and busy cycles of a PMD: each with the wall clock's time."""
    end, n = time.monotonic() + float(seconds), 0
    while time.monotonic() < end or n < 2:
        text, at = timed(path, "dpctl/show", "-s")
        lines = text[text.index(": %s (" % port):].splitlines()
        print("packets %.6f %s" % (at, lines[1].split("packets:")[1].split()[0]))
        text, at = timed(path, "dpif-netdev/pmd-stats-show")
        block = text[text.index("core_id %s:" % core):].split("thread")[0]
        for word, name in (("idle", "idle cycles:"), ("busy", "processing cycles:")):
            print("%s %.6f %s" % (word, at, block.split(name)[1].split()[0]))
        n += 1
        time.sleep(0.05)


def wall(row):
    read_at = datetime.datetime.fromisoformat(row["time"].replace("Z", "+00:00")).timestamp()
    return read_at - float(row["age_s"])


def count_at(points, t):
    for (t0, n0), (t1, n1) in zip(points, points[1:]):
        if t0 <= t <= t1:
            return n0 + (n1 - n0) * (t - t0) / (t1 - t0)
    return None


def read_samples(path, word):
    with open(path, encoding="ascii") as f:
        lines = [line.split() for line in f]
    return [(float(t), int(n)) for name, t, n in lines if name == word]


def both_saw(folder, table, keys, column, points):
    """The first and the last row that lie between the other reader's samples."""
    rows = [r for r in series(folder, table, keys) if r[column] and count_at(points, wall(r)) is not None]
    if len(rows) < 5:
        raise Wrong("%d rows between the other reader's samples" % len(rows))
    return rows[0], rows[-1]


def cmd_rate_beside(folder, samples, port):
    """Mean rx rate of the port by vnettop and by the other reader, over the time that both saw."""
    points = read_samples(samples, "packets")
    first, last = both_saw(folder, "ports", [("name", port)], "rx_packets", points)
    seconds = taken(last) - taken(first)
    theirs = count_at(points, wall(last)) - count_at(points, wall(first))
    print("%.1f %.1f" % (risen(last, first, "rx_packets") / seconds, theirs / seconds))


def cmd_busy_beside(folder, samples, core):
    """The same for the share of a PMD's cycles that was busy."""
    idle, busy = read_samples(samples, "idle"), read_samples(samples, "busy")
    first, last = both_saw(folder, "pmds", [("core", core)], "busy_cycles", busy)
    ours = [risen(last, first, c) for c in ("busy_cycles", "idle_cycles")]
    theirs = [count_at(p, wall(last)) - count_at(p, wall(first)) for p in (busy, idle)]
    print("%.3f %.3f" % (100 * ours[0] / sum(ours), 100 * theirs[0] / sum(theirs)))


def main():
    try:
        globals()["cmd_" + sys.argv[1].replace("-", "_")](*sys.argv[2:])
    except Wrong as e:
        sys.exit("ovs_check: %s" % e)


main()
