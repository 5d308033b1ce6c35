/* SPDX-License-Identifier: MIT */
/*
 * Recordings on real files: what stands in the folder, which folders are refused, a full disk, a file size
 * limit, no descriptors left, a read-only file system, and an end at every byte. What needs root or
 * namespaces is skipped without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/csv_reader.h"
#include "src/recording.h"

#define SECOND  INT64_C(1000000000)
#define ERROR_N 512
#define SKIPPED 77

/* A temporary folder; the recording is made below it. */
struct place {
    char base[64], dir[80], file[160];
};

static void place_new(struct place *place)
{
    strcpy(place->base, "/tmp/vnettop-recording-XXXXXX");
    assert_non_null(mkdtemp(place->base));
    snprintf(place->dir, sizeof(place->dir), "%s/run", place->base);
}

static const char *path_in(struct place *place, const char *name)
{
    snprintf(place->file, sizeof(place->file), "%s/%s", place->dir, name);
    return place->file;
}

static void empty_folder(const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
}

static void place_free(struct place *place)
{
    empty_folder(place->dir);
    rmdir(place->dir);
    empty_folder(place->base);
    assert_int_equal(rmdir(place->base), 0);
}

/* A frame of n ports and some sources, at second t. */
static struct frame *frame_of(unsigned t, unsigned n, unsigned sources)
{
    struct inventory *inventory = inventory_new();
    struct sample *sample = sample_new(inventory);
    sample->t0_ns = sample->t1_ns = t * SECOND;
    for (unsigned i = 0; i < n; i++) {
        struct ports_info *info = inventory_info(inventory, TABLE_PORTS, "%u", i);
        info_set(info, ifindex, i);
        info_set(info, name, inventory_textf(inventory, "port,\"%u\"", i));
        struct ports_row *row = sample_row(sample, TABLE_PORTS, info);
        row_set(row, rx_packets, 1000000 * (uint64_t)t + i);
    }
    for (unsigned i = 0; i < sources; i++) {
        struct sources_info *info = inventory_info(inventory, TABLE_SOURCES, "%u", i);
        info_set(info, name, "netlink");
        struct sources_row *row = sample_row(sample, TABLE_SOURCES, info);
        row_set(row, state, "ok");
    }
    struct pair pair = {.feed = "test", .cur = sample};
    struct frame *frame = frame_new(&pair, 1, t * SECOND, t * SECOND, 0);
    sample_unref(sample);
    inventory_unref(inventory);
    return frame;
}

static struct frame *frame_at(unsigned t, unsigned n)
{
    return frame_of(t, n, 1);
}

static int write_frame(struct recording *recording, unsigned t, unsigned n, char *error)
{
    struct frame *frame = frame_at(t, n);
    int result = recording_write(recording, frame, error, ERROR_N);
    frame_free(frame);
    return result;
}

static const struct recording_plan usual = {.tables = RECORDING_TABLES};

static ssize_t read_fd(void *context, char *bytes, size_t size)
{
    return read(*(int *)context, bytes, size);
}

/* What a file's rows say: frames are of n rows, at elapsed 1, 2, 3, ... */
struct content {
    enum csv_result end;
    unsigned rows;
};

static struct content read_ports(const char *path, unsigned n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    struct csv_reader *reader = csv_reader_new(read_fd, &fd);
    struct csv_record record;
    struct content content = {.end = csv_reader_next(reader, &record)};
    int name = content.end == CSV_RECORD ? csv_record_find(&record, "name") : -1;
    int elapsed = content.end == CSV_RECORD ? csv_record_find(&record, "elapsed_s") : -1;
    while (content.end == CSV_RECORD && (content.end = csv_reader_next(reader, &record)) == CSV_RECORD) {
        char expected[40];
        snprintf(expected, sizeof(expected), "port,\"%u\"", content.rows % n);
        assert_string_equal(record.fields[name], expected);
        snprintf(expected, sizeof(expected), "%u.000000000", content.rows / n + 1);
        assert_string_equal(record.fields[elapsed], expected);
        content.rows++;
    }
    csv_reader_free(reader);
    close(fd);
    return content;
}

