/* SPDX-License-Identifier: MIT */
/* Tests of collectors/qemu_cmdline: command lines recorded from QEMU 7.2 by hand and under libvirt 9.0
 * (tests/fixtures/qemu), those that Proxmox, RHEL and old scripts write, other hypervisors, and nonsense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/procfs.h"
#include "collectors/qemu_cmdline.h"
#include "collectors/qemu_opts.h"
#include "collectors/vmm_text.h"

#define ARGV(...) ((char *[]){__VA_ARGS__, NULL})
#define QEMU      "/usr/bin/qemu-system-x86_64"

static size_t count(char *const *argv)
{
    size_t n = 0;

    while (argv[n])
        n++;
    return n;
}

static struct qemu_cmdline parse(char *const *argv)
{
    struct qemu_cmdline cmd;
    char err[128] = "";

    assert_int_equal(qemu_cmdline_parse(argv, count(argv), &cmd, err, sizeof(err)), 0);
    assert_string_equal(err, "");
    return cmd;
}

static struct qemu_cmdline parse_fixture(const char *name)
{
    struct qemu_cmdline cmd;
    struct procfs_args args;
    char path[128], text[16384], err[128];
    FILE *f;
    size_t n;

    snprintf(path, sizeof(path), "tests/fixtures/qemu/%s.cmdline", name);
    f = fopen(path, "rb");
    assert_non_null(f);
    n = fread(text, 1, sizeof(text), f);
    fclose(f);
    assert_int_equal(procfs_split_cmdline(text, n, &args), PROCFS_OK);
    assert_int_equal(qemu_cmdline_parse(args.argv, args.argc, &cmd, err, sizeof(err)), 0);
    procfs_args_free(&args);
    return cmd;
}

/* ---- recorded ---- */

static void qemu_by_hand(void **state)
{
    struct qemu_cmdline cmd = parse_fixture("by-hand");

    (void)state;
    assert_int_equal(cmd.kind, VMM_QEMU);
    assert_string_equal(cmd.name, "g1");
    assert_string_equal(cmd.uuid, "");
    assert_true(cmd.debug_threads);
    assert_int_equal(cmd.accel, VMM_ACCEL_TCG);
    assert_int_equal(cmd.smp_current, 2);
    assert_int_equal(cmd.memory_mib, 64);
    assert_false(cmd.hugepages);
    assert_int_equal(cmd.n_nics, 1);
    assert_int_equal(cmd.nics[0].backend, NIC_TAP);
    assert_string_equal(cmd.nics[0].ifname, "t1");
    assert_string_equal(cmd.nics[0].model, "virtio-net-pci");
    assert_string_equal(cmd.nics[0].netdev, "n");
    assert_false(cmd.nics[0].vhost);
    assert_int_equal(cmd.nics[0].queues, 1);
    qemu_cmdline_free(&cmd);
    qemu_cmdline_free(&cmd);
    qemu_cmdline_free(NULL);
}

static void libvirt_with_taps_by_descriptor(void **state)
{
    struct qemu_cmdline cmd = parse_fixture("libvirt-taps");

    (void)state;
    assert_string_equal(cmd.name, "g,1 web");
    assert_string_equal(cmd.uuid, "158e5244-9514-40b4-9725-b271a7d80247");
    assert_true(cmd.debug_threads);
    assert_int_equal(cmd.smp_current, 1);
    assert_int_equal(cmd.smp_max, 2);
    assert_int_equal(cmd.memory_mib, 96);
    assert_int_equal(cmd.n_nics, 4);
    assert_string_equal(cmd.nics[0].id, "ua-first");
    assert_string_equal(cmd.nics[0].netdev, "hostua-first");
    assert_string_equal(cmd.nics[0].mac, "52:54:00:00:00:01");
    assert_int_equal(cmd.nics[0].backend, NIC_TAP);
    assert_int_equal(cmd.nics[0].queues, 2);
    assert_int_equal(cmd.nics[0].n_fds, 2);
    assert_int_equal(cmd.nics[0].fds[0], 30);
    assert_int_equal(cmd.nics[0].fds[1], 32);
    assert_int_equal(cmd.nics[1].backend, NIC_USER);
    assert_string_equal(cmd.nics[1].model, "e1000");
    assert_int_equal(cmd.nics[2].fds[0], 33);
    assert_string_equal(cmd.nics[3].model, "rtl8139");
    assert_int_equal(cmd.nics[3].order, 3);
    assert_false(cmd.truncated);
    qemu_cmdline_free(&cmd);
}

