/* SPDX-License-Identifier: MIT */
/*
 * Sends an exact number of Ethernet frames of one size on an interface, as fast as it can or at a steady
 * rate, and prints as JSON what the kernel took and when. The lab scripts compare every counter with it, so
 * it is the ground truth of the packet side: what it calls sent was tried exactly that often. It must not
 * know who counts.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    FRAME_MIN = 42, /* Ethernet + IPv4 + UDP headers */
    FRAME_MAX = 65549,
    UDP_HEADERS = 42,
    BURST_MAX = 64,
    NS_PER_S = 1000000000,
    BURSTS_PER_S = 1000,
};

struct plan {
    const char *ifname;
    uint64_t count;
    uint32_t frame_bytes;
    uint32_t rate_pps; /* 0: as fast as it goes */
    uint16_t ethertype;
    bool bypass_qdisc;
    struct ether_addr dst;
    struct sockaddr_in udp; /* sin_port 0: raw frames */
};

struct outcome {
    uint64_t accepted, refused; /* refused: ENOBUFS, a queue or driver dropped it and counted it */
    uint64_t start_ns, end_ns;
};

static const char usage[] =
    "usage: sender -i IF -n COUNT [-s FRAME_BYTES] [-r PPS] [-e ETHERTYPE] [-d MAC] [-u ADDR:PORT] [-Q]\n"
    "  -s  length of the Ethernet frame without checksum, 42 to 65549 (60)\n"
    "  -e  EtherType in hex (88b5, for local experiments)    -d  destination MAC (broadcast)\n"
    "  -u  send UDP datagrams of that frame length instead   -Q  bypass the queueing discipline\n";

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t deadline_ns)
{
    struct timespec t = {.tv_sec = (time_t)(deadline_ns / NS_PER_S),
                         .tv_nsec = (long)(deadline_ns % NS_PER_S)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}

static int complain(const char *what)
{
    fprintf(stderr, "sender: %s: %s\n", what, strerror(errno));
    return -1;
}

static bool parse_number(const char *text, int base, uint64_t min, uint64_t max, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, base);
    return *text >= '0' && !errno && !*end && *value >= min && *value <= max;
}

static bool parse_udp(const char *text, struct sockaddr_in *to)
{
    const char *colon = strrchr(text, ':');
    char address[INET_ADDRSTRLEN];
    uint64_t port;

    if (!colon || (size_t)(colon - text) >= sizeof(address) ||
        !parse_number(colon + 1, 10, 1, UINT16_MAX, &port))
        return false;
    memcpy(address, text, (size_t)(colon - text));
    address[colon - text] = '\0';
    to->sin_family = AF_INET;
    to->sin_port = htons((uint16_t)port);
    return inet_pton(AF_INET, address, &to->sin_addr) == 1;
}

static bool apply_option(int option, const char *text, struct plan *plan)
{
    uint64_t value = 0;
    bool good = true;

    switch (option) {
    case 'i':
        plan->ifname = text;
        break;
    case 'n':
        good = parse_number(text, 10, 1, UINT64_MAX, &plan->count);
        break;
    case 's':
        good = parse_number(text, 10, FRAME_MIN, FRAME_MAX, &value);
        plan->frame_bytes = (uint32_t)value;
        break;
    case 'r':
        good = parse_number(text, 10, 1, UINT32_MAX, &value);
        plan->rate_pps = (uint32_t)value;
        break;
    case 'e':
        good = parse_number(text, 16, 0, UINT16_MAX, &value);
        plan->ethertype = (uint16_t)value;
        break;
    case 'd':
        good = ether_aton_r(text, &plan->dst) != NULL;
        break;
    case 'u':
        good = parse_udp(text, &plan->udp);
        break;
    case 'Q':
        plan->bypass_qdisc = true;
        break;
    default:
        good = false;
    }
    return good;
}

static int parse_plan(int argc, char **argv, struct plan *plan)
{
    int option;

    *plan = (struct plan){.frame_bytes = 60, .ethertype = 0x88b5};
    memset(&plan->dst, 0xff, sizeof(plan->dst));
    while ((option = getopt(argc, argv, "i:n:s:r:e:d:u:Q")) != -1)
        if (!apply_option(option, optarg, plan)) {
            if (option != '?')
                fprintf(stderr, "sender: -%c: not a value for it: %s\n", option, optarg);
            return -1;
        }
    return plan->ifname && plan->count && optind == argc ? 0 : -1;
}

