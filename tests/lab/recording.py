#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Reads recordings and snapshots with Python's own csv and json modules, a reader that shares no code with vnettop, and
holds every row of the table `ports` against the rules that rows keep. Called by the lab scripts test_net_*.sh; each
command prints what the script compares, or ends with one line that says which row is wrong. It must not know any
topology.
"""
import csv
import json
import os
import sys
from decimal import Decimal

NS = 1000000000
# rate column: the counters it is the rate of, and its scale
RATES = {
    "rx_pps": (("rx_packets",), 1), "tx_pps": (("tx_packets",), 1),
    "rx_bps": (("rx_bytes",), 8), "tx_bps": (("tx_bytes",), 8),
    "rx_drop_pps": (("rx_dropped", "rx_missed"), 1), "tx_drop_pps": (("tx_dropped",), 1),
    "rx_error_pps": (("rx_errors",), 1), "tx_error_pps": (("tx_errors",), 1),
    "multicast_pps": (("multicast",), 1), "rx_missed_pps": (("rx_missed",), 1),
    "ports_rx_pps": (("ports_rx_packets",), 1), "ports_tx_pps": (("ports_tx_packets",), 1),
}
# These make a whole row `rst` when one goes back: all that the kernel keeps for the link itself.
OWN = ("rx_packets tx_packets rx_bytes tx_bytes rx_dropped tx_dropped rx_errors tx_errors rx_missed rx_fifo rx_frame "
       "rx_crc rx_length rx_over rx_nohandler rx_otherhost multicast collisions tx_aborted tx_carrier tx_fifo "
       "tx_heartbeat tx_window").split()
LOSSES = [c for c in OWN if c not in ("rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "multicast")] + ["qdisc_drops"]
# Columns of `ip -s -s -j link`.
KERNEL = {
    "rx": {"bytes": "rx_bytes", "packets": "rx_packets", "errors": "rx_errors", "dropped": "rx_dropped",
           "over_errors": "rx_over", "multicast": "multicast", "length_errors": "rx_length", "crc_errors": "rx_crc",
           "frame_errors": "rx_frame", "fifo_errors": "rx_fifo", "missed_errors": "rx_missed", "nohandler": "rx_nohandler",
           "otherhost_dropped": "rx_otherhost"},
    "tx": {"bytes": "tx_bytes", "packets": "tx_packets", "errors": "tx_errors", "dropped": "tx_dropped",
           "carrier_errors": "tx_carrier", "collisions": "collisions", "aborted_errors": "tx_aborted",
           "fifo_errors": "tx_fifo", "window_errors": "tx_window", "heartbeat_errors": "tx_heartbeat",
           "carrier_changes": "carrier_changes"},
}


class Wrong(Exception):
    pass


def read_csv(path, torn=False):
    """Rows as dicts; a file that does not end whole is wrong, unless its last line may be torn: then it is left out."""
    with open(path, newline="", encoding="utf-8") as f:
        text = f.read()
    if not text.endswith("\n"):
        if not torn:
            raise Wrong("%s: the last line is torn: %r" % (path, text[-80:]))
        text = text[:text.rfind("\n") + 1]
    rows = list(csv.reader(text.splitlines(keepends=True), strict=True))
    header = rows[0]
    for row in rows[1:]:
        if len(row) != len(header):
            raise Wrong("%s: a row of %d fields under %d columns: %s" % (path, len(row), len(header), row))
    return [dict(zip(header, row)) for row in rows[1:]]


def ns(text):
    return int(Decimal(text) * NS)


def where(row):
    return "%s %s (%s, ifindex %s)" % (row["time"], row["name"], row["netns"], row["ifindex"])


def words(row):
    """quality as {word: set of columns}, an empty set meaning all"""
    out = {}
    for word in row["quality"].split():
        name, _, columns = word.partition("=")
        out[name] = set(columns.split("+")) if columns else set()
    return out


def explained(row, column):
    return any(name in ("new", "rst") and (not columns or column in columns) for name, columns in words(row).items())


def risen(row, before, counters):
    return sum(int(row[c]) - int(before[c]) for c in counters if row[c] and before[c])


def sample_ns(row):
    return ns(row["elapsed_s"]) - ns(row["age_s"])


def check_empty(row):
    """A rate is there, or its counter is not, or quality says why."""
    for rate, (counters, _) in RATES.items():
        if row[rate]:
            if Decimal(row[rate]) < 0 or not row[counters[0]]:
                raise Wrong("%s: %s is %s" % (where(row), rate, row[rate]))
        elif row[counters[0]] and not explained(row, rate):
            raise Wrong("%s: no %s, and quality '%s' does not say why" % (where(row), rate, row["quality"]))


def check_rates(row, before):
    """Each rate times the measured interval is the difference of its counter, to a hundred-thousandth of a packet."""
    interval = Decimal(row["interval_s"])
    for rate, (counters, scale) in RATES.items():
        if not row[rate] or (rate == "tx_drop_pps" and row["qdisc_drops"]):
            continue # qdisc drops have a tempo of their own
        wanted = risen(row, before, counters)
        if abs(Decimal(row[rate]) * interval / scale - wanted) > Decimal("0.00001"):
            raise Wrong("%s: %s %s x %s s is not %d" % (where(row), rate, row[rate], interval, wanted))


def check_loss(row, before):
    for side in ("rx", "tx"):
        if not row[side + "_loss_pct"] or (side == "tx" and row["qdisc_drops"]):
            continue
        dropped, missed = risen(row, before, [side + "_dropped"]), risen(row, before, ["rx_missed"]) if side == "rx" else 0
        offered = risen(row, before, [side + "_packets"])
        # What the stack drops was received and counted before; what a tap drops was not.
        if side == "tx" or row["kind"] in ("tap", "tun") or dropped > offered:
            offered += dropped
        offered += missed
        wanted = 100 * (dropped + missed) / offered if offered else 0
        if abs(float(row[side + "_loss_pct"]) - wanted) > 0.001:
            raise Wrong("%s: %s_loss_pct is %s, not %f" % (where(row), side, row[side + "_loss_pct"], wanted))


def check_pair(row, before):
    """A row against the one of the sample before."""
    back = any(row[c] and before[c] and int(row[c]) < int(before[c]) for c in OWN)
    if back != (words(row).get("rst") == set()):
        raise Wrong("%s: quality '%s', counters %s" % (where(row), row["quality"], "went back" if back else "rose"))
    if words(row).get("new") == set():
        raise Wrong("%s: new, though the sample before had it" % where(row))
    if not back:
        check_rates(row, before)
        check_loss(row, before)


class Tally:
    def __init__(self):
        self.rows = self.new = self.rst = self.repeated = self.gaps = 0
        self.most = 0 # packets in one interval
        self.spaces = set() # namespaces seen in frames before

    def take(self, row, before, limit):
        self.rows += 1
        self.new += words(row).get("new") == set()
        self.rst += words(row).get("rst") == set()
        check_empty(row)
        if before is None:
            # A first read that came after its frame and the next one make a rate before any row was written.
            if row["interval_s"] and row["netns"] in self.spaces:
                raise Wrong("%s: an interval of %s s, though no sample before had it" % (where(row), row["interval_s"]))
            return
        taken = sample_ns(row) - sample_ns(before)
        if taken == 0:
            self.repeated += 1
        elif row["interval_s"] and ns(row["interval_s"]) == taken:
            check_pair(row, before)
            for side in ("rx_packets", "tx_packets"):
                self.most = max(self.most, risen(row, before, [side]))
        else:
            self.gaps += 1
        if self.most > limit:
            raise Wrong("%s: %d packets in %s s, more than were ever sent" % (where(row), self.most, row["interval_s"]))


def by_frame(rows):
    """[{key: row}] of each frame, in time"""
    frames, last = [], None
    for row in rows:
        if row["elapsed_s"] != last:
            last = row["elapsed_s"]
            frames.append({})
        key = (row["netns"], row["ifindex"])
        if key in frames[-1]:
            raise Wrong("%s: twice in one frame" % where(row))
        frames[-1][key] = row
    return frames


def cmd_check(folder, limit="1e18"):
    """Every row of a recording; prints what was seen."""
    tally, before = Tally(), {}
    frames = by_frame(read_csv(os.path.join(folder, "ports.csv")))
    for frame in frames:
        for key, row in frame.items():
            tally.take(row, before.get(key), float(limit))
        before = frame
        tally.spaces.update(netns for netns, _ in frame)
    print("frames=%d rows=%d new=%d rst=%d repeated=%d gaps=%d most=%d" % (
        len(frames), tally.rows, tally.new, tally.rst, tally.repeated, tally.gaps, tally.most))


def rows_of(folder, name, netns="self"):
    """A port's rows, each sample once."""
    out = []
    for row in read_csv(os.path.join(folder, "ports.csv")):
        if (row["name"], row["netns"]) == (name, netns) and not (out and sample_ns(out[-1]) == sample_ns(row)):
            out.append(row)
    return out