static void libvirt_with_vhost_user(void **state)
{
    struct qemu_cmdline cmd = parse_fixture("libvirt-vhostuser");

    (void)state;
    assert_int_equal(cmd.n_nics, 1);
    assert_int_equal(cmd.nics[0].backend, NIC_VHOST_USER);
    assert_string_equal(cmd.nics[0].socket, "/run/vhu/vhu0.sock");
    assert_int_equal(cmd.nics[0].side, NIC_SIDE_LISTENS);
    assert_int_equal(cmd.nics[0].queues, 4);
    assert_false(cmd.nics[0].vhost);
    assert_true(cmd.memory_shared);
    assert_false(cmd.hugepages);
    qemu_cmdline_free(&cmd);
}

/* ---- other starters ---- */

static void libvirt_before_json(void **state)
{
    struct qemu_cmdline cmd = parse(
        ARGV("/usr/libexec/qemu-kvm", "-name", "guest=vm1,debug-threads=on", "-machine",
             "pc-i440fx-rhel7.6.0,accel=kvm,usb=off", "-m", "4096", "-mem-prealloc", "-mem-path",
             "/dev/hugepages/libvirt/qemu/1-vm1", "-smp", "4,maxcpus=8,sockets=8,cores=1,threads=1", "-uuid",
             "F52DD96B-C145-4CEF-817E-3BE3F11524C7", "-chardev", "socket,id=charnet0,path=/tmp/a,,b.sock",
             "-netdev", "vhost-user,chardev=charnet0,id=hostnet0", "-device",
             "virtio-net-pci,netdev=hostnet0,id=net0,mac=52:54:00:AA:BB:CC,bus=pci.0,addr=0x3", "-netdev",
             "tap,fds=26:28,id=hostnet1,vhost=on,vhostfds=29:30", "-device",
             "virtio-net-pci,mq=on,vectors=6,netdev=hostnet1,id=net1,mac=52:54:00:aa:bb:cd", "-device",
             "vfio-pci,host=3b:02.1,id=hostdev0,bus=pci.0,addr=0x5"));

    (void)state;
    assert_string_equal(cmd.uuid, "f52dd96b-c145-4cef-817e-3be3f11524c7");
    assert_int_equal(cmd.accel, VMM_ACCEL_KVM);
    assert_int_equal(cmd.smp_max, 8);
    assert_true(cmd.hugepages);
    assert_string_equal(cmd.mem_path, "/dev/hugepages/libvirt/qemu/1-vm1");
    assert_int_equal(cmd.n_nics, 3);
    assert_string_equal(cmd.nics[0].socket, "/tmp/a,b.sock");
    assert_int_equal(cmd.nics[0].side, NIC_SIDE_CONNECTS);
    assert_string_equal(cmd.nics[0].mac, "52:54:00:aa:bb:cc");
    assert_true(cmd.nics[1].vhost);
    assert_int_equal(cmd.nics[1].queues, 2);
    assert_int_equal(cmd.nics[2].backend, NIC_VFIO);
    assert_string_equal(cmd.nics[2].pci, "0000:3b:02.1");
    assert_string_equal(cmd.nics[2].id, "hostdev0");
    qemu_cmdline_free(&cmd);
}

static void libvirt_with_vhost_vdpa_and_hostdev(void **state)
{
    struct qemu_cmdline cmd = parse(ARGV(
        QEMU, "-name", "guest=v,debug-threads=on", "-object",
        "{\"qom-type\":\"memory-backend-memfd\",\"id\":\"ram-node0\",\"hugetlb\":true,\"hugetlbsize\":"
        "2097152,"
        "\"share\":true,\"size\":2147483648}",
        "-m", "size=2097152k,slots=16,maxmem=4194304k", "-add-fd", "set=0,fd=30,opaque=/dev/vhost-vdpa-7",
        "-netdev", "{\"type\":\"vhost-vdpa\",\"vhostdev\":\"/dev/fdset/0\",\"id\":\"hostnet0\",\"queues\":2}",
        "-device",
        "{\"driver\":\"virtio-net-pci\",\"netdev\":\"hostnet0\",\"id\":\"net0\",\"mac\":\"52:54:00:95:db:"
        "c0\"}",
        "-netdev", "{\"type\":\"tap\",\"fd\":\"31\",\"vhost\":true,\"vhostfd\":\"32\",\"id\":\"hostnet1\"}",
        "-device",
        "{\"driver\":\"virtio-net-pci\",\"netdev\":\"hostnet1\",\"id\":\"net1\",\"mac\":\"52:54:00:95:db:"
        "c1\"}",
        "-device",
        "{\"driver\":\"vfio-pci\",\"host\":\"0000:3b:02.1\",\"id\":\"hostdev0\",\"bus\":\"pci.1\"}",
        "-device", "{\"driver\":\"vfio-pci\",\"sysfsdev\":\"/sys/bus/mdev/devices/53764d0e-85a0-42b4\"}"));

    (void)state;
    assert_true(cmd.hugepages);
    assert_true(cmd.memory_shared);
    assert_int_equal(cmd.memory_mib, 2048);
    assert_int_equal(cmd.n_nics, 3);
    assert_int_equal(cmd.nics[0].backend, NIC_VHOST_VDPA);
    assert_string_equal(cmd.nics[0].vdpa, "/dev/vhost-vdpa-7");
    assert_int_equal(cmd.nics[0].queues, 2);
    assert_true(cmd.nics[1].vhost);
    assert_int_equal(cmd.nics[1].fds[0], 31);
    assert_string_equal(cmd.nics[2].pci, "0000:3b:02.1");
    qemu_cmdline_free(&cmd);
}