static json_t *read_meta(struct place *place)
{
    json_t *json = json_load_file(path_in(place, "meta.json"), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    return json;
}

static void test_folder(void **state)
{
    (void)state;
    struct place place;
    char error[ERROR_N] = "";
    place_new(&place);
    struct meta *meta = meta_new(NULL, 1);
    meta_set_start(meta, 0, 0);
    struct recording *recording = recording_open(place.dir, meta, &usual, error, sizeof(error));
    assert_non_null(recording);
    json_t *json = read_meta(&place);
    assert_true(json_is_null(json_object_get(json, "end")));
    json_decref(json);
    struct stat st;
    for (enum table_id id = 0; id < TABLES_N; id++) {
        char name[64];
        snprintf(name, sizeof(name), "%s.csv", table_get(id)->name);
        int found = stat(path_in(&place, name), &st);
        assert_int_equal(found, id == TABLE_COUNTERS ? -1 : 0);
        assert_true(found < 0 || (st.st_size > 0 && !(st.st_mode & 0133)));
    }
    assert_int_equal(write_frame(recording, 1, 2, error), 0);
    assert_int_equal(write_frame(recording, 2, 2, error), 0);
    struct content content = read_ports(path_in(&place, "ports.csv"), 2);
    assert_true(content.end == CSV_END && content.rows == 4);
    assert_int_equal(recording_close(recording, 0, error, sizeof(error)), 0);
    json = read_meta(&place);
    assert_int_equal(json_integer_value(json_object_get(json, "frames")), 2);
    assert_int_equal(json_integer_value(json_object_get(json, "exit_status")), 0);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(json, "end"), "monotonic_ns")),
                     2 * SECOND);
    assert_int_equal(json_array_size(json_object_get(json, "sources")), 1);
    assert_int_equal(json_array_size(json_object_get(json, "tables")), TABLES_N - 1);
    json_decref(json);
    assert_int_equal(stat(path_in(&place, "meta.json.new"), &st), -1);
    meta_free(meta);
    place_free(&place);
}

/* A pin that changes in the second frame, of three in three seconds, is in the map. */
static void test_pins_are_the_newest(void **state)
{
    (void)state;
    static const char *const pins[] = {"0", "1", "1"};
    struct place place;
    char error[ERROR_N] = "";
    place_new(&place);
    struct meta *written = meta_new(NULL, 1);
    struct recording *recording = recording_open(place.dir, written, &usual, error, sizeof(error));
    assert_non_null(recording);
    struct inventory *inventories[3]; /* all alive, as those of a changed source are for a while */
    for (unsigned t = 0; t < 3; t++) {
        inventories[t] = t == 2 ? inventory_ref(inventories[1]) : inventory_new();
        struct threads_info *info = inventory_info(inventories[t], TABLE_THREADS, "vm:1/vcpu/0");
        info_set(info, pinned_cpus, pins[t]);
        struct sample *sample = sample_new(inventories[t]);
        sample_row(sample, TABLE_THREADS, info);
        struct pair pair = {.feed = "libvirt", .cur = sample};
        struct frame *frame = frame_new(&pair, 1, (t + 1) * SECOND, (t + 1) * SECOND, 0);
        assert_int_equal(recording_write(recording, frame, error, sizeof(error)), 0);
        frame_free(frame);
        sample_unref(sample);
    }
    for (unsigned t = 0; t < 3; t++)
        inventory_unref(inventories[t]);
    assert_int_equal(recording_close(recording, 0, error, sizeof(error)), 0);
    json_t *meta = read_meta(&place), *pin = json_array_get(json_object_get(meta, "pin_map"), 0);
    assert_string_equal(json_string_value(json_object_get(pin, "pinned_cpus")), "1");
    json_decref(meta);
    meta_free(written);
    place_free(&place);
}