def cmd_sum(folder, name, rate, netns="self"):
    """Rate times interval, summed over the recording; bits as bytes."""
    scale = RATES[rate][1]
    total = sum(Decimal(r[rate]) * Decimal(r["interval_s"]) / scale for r in rows_of(folder, name, netns) if r[rate])
    nearest = round(total)
    print(nearest if abs(total - nearest) < Decimal("0.001") else total)


def quick_frames(folder, most_s):
    """elapsed_s of the frames whose counters were read in so short a time that their moment is known that well."""
    return {r["elapsed_s"] for r in read_csv(os.path.join(folder, "sources.csv"))
            if r["name"] == "netlink" and r["read_s"] and float(r["read_s"]) <= most_s}


def cmd_mean(folder, name, rate, start_ns, end_ns, netns="self"):
    """Mean of a rate over the intervals between two monotonic times, each weighed by its length. On a busy machine a read
    may be stopped in its middle: the first and the last one are such that took no longer than a millisecond."""
    with open(os.path.join(folder, "meta.json"), encoding="utf-8") as f:
        zero = json.load(f)["start"]["monotonic_ns"]
    quick = quick_frames(folder, 0.001)
    rows = [r for r in rows_of(folder, name, netns) if int(start_ns) <= zero + sample_ns(r) <= int(end_ns)]
    while rows and rows[0]["elapsed_s"] not in quick:
        rows.pop(0)
    while rows and rows[-1]["elapsed_s"] not in quick:
        rows.pop()
    seconds = sum(Decimal(r["interval_s"]) for r in rows[1:])
    if seconds * NS * 2 < int(end_ns) - int(start_ns):
        raise Wrong("only %s s of %s were read quickly enough to tell a mean" % (seconds, name))
    print("%.6f" % (sum(Decimal(r[rate]) * Decimal(r["interval_s"]) for r in rows[1:]) / seconds))