static void proxmox(void **state)
{
    struct qemu_cmdline cmd = parse(
        ARGV("/usr/bin/kvm", "-id", "100", "-name", "web,debug-threads=on", "-no-shutdown", "-chardev",
             "socket,id=qmp,path=/var/run/qemu-server/100.qmp,server=on,wait=off", "-mon",
             "chardev=qmp,mode=control", "-daemonize", "-smbios", "type=1,uuid=1", "-smp",
             "4,sockets=1,cores=4,maxcpus=4", "-nodefaults", "-m", "4096", "-netdev",
             "type=tap,id=net0,ifname=tap100i0,script=/var/lib/qemu-server/pve-bridge,vhost=on,queues=4",
             "-device",
             "virtio-net-pci,mac=BC:24:11:00:00:01,netdev=net0,bus=pci.0,addr=0x12,id=net0,vectors=10"));

    (void)state;
    assert_string_equal(cmd.name, "web");
    assert_int_equal(cmd.smp_current, 4);
    assert_string_equal(cmd.nics[0].ifname, "tap100i0");
    assert_int_equal(cmd.nics[0].queues, 4);
    assert_true(cmd.nics[0].vhost);
    assert_string_equal(cmd.nics[0].mac, "bc:24:11:00:00:01");
    qemu_cmdline_free(&cmd);
}

static void nic_shortcut(void **state)
{
    struct qemu_cmdline cmd =
        parse(ARGV(QEMU, "-enable-kvm", "-smp", "sockets=2,cores=3", "--nic",
                   "tap,ifname=t0,model=virtio-net-pci,mac=52:54:00:00:00:01", "-nic",
                   "bridge,br=virbr0,model=e1000", "-nic", "user", "-nic", "none", "disk.img"));

    (void)state;
    assert_int_equal(cmd.accel, VMM_ACCEL_KVM);
    assert_int_equal(cmd.smp_current, 6);
    assert_int_equal(cmd.smp_max, 6);
    assert_int_equal(cmd.n_nics, 3);
    assert_string_equal(cmd.nics[0].ifname, "t0");
    assert_string_equal(cmd.nics[0].mac, "52:54:00:00:00:01");
    assert_int_equal(cmd.nics[1].backend, NIC_BRIDGE);
    assert_string_equal(cmd.nics[1].bridge, "virbr0");
    assert_string_equal(cmd.nics[1].model, "e1000");
    assert_int_equal(cmd.nics[2].backend, NIC_USER);
    qemu_cmdline_free(&cmd);
}

static void legacy_net(void **state)
{
    struct qemu_cmdline cmd =
        parse(ARGV(QEMU, "-net", "nic,vlan=1,model=virtio,macaddr=52:54:00:00:00:01", "-net",
                   "nic,model=rtl8139", "-net", "tap,vlan=1,ifname=t1,script=no", "-net", "tap,ifname=t0",
                   "-net", "nic,netdev=nd,model=e1000", "-netdev", "bridge,id=nd", "-net", "none"));

    (void)state;
    assert_int_equal(cmd.n_nics, 3);
    assert_string_equal(cmd.nics[0].ifname, "t1");
    assert_string_equal(cmd.nics[0].mac, "52:54:00:00:00:01");
    assert_string_equal(cmd.nics[1].ifname, "t0");
    assert_int_equal(cmd.nics[2].backend, NIC_BRIDGE);
    assert_string_equal(cmd.nics[2].bridge, "br0");
    qemu_cmdline_free(&cmd);
}