/* A full socket buffer would make the sender wait for the device: then nothing would ever overflow. */
static void widen_buffer(int fd)
{
    int bytes = 512 << 20;

    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
}

static int open_udp(const struct plan *plan)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return complain("socket");
    widen_buffer(fd);
    if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, plan->ifname, (socklen_t)strlen(plan->ifname))) {
        close(fd);
        return complain(plan->ifname);
    }
    return fd;
}

static int open_packet(const struct plan *plan, unsigned char *frame)
{
    struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(plan->ifname)};
    struct ether_header *header = (struct ether_header *)frame;
    struct ifreq request = {0};
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), on = 1;

    if (fd < 0)
        return complain("packet socket");
    widen_buffer(fd);
    memccpy(request.ifr_name, plan->ifname, 0, IFNAMSIZ - 1);
    if (!to.sll_ifindex || ioctl(fd, SIOCGIFHWADDR, &request) ||
        bind(fd, (struct sockaddr *)&to, sizeof(to)) ||
        (plan->bypass_qdisc && setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)))) {
        close(fd);
        return complain(plan->ifname);
    }
    memcpy(header->ether_dhost, &plan->dst, ETH_ALEN);
    memcpy(header->ether_shost, request.ifr_hwaddr.sa_data, ETH_ALEN);
    header->ether_type = htons(plan->ethertype);
    return fd;
}

/* One system call a packet: sendmmsg forgets the error of a packet in its middle, which would then be sent
 * twice. */
static int send_burst(int fd, const unsigned char *frame, const struct plan *plan, uint32_t burst,
                      struct outcome *out)
{
    size_t bytes = plan->frame_bytes - (plan->udp.sin_port ? UDP_HEADERS : 0);
    /* Not connected: the port unreachable of a deaf receiver is no business of this sender. */
    const struct sockaddr *to = plan->udp.sin_port ? (const struct sockaddr *)&plan->udp : NULL;
    uint32_t done = 0;

    while (done < burst) {
        bool accepted = sendto(fd, frame, bytes, 0, to, to ? sizeof(plan->udp) : 0) >= 0;

        if (!accepted && errno == EINTR)
            continue;
        if (!accepted && errno != ENOBUFS)
            return complain("send");
        done++;
        out->accepted += accepted;
        out->refused += !accepted;
    }
    return 0;
}

/* Deadlines are absolute, so a late burst is made up for and the rate holds over the whole run. */
static int send_all(int fd, const unsigned char *frame, const struct plan *plan, struct outcome *out)
{
    uint64_t per_burst = plan->rate_pps ? (plan->rate_pps + BURSTS_PER_S - 1) / BURSTS_PER_S : BURST_MAX;
    uint64_t done = 0;

    if (per_burst > BURST_MAX)
        per_burst = BURST_MAX;
    out->start_ns = now_ns();
    while (done < plan->count) {
        uint64_t burst = plan->count - done < per_burst ? plan->count - done : per_burst;

        if (plan->rate_pps)
            sleep_until(out->start_ns + (uint64_t)((__uint128_t)done * NS_PER_S / plan->rate_pps));
        if (send_burst(fd, frame, plan, (uint32_t)burst, out))
            return -1;
        done += burst;
    }
    out->end_ns = now_ns();
    return 0;
}

static void print_outcome(const struct plan *plan, const struct outcome *out)
{
    printf("{\"sent_packets\": %" PRIu64 ", \"sent_bytes\": %" PRIu64 ", \"accepted\": %" PRIu64
           ", \"refused\": %" PRIu64 ", \"frame_bytes\": %" PRIu32 ", \"start_ns\": %" PRIu64
           ", \"end_ns\": %" PRIu64 "}\n",
           plan->count, plan->count * plan->frame_bytes, out->accepted, out->refused, plan->frame_bytes,
           out->start_ns, out->end_ns);
}

int main(int argc, char **argv)
{
    static unsigned char frame[FRAME_MAX];
    struct outcome out = {0};
    struct plan plan;
    int fd;

    if (parse_plan(argc, argv, &plan)) {
        fputs(usage, stderr);
        return 2;
    }
    fd = plan.udp.sin_port ? open_udp(&plan) : open_packet(&plan, frame);
    if (fd < 0)
        return 1;
    if (send_all(fd, frame, &plan, &out))
        return 1;
    print_outcome(&plan, &out);
    close(fd);
    return 0;
}
