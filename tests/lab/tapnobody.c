/* SPDX-License-Identifier: MIT */
/*
 * Makes a tap, brings it up and holds it like a guest that is stuck: reads nothing, or an exact number of
 * packets, until SIGTERM. Prints one line when the tap is up and one when the packets are read; the lab
 * scripts wait for them. It must not know what is sent to the tap.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PACKET_MAX = 65550 };

static int complain(const char *what)
{
    fprintf(stderr, "tapnobody: %s: %s\n", what, strerror(errno));
    return -1;
}

static int configure(const char *ifname, int queue_length)
{
    struct ifreq request = {0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), status = 0;

    memccpy(request.ifr_name, ifname, 0, IFNAMSIZ - 1);
    request.ifr_qlen = queue_length;
    if (fd < 0 || (queue_length > 0 && ioctl(fd, SIOCSIFTXQLEN, &request)) ||
        ioctl(fd, SIOCGIFFLAGS, &request))
        status = complain(ifname);
    request.ifr_flags |= IFF_UP;
    if (!status && ioctl(fd, SIOCSIFFLAGS, &request))
        status = complain(ifname);
    if (fd >= 0)
        close(fd);
    return status;
}

static int open_tap(const char *ifname)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

    if (fd < 0)
        return complain("/dev/net/tun");
    memccpy(request.ifr_name, ifname, 0, IFNAMSIZ - 1);
    if (ioctl(fd, TUNSETIFF, &request)) {
        close(fd);
        return complain(ifname);
    }
    return fd;
}

/* Until SIGTERM or SIGINT; a tap without a reader left is a tap that is full. */
static int hold(int tap, int signals, long to_read)
{
    static char packet[PACKET_MAX];
    struct pollfd fds[] = {{.fd = signals, .events = POLLIN}, {.fd = tap, .events = POLLIN}};
    long left = to_read;

    for (;;) {
        if (poll(fds, left > 0 ? 2 : 1, -1) < 0 && errno != EINTR)
            return complain("poll");
        if (fds[0].revents)
            return 0;
        if (left <= 0 || !(fds[1].revents & POLLIN))
            continue;
        if (read(tap, packet, sizeof(packet)) < 0)
            return complain("read");
        if (!--left)
            printf("read %ld\n", to_read);
    }
}

int main(int argc, char **argv)
{
    const char *ifname = NULL;
    long queue_length = 0, to_read = 0;
    sigset_t stop;
    int option, tap, signals;

    while ((option = getopt(argc, argv, "i:q:r:")) != -1)
        if (option == 'i')
            ifname = optarg;
        else if (option == 'q')
            queue_length = strtol(optarg, NULL, 10);
        else if (option == 'r')
            to_read = strtol(optarg, NULL, 10);
    if (!ifname || optind != argc || queue_length < 0 || queue_length > 1000000) {
        fputs("usage: tapnobody -i TAP [-q TXQUEUELEN] [-r PACKETS_TO_READ]\n", stderr);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGINT);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    signals = signalfd(-1, &stop, SFD_CLOEXEC);
    tap = open_tap(ifname);
    if (tap < 0 || signals < 0 || configure(ifname, (int)queue_length))
        return 1;
    printf("ready %s\n", ifname);
    return hold(tap, signals, to_read) ? 1 : 0;
}
