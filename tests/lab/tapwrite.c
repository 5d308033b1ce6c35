/* SPDX-License-Identifier: MIT */
/*
 * Writes an exact number of frames into a tap that exists already, like a guest that sends, and prints as
 * JSON how many the kernel took and how many it refused; it changes neither the tap's state nor its queue.
 * The lab scripts use it for what only a guest can cause: frames into a port that is down. It must not know
 * who counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { FRAME_BYTES = 100 };

static int complain(const char *what)
{
    fprintf(stderr, "tapwrite: %s: %s\n", what, strerror(errno));
    return 1;
}

static int attach(const char *ifname)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

    memccpy(request.ifr_name, ifname, 0, IFNAMSIZ - 1);
    if (fd >= 0 && ioctl(fd, TUNSETIFF, &request) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int main(int argc, char **argv)
{
    /* Broadcast, from a local address, an EtherType for experiments. */
    unsigned char frame[FRAME_BYTES] = {255, 255, 255, 255, 255, 255, 0x52, 0x54, 0x98, 0, 0, 9, 0x88, 0xb5};
    long count = argc == 3 ? strtol(argv[2], NULL, 10) : 0, taken = 0, refused = 0;
    int fd;

    if (count <= 0) {
        fputs("usage: tapwrite TAP COUNT\n", stderr);
        return 2;
    }
    fd = attach(argv[1]);
    if (fd < 0)
        return complain(argv[1]);
    for (long i = 0; i < count; i++) {
        if (write(fd, frame, sizeof(frame)) == (ssize_t)sizeof(frame))
            taken++;
        else if (errno == EIO) /* the port is down */
            refused++;
        else
            return complain("write");
    }
    printf("{\"taken\": %ld, \"refused\": %ld}\n", taken, refused);
    close(fd);
    return 0;
}