def kernel_links(path):
    with open(path, encoding="utf-8") as f:
        return {link["ifname"]: link for link in json.load(f)}


def cmd_equal(table, link_json, netns="self"):
    """Every counter of every port of a namespace against `ip -s -s -j link`; prints how many were equal."""
    links, rows, equal = kernel_links(link_json), {}, 0
    for row in read_csv(table):
        if row["netns"] == netns:
            rows[row["name"]] = row
    if set(links) != set(rows):
        raise Wrong("ports are %s, the kernel's are %s" % (sorted(rows), sorted(links)))
    for name, link in links.items():
        if (str(link["ifindex"]), link["address"]) != (rows[name]["ifindex"], rows[name]["mac"]):
            raise Wrong("%s: ifindex %s and MAC %s" % (name, rows[name]["ifindex"], rows[name]["mac"]))
        for side, counters in KERNEL.items():
            for word, column in counters.items():
                if word not in link["stats64"][side]:
                    continue
                if str(link["stats64"][side][word]) != rows[name][column]:
                    raise Wrong("%s: %s is %s, the kernel's %s" % (
                        name, column, rows[name][column], link["stats64"][side][word]))
                equal += 1
    print(equal)


def cmd_losses(before, after):
    """Every loss counter that rose between two snapshots, as NETNS/PORT COLUMN NUMBER, and nothing else."""
    old = {(r["netns"], r["ifindex"]): r for r in read_csv(before)}
    for row in read_csv(after):
        for column in LOSSES:
            earlier = old.get((row["netns"], row["ifindex"]), {}).get(column) or 0
            if row[column] and int(row[column]) != int(earlier):
                print("%s/%s %s %d" % (row["netns"], row["name"], column, int(row[column]) - int(earlier)))