static void assert_refused(struct place *place, const char *why)
{
    char error[ERROR_N] = "";
    struct meta *meta = meta_new(NULL, 1);
    assert_null(recording_open(place->dir, meta, &usual, error, sizeof(error)));
    if (!strstr(error, why) || !strstr(error, place->dir))
        fail_msg("\"%s\" lacks \"%s\" or the folder", error, why);
    meta_free(meta);
}

static void touch(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

static void test_refused_folders(void **state)
{
    (void)state;
    struct place place;
    place_new(&place);
    touch(place.dir);
    assert_refused(&place, "Not a directory: choose a folder");
    unlink(place.dir);
    mkdir(place.dir, 0755);
    touch(path_in(&place, "notes.txt"));
    assert_refused(&place, "other files in it");
    touch(path_in(&place, "meta.json"));
    assert_refused(&place, "holds a recording already");
    assert_int_equal(access(path_in(&place, "notes.txt"), F_OK), 0);
    empty_folder(place.dir);
    struct meta *meta = meta_new(NULL, 1); /* empty now: accepted */
    char error[ERROR_N];
    struct recording *recording = recording_open(place.dir, meta, &usual, error, sizeof(error));
    assert_non_null(recording);
    assert_refused(&place, "holds a recording already");
    assert_int_equal(recording_close(recording, 0, error, sizeof(error)), 0);
    meta_free(meta);
    char base[sizeof(place.dir)];
    snprintf(base, sizeof(base), "%s", place.dir);
    snprintf(place.dir, sizeof(place.dir), "%s/none/run", place.base);
    assert_refused(&place, "No such file or directory: create the folder above it first");
    snprintf(place.dir, sizeof(place.dir), "%s", base);
    place_free(&place);
}

/* Of a long path the end is shown: cause and mend are not what is cut off. */
static void test_long_folder_is_refused_in_words(void **state)
{
    (void)state;
    char dir[600], error[256];
    snprintf(dir, sizeof(dir), "/dev/null/%0500d/run", 0);
    struct meta *meta = meta_new(NULL, 1);
    assert_null(recording_open(dir, meta, &usual, error, sizeof(error)));
    meta_free(meta);
    assert_non_null(strstr(error, "cannot create folder ...0"));
    assert_non_null(strstr(error, "0/run: Not a directory: choose a folder"));
}

static void test_counters_when_asked_for(void **state)
{
    (void)state;
    struct place place;
    char error[ERROR_N];
    place_new(&place);
    struct meta *meta = meta_new(NULL, 1);
    struct recording_plan plan = {.tables = RECORDING_TABLE(TABLE_COUNTERS)};
    struct frame *frame = frame_at(1, 1);
    assert_int_equal(recording_snapshot(place.dir, meta, &plan, frame, error, sizeof(error)), 0);
    assert_int_equal(access(path_in(&place, "counters.csv"), F_OK), 0);
    assert_int_equal(access(path_in(&place, "ports.csv"), F_OK), -1);
    frame_free(frame);
    meta_free(meta);
    place_free(&place);
}

static void test_print(void **state)
{
    (void)state;
    char *text = NULL, error[ERROR_N];
    size_t n = 0;
    FILE *stream = open_memstream(&text, &n);
    struct frame *frame = frame_at(1, 1);
    assert_int_equal(recording_print(stream, TABLE_SOURCES, NULL, frame, error, sizeof(error)), 0);
    assert_memory_equal(text, "time,elapsed_s,name,state,", 26);
    assert_non_null(strstr(text, "\n1970-01-01T00:00:01.000Z,1.000000000,netlink,ok,"));
    fclose(stream);
    free(text);
    stream = fopen("/dev/full", "w");
    assert_int_equal(recording_print(stream, TABLE_SOURCES, NULL, frame, error, sizeof(error)), -1);
    assert_non_null(strstr(error, "standard output: No space left on device"));
    fclose(stream);
    frame_free(frame);
}

/* Cut at every byte: never damaged, and no frame is lost that was whole before the cut. */
static void test_end_at_every_byte(void **state)
{
    (void)state;
    enum { FRAMES = 3, PORTS = 2 };
    struct place place;
    char error[ERROR_N];
    place_new(&place);
    struct meta *meta = meta_new(NULL, 1);
    struct recording *recording = recording_open(place.dir, meta, &usual, error, sizeof(error));
    off_t ends[FRAMES + 1];
    for (unsigned t = 0; t <= FRAMES; t++) {
        struct stat st;
        assert_true(t == 0 || write_frame(recording, t, PORTS, error) == 0);
        assert_int_equal(stat(path_in(&place, "ports.csv"), &st), 0);
        ends[t] = st.st_size;
    }
    assert_int_equal(recording_close(recording, 0, error, sizeof(error)), 0);
    for (off_t size = ends[FRAMES]; size-- > 0;) {
        assert_int_equal(truncate(path_in(&place, "ports.csv"), size), 0);
        struct content content = read_ports(place.file, PORTS);
        assert_true(content.end == CSV_END || content.end == CSV_TORN);
        unsigned whole = 0;
        while (whole < FRAMES && size >= ends[whole + 1])
            whole++;
        assert_true(content.rows >= whole * PORTS);
        assert_true(size >= ends[0] || content.rows == 0);
    }
    meta_free(meta);
    place_free(&place);
}

static void record_until_killed(const char *dir)
{
    char error[ERROR_N];
    struct recording *recording = recording_open(dir, meta_new(NULL, 1), &usual, error, sizeof(error));
    for (unsigned t = 1; recording && write_frame(recording, t, 5, error) == 0; t++)
        ;
    _exit(1);
}

static off_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) < 0 ? 0 : st.st_size;
}

