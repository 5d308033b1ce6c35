/* SPDX-License-Identifier: MIT */
/* Reading of /proc: strict bounded parsers of its texts, and readers that keep a descriptor per thread. The
 * collectors of QEMU, OVS, DPDK and VPP threads call it. It must not know what a thread is for: roles, rates
 * and names of virtual machines are made elsewhere. Every reader takes the descriptor of a proc root, so that
 * a recorded tree serves tests as /proc serves the program. */
#ifndef VNETTOP_PROCFS_H
#define VNETTOP_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCFS_CPU_MAX     4096                 /* CPUs, and NUMA nodes, beyond are refused */
#define PROCFS_CPUS_TEXT   256                  /* enough for the short text of any set met in practice */
#define PROCFS_COMM_SIZE   64                   /* kernel threads' names are longer than TASK_COMM_LEN */
#define PROCFS_CMDLINE_MAX (1024u * 1024u)      /* bytes */
#define PROCFS_ARGS_MAX    16384u               /* arguments of one command line */
#define PROCFS_IDS_MAX     (256u * 1024u)       /* processes, or threads of one process */
#define PROCFS_IFNAME_SIZE 16                   /* IFNAMSIZ */
#define PROCFS_PF_KTHREAD  UINT64_C(0x00200000) /* include/linux/sched.h */

/* Why a read gave nothing. GONE: the process or thread has ended. NONE: the kernel has no such file. DENIED:
 * this user may not. BAD: the text is not what the kernel writes. FAILED: errno says (EMFILE, ENOMEM, E2BIG
 * ...). */
enum procfs_result { PROCFS_OK, PROCFS_GONE, PROCFS_NONE, PROCFS_DENIED, PROCFS_BAD, PROCFS_FAILED };

/* A sentence part for messages, such as "not permitted". */
const char *procfs_result_text(enum procfs_result r);

/* ---- sets of CPUs or nodes ---- */

struct procfs_cpuset {
    uint64_t bits[PROCFS_CPU_MAX / 64];
};

/* Reads "0-3,8,10-11" and also libvirt's "0-7,^3". An empty list is an empty set. False on anything else. */
bool procfs_cpuset_parse(const char *text, size_t len, struct procfs_cpuset *set);
/* Writes the shortest list form; what does not fit is replaced by "..." at a whole range. Returns the length.
 */
size_t procfs_cpuset_format(const struct procfs_cpuset *set, char *buf, size_t size);
bool procfs_cpuset_has(const struct procfs_cpuset *set, unsigned cpu);
void procfs_cpuset_add(struct procfs_cpuset *set, unsigned cpu);
unsigned procfs_cpuset_count(const struct procfs_cpuset *set);
bool procfs_cpuset_equal(const struct procfs_cpuset *a, const struct procfs_cpuset *b);
/* The first member >= from, or -1. */
int procfs_cpuset_next(const struct procfs_cpuset *set, unsigned from);

/* ---- texts ---- */

/* All of text is one decimal number that fits. */
bool procfs_parse_u64(const char *text, size_t len, uint64_t *out);

/* /proc/PID/task/TID/stat. Times are in ticks of sysconf(_SC_CLK_TCK). */
struct procfs_stat {
    pid_t tid;
    pid_t ppid;
    int processor; /* CPU it last ran on */
    char state;    /* R S D T Z ... */
    char comm[PROCFS_COMM_SIZE];
    uint64_t flags; /* PF_* of the kernel */
    uint64_t utime_ticks;
    uint64_t stime_ticks;
    uint64_t guest_ticks; /* inside a guest by KVM; contained in utime_ticks */
    uint64_t start_ticks; /* since boot: with the tid the identity of the thread */
};
bool procfs_parse_stat(const char *text, size_t len, struct procfs_stat *out);
bool procfs_stat_is_kthread(const struct procfs_stat *st);

/* /proc/PID/task/TID/schedstat. All zero on a thread that ran: the kernel does not account
 * (CONFIG_SCHED_INFO). */
struct procfs_schedstat {
    uint64_t run_ns;
    uint64_t delay_ns; /* runnable and waiting; added when the thread gets its CPU */
    uint64_t pcount;   /* times it was put on a CPU */
};
bool procfs_parse_schedstat(const char *text, size_t len, struct procfs_schedstat *out);