def cmd_lossy_rates(folder):
    """Every port and column of drops per second that was ever above zero in a recording."""
    seen = set()
    for row in read_csv(os.path.join(folder, "ports.csv")):
        for column in ("rx_drop_pps", "tx_drop_pps", "rx_error_pps", "tx_error_pps", "rx_missed_pps", "qdisc_drop_pps",
                       "rx_loss_pct", "tx_loss_pct"):
            if row[column] and Decimal(row[column]) > 0:
                seen.add("%s/%s %s" % (row["netns"], row["name"], column))
    for line in sorted(seen):
        print(line)


def cmd_whole(folder, end="", least="1"):
    """A recording's files hold whole frames, and meta.json tells of them. end: `killed`, then the last frame may be torn
    and meta.json be the first one; `full`, then meta.json alone may be the first one. `sources` is written last, so what
    it tells of is complete in every other table: rows are counted against it."""
    may_tear = end == "killed"
    with open(os.path.join(folder, "meta.json"), encoding="utf-8") as f:
        meta = json.load(f)
    tables = {t: read_csv(os.path.join(folder, t + ".csv"), may_tear) for t in meta["tables"]}
    frames = []
    for row in tables["sources"]:
        if not frames or frames[-1] != row["elapsed_s"]:
            frames.append(row["elapsed_s"])
    if may_tear and frames:
        frames.pop()
    if len(frames) < int(least):
        raise Wrong("%d whole frames, not %s" % (len(frames), least))
    first = end and (meta["frames"], meta["end"]) == (0, None)
    if not first and (meta["frames"] != len(frames) or not meta["end"] or not meta["sources"]):
        raise Wrong("%d frames, but meta.json is not theirs: %s" % (len(frames), {k: meta[k] for k in ("frames", "end", "sources")}))
    wanted = {(r["elapsed_s"], r["name"]): int(r["rows"]) for r in tables["sources"] if r["rows"]}
    for table, source in (("ports", "netlink"), ("cpus", "host")):
        rows = {}
        for row in tables[table]:
            rows[row["elapsed_s"]] = rows.get(row["elapsed_s"], 0) + 1
        if not may_tear and set(rows) - set(frames):
            raise Wrong("%s has a frame that sources has not" % table)
        for frame in frames:
            # A source that has not answered yet has none; host's rows are the CPUs and the host itself.
            right = max(wanted.get((frame, source), 0) - (source == "host"), 0)
            if rows.get(frame, 0) != right:
                raise Wrong("frame %s of %s has %d rows, not %d" % (frame, table, rows.get(frame, 0), right))
    print(len(frames))


def main(argv):
    try:
        globals()["cmd_" + argv[1]](*argv[2:])
    except Wrong as wrong:
        sys.exit("recording: %s" % wrong)


main(sys.argv)