/* A writer that is killed while it writes leaves whole frames, and at most one torn at the end. */
static void test_killed(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 10; round++) {
        struct place place;
        place_new(&place);
        pid_t pid = fork();
        if (pid == 0)
            record_until_killed(place.dir);
        while (size_of(path_in(&place, "ports.csv")) < 3000 + 777 * (off_t)round)
            assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        struct content content = read_ports(path_in(&place, "ports.csv"), 5);
        assert_true(content.end == CSV_END || content.end == CSV_TORN);
        assert_true(content.rows > 0);
        json_t *json = read_meta(&place);
        assert_true(json_is_null(json_object_get(json, "end")));
        json_decref(json);
        place_free(&place);
    }
}

/* Writes until it fails; checks the message and that whole frames are left. */
static void assert_fails_cleanly(struct place *place, unsigned ports, const char *why)
{
    char error[ERROR_N] = "";
    struct meta *meta = meta_new(NULL, 1);
    struct recording *recording = recording_open(place->dir, meta, &usual, error, sizeof(error));
    if (!recording)
        fail_msg("%s", error);
    unsigned t = 1;
    while (write_frame(recording, t, ports, error) == 0 && t < 100000)
        t++;
    char expected[128];
    snprintf(expected, sizeof(expected), "cannot write %s/ports.csv: %s", place->dir, why);
    assert_non_null(strstr(error, expected));
    struct content content = read_ports(path_in(place, "ports.csv"), ports);
    assert_int_equal(content.end, CSV_END);
    assert_int_equal(content.rows, (t - 1) * ports);
    assert_true(t > 1);
    /* A smaller frame fits, and goes where the failed one was. */
    off_t before = size_of(path_in(place, "ports.csv"));
    assert_int_equal(write_frame(recording, t, 0, error), 0);
    assert_int_equal(size_of(path_in(place, "ports.csv")), before);
    recording_close(recording, 2, error, sizeof(error));
    assert_int_equal(read_ports(path_in(place, "ports.csv"), ports).end, CSV_END);
    json_t *json = read_meta(place);
    json_decref(json);
    meta_free(meta);
}

static void test_file_size_limit(void **state)
{
    (void)state;
    struct place place;
    place_new(&place);
    struct rlimit old, low;
    getrlimit(RLIMIT_FSIZE, &old);
    low = (struct rlimit){40000, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &low);
    assert_fails_cleanly(&place, 20, "File too large: raise the limit of file sizes (ulimit -f)");
    setrlimit(RLIMIT_FSIZE, &old);
    place_free(&place);
}

