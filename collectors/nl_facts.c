/* SPDX-License-Identifier: MIT */
/* ethtool and sysfs facts of a link (see nl_facts.h). */
#include "collectors/nl_facts.h"

#include <linux/ethtool.h>
#include <linux/if.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The kernel's mask of link modes is 4 words now; the field that tells its size is a signed byte. */
#define MASK_WORDS 127

static bool ethtool_ask(int fd, const char *name, void *command)
{
    struct ifreq request = {.ifr_data = command};
    memcpy(request.ifr_name, name, sizeof(request.ifr_name));
    request.ifr_name[sizeof(request.ifr_name) - 1] = '\0';
    return ioctl(fd, SIOCETHTOOL, &request) == 0;
}

static uint32_t ask_speed(int fd, const char *name)
{
    union {
        struct ethtool_link_settings settings;
        char room[sizeof(struct ethtool_link_settings) + 3 * MASK_WORDS * sizeof(uint32_t)];
    } ask = {.settings.cmd = ETHTOOL_GLINKSETTINGS};
    /* The first answer is minus the number of mask words that the second question must bring room for. */
    if (!ethtool_ask(fd, name, &ask) || ask.settings.link_mode_masks_nwords >= 0 ||
        ask.settings.link_mode_masks_nwords < -MASK_WORDS)
        return 0;
    ask.settings.cmd = ETHTOOL_GLINKSETTINGS;
    ask.settings.link_mode_masks_nwords = (int8_t)-ask.settings.link_mode_masks_nwords;
    if (!ethtool_ask(fd, name, &ask) || ask.settings.speed == (uint32_t)SPEED_UNKNOWN)
        return 0;
    return ask.settings.speed;
}

static void ask_queues(int fd, const char *name, struct nl_facts *facts)
{
    struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};
    if (!ethtool_ask(fd, name, &channels))
        return;
    facts->rx_queues = channels.rx_count + channels.combined_count;
    facts->tx_queues = channels.tx_count + channels.combined_count;
}

static bool exists(const char *root, const char *folder, const char *name, const char *file)
{
    char path[512];
    if (!*name || strchr(name, '/') || name[0] == '.')
        return false;
    int length = snprintf(path, sizeof(path), "%s%s/%s/%s", root ? root : "", folder, name, file);
    return length >= 0 && (size_t)length < sizeof(path) && access(path, F_OK) == 0;
}

static bool is_vf(const struct nl_link *link, const char *root, bool own)
{
    if (link->parent[0])
        return strcmp(link->parent_bus, "pci") == 0 &&
               exists(root, "/sys/bus/pci/devices", link->parent, "physfn");
    /* Kernels before 5.14 name no parent device; sysfs knows links of its own namespace alone. */
    return own && exists(root, "/sys/class/net", link->name, "device/physfn");
}

void nl_facts_ask(struct nl_port *port, int fd, const char *root, bool own)
{
    const struct nl_link *link = &port->link;
    struct nl_facts *facts = &port->facts;
    *facts = (struct nl_facts){.asked = true};
    const char *kind = nl_link_kind(link, false);
    bool real = strcmp(kind, "physical") == 0;
    if (real)
        facts->is_vf = is_vf(link, root, own);
    if (real && link->flags & IFF_LOWER_UP)
        facts->speed_mbps = ask_speed(fd, link->name);
    /* A veth and a NIC are made for more queues than they use. */
    if (real || strcmp(kind, "veth") == 0 || strcmp(kind, "representor") == 0)
        ask_queues(fd, link->name, facts);
}