enum procfs_status_bit {
    PROCFS_STATUS_TGID = 1 << 0,
    PROCFS_STATUS_UID = 1 << 1,
    PROCFS_STATUS_CPUS = 1 << 2,
    PROCFS_STATUS_MEMS = 1 << 3,
    PROCFS_STATUS_VOLUNTARY = 1 << 4,
    PROCFS_STATUS_NONVOLUNTARY = 1 << 5,
};
/* /proc/PID/task/TID/status; has tells which lines were there. */
struct procfs_status {
    unsigned has; /* enum procfs_status_bit */
    pid_t tgid;
    uid_t uid;
    uid_t euid;
    uint64_t voluntary_switches;
    uint64_t nonvoluntary_switches;
    struct procfs_cpuset cpus_allowed;
    struct procfs_cpuset mems_allowed;
};
/* False when a known line is malformed; unknown lines are passed over. */
bool procfs_parse_status(const char *text, size_t len, struct procfs_status *out);

/* A command line, cut at its NULs. argv[argc] is NULL. */
struct procfs_args {
    char *block;
    char **argv;
    size_t argc;
};
/* Copies text. FAILED with errno E2BIG or ENOMEM; text may lack its last NUL, and be empty (kernel threads).
 */
enum procfs_result procfs_split_cmdline(const char *text, size_t len, struct procfs_args *out);
void procfs_args_free(struct procfs_args *args);

/* The "iff:" line of /proc/PID/fdinfo/FD of a tun descriptor. False when there is none or it is empty. */
bool procfs_parse_fdinfo_iff(const char *text, size_t len, char ifname[PROCFS_IFNAME_SIZE]);

/* ---- files under a proc root ---- */

/* Descriptor of the root (NULL: /proc), or -1 with errno. The caller closes it. */
int procfs_open_root(const char *path);

/* Reads one small file whole and ends it with a NUL. FAILED with E2BIG when it does not fit. */
enum procfs_result procfs_read_file(int rootfd, const char *path, char *buf, size_t size, size_t *len);

enum procfs_result procfs_read_stat(int rootfd, pid_t pid, pid_t tid, struct procfs_stat *out);
enum procfs_result procfs_read_status(int rootfd, pid_t pid, pid_t tid, struct procfs_status *out);
enum procfs_result procfs_read_cmdline(int rootfd, pid_t pid, struct procfs_args *out);

/* Ascending; the caller frees *ids. */
enum procfs_result procfs_list_pids(int rootfd, pid_t **ids, size_t *count);
enum procfs_result procfs_list_tids(int rootfd, pid_t pid, pid_t **ids, size_t *count);

/* Open descriptors that lead to a guest's network. */
enum procfs_netfd_kind {
    PROCFS_NETFD_TAP,
    PROCFS_NETFD_MACVTAP,
    PROCFS_NETFD_VHOST_NET,
    PROCFS_NETFD_VHOST_VDPA
};
struct procfs_netfd {
    int fd;
    enum procfs_netfd_kind kind;
    unsigned number;                 /* macvtap: ifindex in its namespace; vhost-vdpa: number of the device */
    char ifname[PROCFS_IFNAME_SIZE]; /* tap only */
};
/* Fills at most max entries, ascending by fd; *truncated when there were more. Needs the rights of ptrace. */
enum procfs_result procfs_list_netfds(int rootfd, pid_t pid, struct procfs_netfd *out, size_t max,
                                      size_t *count, bool *truncated);

/* ---- one thread, read again and again ---- */

/* Keeps schedstat open (0.7 us a read against 4.7), and stat when asked to. A descriptor each: raise
 * RLIMIT_NOFILE before hundreds. The identity is pid, tid and start time, so a reused tid reads as GONE. */
struct procfs_thread {
    int rootfd; /* borrowed */
    pid_t pid;
    pid_t tid;
    uint64_t start_ticks;
    int schedstat_fd; /* -1: the kernel has no schedstat */
    int stat_fd;      /* -1: opened at each read */
};
/* On OK *first is the thread's stat, and procfs_thread_close is due; otherwise nothing is held. */
enum procfs_result procfs_thread_open(struct procfs_thread *t, int rootfd, pid_t pid, pid_t tid,
                                      bool keep_stat, struct procfs_stat *first);
enum procfs_result procfs_thread_schedstat(const struct procfs_thread *t, struct procfs_schedstat *out);
enum procfs_result procfs_thread_stat(const struct procfs_thread *t, struct procfs_stat *out);
/* status does not carry the start time: believe it only beside a stat that was OK. */
enum procfs_result procfs_thread_status(const struct procfs_thread *t, struct procfs_status *out);
void procfs_thread_close(struct procfs_thread *t);

#endif