/* The last table fails after the first was written: the first loses that frame too. */
static void test_later_table_fails(void **state)
{
    (void)state;
    struct place place;
    char error[ERROR_N];
    place_new(&place);
    struct meta *meta = meta_new(NULL, 1);
    struct recording *recording = recording_open(place.dir, meta, &usual, error, sizeof(error));
    assert_int_equal(write_frame(recording, 1, 2, error), 0);
    struct rlimit old, low;
    getrlimit(RLIMIT_FSIZE, &old);
    low = (struct rlimit){20000, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &low);
    struct frame *frame = frame_of(2, 2, 1000);
    assert_int_equal(recording_write(recording, frame, error, sizeof(error)), -1);
    frame_free(frame);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_non_null(strstr(error, "sources.csv: File too large"));
    assert_int_equal(read_ports(path_in(&place, "ports.csv"), 2).rows, 2);
    assert_int_equal(write_frame(recording, 2, 2, error), 0);
    assert_int_equal(recording_close(recording, 0, error, sizeof(error)), 0);
    struct content content = read_ports(path_in(&place, "ports.csv"), 2);
    assert_true(content.rows == 4 && content.end == CSV_END);
    json_t *json = read_meta(&place);
    assert_int_equal(json_integer_value(json_object_get(json, "frames")), 2);
    json_decref(json);
    meta_free(meta);
    place_free(&place);
}

static void test_no_descriptors(void **state)
{
    (void)state;
    struct place place;
    place_new(&place);
    struct rlimit old, low;
    getrlimit(RLIMIT_NOFILE, &old);
    int next = dup(0); /* the lowest free number */
    close(next);
    for (int spare = 0; spare < TABLES_N; spare++) {
        low = (struct rlimit){(rlim_t)(next + spare), old.rlim_max};
        setrlimit(RLIMIT_NOFILE, &low);
        assert_refused(&place, "Too many open files: raise the limit of open files (ulimit -n)");
        assert_int_equal(access(place.dir, F_OK), -1); /* nothing left behind */
    }
    setrlimit(RLIMIT_NOFILE, &old);
    place_free(&place);
}

/* Runs check on a tmpfs of its own mounted at place->base, in a child; skips where that may not be. */
static void on_tmpfs(unsigned long flags, const char *options, void (*check)(struct place *place))
{
    struct place place;
    place_new(&place);
    pid_t pid = fork();
    if (pid == 0) {
        if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("none", place.base, "tmpfs", flags, options) < 0)
            _exit(SKIPPED);
        check(&place);
        _exit(0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    place_free(&place);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
        skip();
    assert_int_equal(status, 0);
}

static void check_full_disk(struct place *place)
{
    assert_fails_cleanly(place, 20, "No space left on device: free some space there");
}

static void test_full_disk(void **state)
{
    (void)state;
    on_tmpfs(0, "size=128k", check_full_disk);
}

static void check_read_only(struct place *place)
{
    assert_refused(place,
                   "Read-only file system: it is mounted read-only: choose a folder that can be written");
}

static void test_read_only(void **state)
{
    (void)state;
    on_tmpfs(MS_RDONLY, "size=64k", check_read_only);
}

/* root may write anywhere: an ordinary user's child tries. */
static void test_not_permitted(void **state)
{
    (void)state;
    struct place place;
    place_new(&place);
    chmod(place.base, 0555);
    pid_t pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
            _exit(SKIPPED);
        assert_refused(&place, "Permission denied: choose a folder that you may write to");
        _exit(0);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    chmod(place.base, 0755);
    place_free(&place);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
        skip();
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_pins_are_the_newest),
        cmocka_unit_test(test_refused_folders),
        cmocka_unit_test(test_long_folder_is_refused_in_words),
        cmocka_unit_test(test_counters_when_asked_for),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_end_at_every_byte),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_file_size_limit),
        cmocka_unit_test(test_later_table_fails),
        cmocka_unit_test(test_no_descriptors),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_not_permitted),
    };
    return cmocka_run_group_tests_name("recording", tests, NULL, NULL);
}
