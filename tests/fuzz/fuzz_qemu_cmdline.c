/* SPDX-License-Identifier: MIT */
/* libFuzzer target of collectors/qemu_cmdline.c and of the texts of /proc. The first byte chooses: a command
 * line with its NULs (three bytes in four; seeds: tests/fixtures/qemu behind a byte), or stat, schedstat,
 * status, a set of CPUs and fdinfo at once. */
#include <stdlib.h>
#include <string.h>

#include "collectors/procfs.h"
#include "collectors/qemu_cmdline.h"
#include "collectors/qemu_threads.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_cmdline(struct qemu_cmdline *cmd)
{
    static const struct procfs_netfd FDS[] = {{.fd = 3, .ifname = "t1"},
                                              {.fd = 30, .ifname = "t2"},
                                              {.fd = 33, .kind = PROCFS_NETFD_MACVTAP, .number = 6}};
    size_t nic;
    unsigned queue;

    qemu_cmdline_resolve_taps(cmd, FDS, sizeof(FDS) / sizeof(FDS[0]));
    for (size_t i = 0; i < cmd->n_nics; i++) {
        if (cmd->nics[i].queues == 0 || cmd->nics[i].n_fds > VMM_FDS_MAX)
            abort();
        qemu_vhost_queue(cmd, cmd->n_nics, i, &nic, &queue);
    }
}

static void fuzz_cmdline(const char *text, size_t len)
{
    struct qemu_cmdline cmd;
    struct procfs_args args;
    char err[128];

    if (procfs_split_cmdline(text, len, &args) != PROCFS_OK)
        return;
    if (qemu_cmdline_parse(args.argv, args.argc, &cmd, err, sizeof(err)) == 0) {
        use_cmdline(&cmd);
        qemu_cmdline_free(&cmd);
    }
    procfs_args_free(&args);
}

static void fuzz_cpuset(const char *text, size_t len)
{
    struct procfs_cpuset set, again;
    char buf[32768];
    size_t n;

    if (!procfs_cpuset_parse(text, len, &set))
        return;
    n = procfs_cpuset_format(&set, buf, sizeof(buf));
    if (!procfs_cpuset_parse(buf, n, &again) || !procfs_cpuset_equal(&set, &again))
        abort();
    procfs_cpuset_format(&set, buf, len % 16);
}

static void fuzz_texts(const char *text, size_t len)
{
    struct procfs_schedstat sched;
    struct procfs_status status;
    struct procfs_stat st;
    struct qemu_thread role;
    char ifname[PROCFS_IFNAME_SIZE];

    if (procfs_parse_stat(text, len, &st))
        qemu_threads_classify(1, NULL, &st, 1, &role);
    procfs_parse_schedstat(text, len, &sched);
    procfs_parse_status(text, len, &status);
    procfs_parse_fdinfo_iff(text, len, ifname);
    fuzz_cpuset(text, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] % 4 != 0)
        fuzz_cmdline((const char *)data + 1, size - 1);
    else
        fuzz_texts((const char *)data + 1, size - 1);
    return 0;
}