static void legacy_cards_on_one_hub(void **state)
{
    struct qemu_cmdline cmd = parse(ARGV(QEMU, "-net", "nic", "-net", "nic", "-net", "tap,ifname=t0"));

    (void)state;
    assert_int_equal(cmd.n_nics, 2);
    assert_string_equal(cmd.nics[0].ifname, "t0");
    assert_string_equal(cmd.nics[1].ifname, "t0");
    qemu_cmdline_free(&cmd);
}

static void back_ends_of_every_kind(void **state)
{
    static const struct {
        char *netdev;
        enum nic_backend backend;
        enum nic_socket_side side;
        const char *socket;
    } CASES[] = {
        {"socket,id=n,listen=:1234", NIC_SOCKET, NIC_SIDE_LISTENS, ""},
        {"socket,id=n,connect=127.0.0.1:1234", NIC_SOCKET, NIC_SIDE_CONNECTS, ""},
        {"socket,id=n,mcast=230.0.0.1:1234", NIC_SOCKET, NIC_SIDE_UNKNOWN, ""},
        {"stream,id=n,server=on,addr.type=unix,addr.path=/tmp/q", NIC_SOCKET, NIC_SIDE_LISTENS, "/tmp/q"},
        {"{\"type\":\"stream\",\"id\":\"n\",\"addr\":{\"type\":\"unix\",\"path\":\"/tmp/q\"}}", NIC_SOCKET,
         NIC_SIDE_CONNECTS, "/tmp/q"},
        {"passt,id=n", NIC_USER, NIC_SIDE_UNKNOWN, ""},
        {"af-xdp,id=n,ifname=eth0", NIC_OTHER, NIC_SIDE_UNKNOWN, ""},
        {"tap,id=n,br=br7,helper=/usr/lib/qemu/qemu-bridge-helper", NIC_BRIDGE, NIC_SIDE_UNKNOWN, ""},
        {"vhost-user,id=n,chardev=absent", NIC_VHOST_USER, NIC_SIDE_UNKNOWN, ""},
        {"tap,id=other", NIC_NONE, NIC_SIDE_UNKNOWN, ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct qemu_cmdline cmd =
            parse(ARGV(QEMU, "-netdev", CASES[i].netdev, "-device", "vmxnet3,netdev=n"));

        assert_int_equal(cmd.n_nics, 1);
        assert_int_equal(cmd.nics[0].backend, CASES[i].backend);
        assert_int_equal(cmd.nics[0].side, CASES[i].side);
        assert_string_equal(cmd.nics[0].socket, CASES[i].socket);
        assert_string_equal(cmd.nics[0].model, "vmxnet3");
        qemu_cmdline_free(&cmd);
    }
}

/* As QEMU decides: vhost= counts most, then a descriptor handed over, then vhostforce. */
static void vhost_on_or_off(void **state)
{
    static const struct {
        char *netdev;
        bool vhost;
    } CASES[] = {
        {"tap,id=n", false},
        {"tap,id=n,vhost=on", true},
        {"tap,id=n,vhost", true},
        {"tap,id=n,vhost=off,vhostfd=3", false},
        {"tap,id=n,vhostfd=3", true},
        {"tap,id=n,vhostfds=3:4", true},
        {"tap,id=n,vhostforce=on", true},
        {"tap,id=n,vhostforce=off", false},
        {"tap,id=n,vhost=off,vhost=on", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct qemu_cmdline cmd =
            parse(ARGV(QEMU, "-device", "virtio-net-pci,netdev=n", "-netdev", CASES[i].netdev));

        assert_int_equal(cmd.nics[0].vhost, CASES[i].vhost);
        qemu_cmdline_free(&cmd);
    }
}

static void chardev_in_the_monitors_form(void **state)
{
    struct qemu_cmdline cmd =
        parse(ARGV(QEMU, "-chardev",
                   "{\"id\":\"c\",\"backend\":{\"type\":\"socket\",\"data\":{\"addr\":{\"type\":\"unix\","
                   "\"data\":{\"path\":"
                   "\"/run/v.sock\"}},\"server\":false}}}",
                   "-netdev", "{\"type\":\"vhost-user\",\"id\":\"n\",\"chardev\":\"c\"}", "-device",
                   "{\"driver\":\"virtio-net-pci\",\"netdev\":\"n\"}"));

    (void)state;
    assert_string_equal(cmd.nics[0].socket, "/run/v.sock");
    assert_int_equal(cmd.nics[0].side, NIC_SIDE_CONNECTS);
    qemu_cmdline_free(&cmd);
}

static void values_are_not_taken_for_options(void **state)
{
    struct qemu_cmdline cmd = parse(ARGV(QEMU, "-S", "-name", "a", "-append", "-name", "-nographic", "-m",
                                         "1.5G", "-fw_cfg", "-smp", "-smp", "3", "-m"));

    (void)state;
    assert_string_equal(cmd.name, "a");
    assert_int_equal(cmd.smp_current, 3);
    assert_int_equal(cmd.memory_mib, 1536);
    qemu_cmdline_free(&cmd);
}

static void nonsense_is_passed_over(void **state)
{
    struct qemu_cmdline cmd =
        parse(ARGV(QEMU, "-m", "lots", "-smp", "0", "-smp", "8,maxcpus=2", "-uuid", "1234", "-name", "",
                   "-netdev", "{\"type\":", "-netdev", "[]", "-netdev", "", "-device", "", "-device", "{}",
                   "-device", "virtio-net-pci,mac=zz", "-object",
                   "{\"qom-type\":{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":{\"g\":{\"h\":{\"i\":1}}}}}}}}}}",
                   "-smp", "99999999999999999999"));

    (void)state;
    assert_int_equal(cmd.smp_current, 1);
    assert_int_equal(cmd.smp_max, 1);
    assert_int_equal(cmd.memory_mib, 0);
    assert_string_equal(cmd.uuid, "");
    assert_string_equal(cmd.name, "");
    assert_int_equal(cmd.n_nics, 1);
    assert_int_equal(cmd.nics[0].backend, NIC_NONE);
    assert_string_equal(cmd.nics[0].mac, "");
    qemu_cmdline_free(&cmd);
}

static void texts_that_do_not_fit_are_left_out(void **state)
{
    char name[1024], netdev[256];
    struct qemu_cmdline cmd;

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    snprintf(netdev, sizeof(netdev), "tap,id=n,ifname=%.100s", name);
    cmd = parse(ARGV(QEMU, "-name", name, "-netdev", netdev, "-device", "e1000,netdev=n"));
    assert_string_equal(cmd.name, "");
    assert_string_equal(cmd.nics[0].ifname, "");
    assert_int_equal(cmd.nics[0].backend, NIC_TAP);
    qemu_cmdline_free(&cmd);
}

static void cards_beyond_the_bound_are_counted_out(void **state)
{
    enum { CARDS = VMM_NICS_MAX + 10 };
    char **argv = calloc(2 * CARDS + 2, sizeof(*argv));
    struct qemu_cmdline cmd;

    (void)state;
    argv[0] = QEMU;
    for (size_t i = 0; i < CARDS; i++) {
        argv[1 + 2 * i] = "-device";
        argv[2 + 2 * i] = "virtio-net-pci";
    }
    cmd = parse(argv);
    assert_int_equal(cmd.n_nics, VMM_NICS_MAX);
    assert_true(cmd.truncated);
    qemu_cmdline_free(&cmd);
    free(argv);
}

static void accelerators(void **state)
{
    static const struct {
        char *a, *b, *c, *d;
        enum vmm_accel accel;
    } CASES[] = {
        {"-accel", "kvm", "-S", "x", VMM_ACCEL_KVM},
        {"-accel", "tcg,thread=multi", "-S", "x", VMM_ACCEL_TCG},
        {"-accel", "kvm", "-accel", "tcg", VMM_ACCEL_UNKNOWN},
        {"-machine", "q35,accel=kvm:tcg", "-S", "x", VMM_ACCEL_UNKNOWN},
        {"-machine", "q35,accel=kvm", "-enable-kvm", "x", VMM_ACCEL_KVM},
        {"-machine", "q35", "-S", "x", VMM_ACCEL_UNKNOWN},
        {"-accel", "xen", "-S", "x", VMM_ACCEL_OTHER},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct qemu_cmdline cmd = parse(ARGV(QEMU, CASES[i].a, CASES[i].b, CASES[i].c, CASES[i].d));

        assert_int_equal(cmd.accel, CASES[i].accel);
        qemu_cmdline_free(&cmd);
    }
}

/* ---- who is a hypervisor ---- */

static enum vmm_kind kind(char *const *argv)
{
    return qemu_cmdline_recognise(argv, count(argv));
}

static void hypervisors_are_recognised(void **state)
{
    (void)state;
    assert_int_equal(kind(ARGV("qemu-system-aarch64")), VMM_QEMU);
    assert_int_equal(kind(ARGV("/nix/store/x/bin/.qemu-system-x86_64-wrapped", "-S")), VMM_QEMU);
    assert_int_equal(kind(ARGV("/usr/libexec/qemu-kvm", "-S")), VMM_QEMU);
    assert_int_equal(kind(ARGV("kvm", "-S")), VMM_QEMU);
    assert_int_equal(kind(ARGV("/opt/vm/emulator", "-name", "x", "-machine", "q35", "-accel", "kvm")),
                     VMM_QEMU);
    assert_int_equal(kind(ARGV("cloud-hypervisor", "--cpus", "boot=2")), VMM_CLOUD_HYPERVISOR);
    assert_int_equal(kind(ARGV("./cloud-hypervisor-static-aarch64")), VMM_CLOUD_HYPERVISOR);
    assert_int_equal(kind(ARGV("/bin/firecracker-v1.7.0-x86_64", "--id", "a")), VMM_FIRECRACKER);
}

static void others_are_not(void **state)
{
    (void)state;
    assert_int_equal(qemu_cmdline_recognise(ARGV(NULL), 0), VMM_NONE);
    assert_int_equal(kind(ARGV("")), VMM_NONE);
    assert_int_equal(kind(ARGV("bash", "-c", "qemu-system-x86_64 -name x")), VMM_NONE);
    assert_int_equal(kind(ARGV("sudo", "-u", "me", "qemu-system-x86_64", "-name", "x", "-m", "1")), VMM_NONE);
    assert_int_equal(kind(ARGV("vim", "/etc/qemu-system-x86_64.conf")), VMM_NONE);
    assert_int_equal(kind(ARGV("qemu-img", "create", "-m", "-name")), VMM_NONE);
    assert_int_equal(kind(ARGV("qemu-nbd", "-c", "/dev/nbd0")), VMM_NONE);
    assert_int_equal(kind(ARGV("find", "-name", "x")), VMM_NONE);
    assert_int_equal(kind(ARGV("firecracker-containerd")), VMM_NONE);
    assert_int_equal(kind(ARGV(QEMU, "-S", "-no-user-config", "-nodefaults", "-nographic", "-machine",
                               "none,accel=kvm:tcg", "-qmp", "unix:/x")),
                     VMM_NONE);
}

static void error_is_told_for_others(void **state)
{
    struct qemu_cmdline cmd;
    char err[128] = "";

    (void)state;
    assert_int_equal(qemu_cmdline_parse(ARGV("bash"), 1, &cmd, err, sizeof(err)), -1);
    assert_non_null(strstr(err, "not of a hypervisor"));
}

static void cloud_hypervisor(void **state)
{
    struct qemu_cmdline cmd = parse(ARGV(
        "cloud-hypervisor", "--api-socket=path=/run/ch/web1.sock", "--cpus", "boot=2,max=4", "--memory",
        "size=512M,hugepages=on,shared=on", "--net", "tap=tap0,mac=12:34:56:78:90:AB,num_queues=4",
        "vhost_user=true,socket=/tmp/vhu,vhost_mode=server", "fd=[3,4],mac=12:34:56:78:90:ac,num_queues=4",
        "--platform", "uuid=f52dd96b-c145-4cef-817e-3be3f11524c7", "--device",
        "path=/sys/bus/pci/devices/0000:01:00.0/", "-v", "x", "--device",
        "path=/sys/bus/pci/devices/0000:01:00.0", "--vdpa", "path=/dev/vhost-vdpa-0"));

    (void)state;
    assert_int_equal(cmd.kind, VMM_CLOUD_HYPERVISOR);
    assert_string_equal(cmd.name, "web1");
    assert_string_equal(cmd.uuid, "f52dd96b-c145-4cef-817e-3be3f11524c7");
    assert_int_equal(cmd.smp_current, 2);
    assert_int_equal(cmd.smp_max, 4);
    assert_int_equal(cmd.memory_mib, 512);
    assert_true(cmd.hugepages);
    assert_int_equal(cmd.n_nics, 5);
    assert_string_equal(cmd.nics[0].ifname, "tap0");
    assert_string_equal(cmd.nics[0].mac, "12:34:56:78:90:ab");
    assert_int_equal(cmd.nics[0].queues, 2);
    assert_int_equal(cmd.nics[1].backend, NIC_VHOST_USER);
    assert_int_equal(cmd.nics[1].side, NIC_SIDE_LISTENS);
    assert_string_equal(cmd.nics[1].socket, "/tmp/vhu");
    assert_int_equal(cmd.nics[2].n_fds, 2);
    assert_int_equal(cmd.nics[2].fds[1], 4);
    assert_int_equal(cmd.nics[3].backend, NIC_VFIO);
    assert_string_equal(cmd.nics[3].pci, "0000:01:00.0");
    assert_int_equal(cmd.nics[4].backend, NIC_VHOST_VDPA);
    qemu_cmdline_free(&cmd);
}

static void firecracker(void **state)
{
    struct qemu_cmdline cmd =
        parse(ARGV("/firecracker", "--id=vm-7", "--api-sock", "/run/firecracker.socket"));

    (void)state;
    assert_string_equal(cmd.name, "vm-7");
    assert_int_equal(cmd.smp_current, 0);
    assert_int_equal(cmd.accel, VMM_ACCEL_KVM);
    qemu_cmdline_free(&cmd);
}

/* ---- open taps ---- */

static struct procfs_netfd tap(int fd, const char *ifname)
{
    struct procfs_netfd t = {.fd = fd, .kind = PROCFS_NETFD_TAP};

    snprintf(t.ifname, sizeof(t.ifname), "%s", ifname);
    return t;
}

/* The descriptors as they were open beside the recorded command line, and one that was plugged in. */
static void taps_of_libvirt_get_their_names(void **state)
{
    struct qemu_cmdline cmd = parse_fixture("libvirt-taps");
    struct procfs_netfd fds[] = {tap(30, "g1-t0"),
                                 tap(32, "g1-t0"),
                                 {.fd = 33, .kind = PROCFS_NETFD_MACVTAP, .number = 6},
                                 tap(34, "g1-t3"),
                                 {.fd = 35, .kind = PROCFS_NETFD_VHOST_NET},
                                 tap(41, "vnet9"),
                                 tap(42, "vnet9")};

    (void)state;
    qemu_cmdline_resolve_taps(&cmd, fds, 7);
    assert_int_equal(cmd.n_nics, 5);
    assert_string_equal(cmd.nics[0].ifname, "g1-t0");
    assert_int_equal(cmd.nics[0].queues, 2);
    assert_string_equal(cmd.nics[1].ifname, "");
    assert_int_equal(cmd.nics[2].ifindex, 6);
    assert_string_equal(cmd.nics[2].ifname, "");
    assert_string_equal(cmd.nics[3].ifname, "g1-t3");
    assert_false(cmd.nics[3].only_open);
    assert_string_equal(cmd.nics[4].ifname, "vnet9");
    assert_true(cmd.nics[4].only_open);
    assert_int_equal(cmd.nics[4].queues, 2);
    assert_int_equal(cmd.nics[4].fds[1], 42);
    qemu_cmdline_free(&cmd);
}

static void taps_that_qemu_named_are_given_by_order(void **state)
{
    struct procfs_netfd fds[] = {tap(3, "tap4"), tap(9, "named"), tap(11, "tap2")};
    struct qemu_cmdline cmd =
        parse(ARGV(QEMU, "-netdev", "tap,id=a", "-netdev", "tap,id=b,ifname=named", "-netdev", "bridge,id=c",
                   "-device", "e1000,netdev=c", "-device", "e1000,netdev=b", "-device", "e1000,netdev=a"));

    (void)state;
    qemu_cmdline_resolve_taps(&cmd, fds, 3);
    assert_int_equal(cmd.n_nics, 3);
    assert_string_equal(cmd.nics[0].ifname, "tap2");
    assert_string_equal(cmd.nics[1].ifname, "named");
    assert_string_equal(cmd.nics[2].ifname, "tap4");
    qemu_cmdline_free(&cmd);
}

static void taps_that_could_be_any_cards_stand_alone(void **state)
{
    struct procfs_netfd fds[] = {tap(3, "tap4"), tap(11, "tap2")};
    struct qemu_cmdline cmd = parse(ARGV(QEMU, "-nic", "tap"));

    (void)state;
    qemu_cmdline_resolve_taps(&cmd, fds, 2);
    assert_int_equal(cmd.n_nics, 3);
    assert_string_equal(cmd.nics[0].ifname, "");
    assert_string_equal(cmd.nics[1].ifname, "tap4");
    assert_true(cmd.nics[1].only_open);
    assert_string_equal(cmd.nics[2].ifname, "tap2");
    qemu_cmdline_free(&cmd);
}

static void firecrackers_taps_are_its_cards(void **state)
{
    struct procfs_netfd fds[] = {tap(12, "fc-tap0")};
    struct qemu_cmdline cmd = parse(ARGV("firecracker", "--id", "a"));

    (void)state;
    assert_int_equal(cmd.n_nics, 0);
    qemu_cmdline_resolve_taps(&cmd, fds, 1);
    assert_int_equal(cmd.n_nics, 1);
    assert_string_equal(cmd.nics[0].ifname, "fc-tap0");
    assert_int_equal(cmd.nics[0].queues, 1);
    qemu_cmdline_free(&cmd);
}

/* ---- pieces ---- */

static void sizes(void **state)
{
    static const struct {
        const char *text;
        uint64_t unit, bytes;
    } GOOD[] = {{"96", 1024, 98304}, {"4G", 1, UINT64_C(4) << 30},
                {"1.5k", 1, 1536},   {"0.3k", 1, 307},
                {"7b", 1024, 7},     {"0", 1, 0}};
    static const char *const BAD[] = {"",   "G",   "-1",           "1GB",
                                      "1.", ".5G", "99999999999E", "18446744073709551616"};
    uint64_t bytes;

    (void)state;
    for (size_t i = 0; i < sizeof(GOOD) / sizeof(GOOD[0]); i++) {
        assert_true(qemu_opts_size(GOOD[i].text, GOOD[i].unit, &bytes));
        assert_int_equal(bytes, GOOD[i].bytes);
    }
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        assert_false(qemu_opts_size(BAD[i], 1, &bytes));
}

static void commas_are_escaped_by_commas(void **state)
{
    struct qemu_opts opts;

    (void)state;
    assert_true(qemu_opts_parse("g,,1=web,b=x,,y,,,c,d=,", QEMU_OPTS_COMMAS, "guest", &opts));
    assert_string_equal(qemu_opts_get(&opts, "guest"), "g,1=web");
    assert_string_equal(qemu_opts_get(&opts, "b"), "x,y,");
    assert_string_equal(qemu_opts_get(&opts, "c"), "on");
    assert_string_equal(qemu_opts_get(&opts, "d"), "");
    assert_null(qemu_opts_get(&opts, "e"));
    assert_int_equal(opts.n, 4);
    qemu_opts_free(&opts);
    qemu_opts_free(NULL);
}

static void addresses_have_one_spelling(void **state)
{
    char mac[18], pci[16], uuid[37];

    (void)state;
    assert_true(vmm_text_mac("52:54:00:AB:CD:EF", mac));
    assert_string_equal(mac, "52:54:00:ab:cd:ef");
    assert_false(vmm_text_mac("52:54:00:AB:CD:EF0", mac));
    assert_string_equal(mac, "");
    assert_false(vmm_text_mac("52:54:00:AB:CD", mac));
    assert_false(vmm_text_mac(NULL, mac));
    assert_true(vmm_text_pci("0001:3B:02.1", pci));
    assert_string_equal(pci, "0001:3b:02.1");
    assert_true(vmm_text_pci("3b:02.1", pci));
    assert_string_equal(pci, "0000:3b:02.1");
    assert_false(vmm_text_pci("3b:02", pci));
    assert_false(vmm_text_uuid("f52dd96b-c145-4cef-817e-3be3f11524cg", uuid));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(qemu_by_hand),
        cmocka_unit_test(libvirt_with_taps_by_descriptor),
        cmocka_unit_test(libvirt_with_vhost_user),
        cmocka_unit_test(libvirt_before_json),
        cmocka_unit_test(libvirt_with_vhost_vdpa_and_hostdev),
        cmocka_unit_test(proxmox),
        cmocka_unit_test(nic_shortcut),
        cmocka_unit_test(legacy_net),
        cmocka_unit_test(legacy_cards_on_one_hub),
        cmocka_unit_test(back_ends_of_every_kind),
        cmocka_unit_test(vhost_on_or_off),
        cmocka_unit_test(chardev_in_the_monitors_form),
        cmocka_unit_test(values_are_not_taken_for_options),
        cmocka_unit_test(nonsense_is_passed_over),
        cmocka_unit_test(texts_that_do_not_fit_are_left_out),
        cmocka_unit_test(cards_beyond_the_bound_are_counted_out),
        cmocka_unit_test(accelerators),
        cmocka_unit_test(hypervisors_are_recognised),
        cmocka_unit_test(others_are_not),
        cmocka_unit_test(error_is_told_for_others),
        cmocka_unit_test(cloud_hypervisor),
        cmocka_unit_test(firecracker),
        cmocka_unit_test(taps_of_libvirt_get_their_names),
        cmocka_unit_test(taps_that_qemu_named_are_given_by_order),
        cmocka_unit_test(taps_that_could_be_any_cards_stand_alone),
        cmocka_unit_test(firecrackers_taps_are_its_cards),
        cmocka_unit_test(sizes),
        cmocka_unit_test(commas_are_escaped_by_commas),
        cmocka_unit_test(addresses_have_one_spelling),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
