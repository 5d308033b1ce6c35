/* SPDX-License-Identifier: MIT */
/*
 * Recordings (see recording.h). Each file is written at an offset of our own, the end of the last whole
 * frame, so a failed frame is undone by cutting and forgetting.
 */
#include "src/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/memory.h"

static_assert(TABLES_N < 64, "one bit a table in recording_plan");

#define META_NAME     "meta.json"
#define META_NEW_NAME "meta.json.new"
#define NAME_ROOM     64

struct table_file {
    int fd;
    enum table_id id;
    struct csv_table *csv;
    off_t whole; /* end of the last whole frame */
};

#define PINS_EVERY_NS INT64_C(5000000000) /* pins change rarely, and a map of 400 threads is not free */

struct recording {
    char *dir;
    int dir_fd;
    bool made_dir;
    struct meta *meta;
    struct csv_out out; /* one table's text, reused */
    uint64_t frames;
    int64_t pins_ns;  /* when the pin map was taken last */
    uint64_t pins_of; /* and of which inventories: a pin that changes makes a new one */
    int64_t last_mono_ns, last_wall_ns;
    size_t n_files;
    struct table_file files[TABLES_N];
};

/* What to do about an errno. */
static const struct {
    int code;
    const char *mend;
} mends[] = {
    {ENOSPC, "free some space there, or record elsewhere"},
    {EDQUOT, "your quota is used up: free some space, or record elsewhere"},
    {EFBIG, "raise the limit of file sizes (ulimit -f)"},
    {EROFS, "it is mounted read-only: choose a folder that can be written"},
    {EACCES, "choose a folder that you may write to"},
    {EPERM, "choose a folder that you may write to"},
    {EMFILE, "raise the limit of open files (ulimit -n)"},
    {ENFILE, "raise the host's limit of open files (fs.file-max)"},
    {ENOENT, "create the folder above it first"},
    {ENOTDIR, "choose a folder"},
    {EEXIST, "something else writes there: choose another folder"},
    {ELOOP, "it is a symbolic link: choose another folder"},
    {EIO, "look at the disk (dmesg), or record elsewhere"},
    {EPIPE, "the reader has gone"},
};

static const char *mend_of(int code)
{
    for (size_t i = 0; i < sizeof(mends) / sizeof(mends[0]); i++)
        if (mends[i].code == code)
            return mends[i].mend;
    return "choose another folder";
}

/* The end of a path that would leave no room for cause and mend. */
static const char *path_end(const char *path, size_t room)
{
    size_t n = strlen(path);
    if (n <= room)
        return path;
    path += n - room;
    while (((unsigned char)*path & 0xc0) == 0x80) /* no half character */
        path++;
    return path;
}

/* "cannot write DIR/ports.csv: No space left on device: free some space there, ..."; returns -1. */
static int fail(char *error, size_t size, const char *verb, const char *dir, const char *name, int code)
{
    const char *end = path_end(dir, size / 3);
    const char *slash = *dir && *name ? "/" : "";
    snprintf(error, size, "cannot %s %s%s%s%s: %s: %s", verb, end == dir ? "" : "...", end, slash, name,
             strerror(code), mend_of(code));
    return -1;
}

/* name.csv of a table. */
static const char *file_name(char name[NAME_ROOM], enum table_id id)
{
    snprintf(name, NAME_ROOM, "%s.csv", table_get(id)->name);
    return name;
}

/* 0, or an errno. */
static int write_all(int fd, const char *bytes, size_t n, off_t at)
{
    while (n > 0) {
        ssize_t wrote = pwrite(fd, bytes, n, at);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return wrote < 0 ? errno : EIO;
        bytes += wrote;
        n -= (size_t)wrote;
        at += wrote;
    }
    return 0;
}

/* What stands in the folder: its first entry's name, or that of a recording's meta.json; empty when nothing.
 */
static int look_into(int dir_fd, char name[NAME_ROOM])
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        int code = errno;
        if (fd >= 0)
            close(fd);
        return code;
    }
    name[0] = '\0';
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (!name[0] || strcmp(entry->d_name, META_NAME) == 0)
            snprintf(name, NAME_ROOM, "%.*s", NAME_ROOM - 1, entry->d_name);
    }
    closedir(dir);
    return 0;
}

static int check_empty(const struct recording *recording, char *error, size_t size)
{
    char found[NAME_ROOM];
    int code = look_into(recording->dir_fd, found);
    if (code)
        return fail(error, size, "read folder", recording->dir, "", code);
    if (strcmp(found, META_NAME) == 0)
        snprintf(error, size, "%s holds a recording already: choose a new folder, or remove that one",
                 recording->dir);
    else if (found[0])
        snprintf(error, size, "%s is a folder with other files in it: choose a new or empty folder",
                 recording->dir);
    return found[0] ? -1 : 0;
}

static int open_folder(struct recording *recording, char *error, size_t size)
{
    const char *dir = recording->dir;
    recording->made_dir = mkdir(dir, 0755) == 0;
    if (!recording->made_dir && errno != EEXIST)
        return fail(error, size, "create folder", dir, "", errno);
    recording->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (recording->dir_fd < 0)
        return fail(error, size, "open folder", dir, "", errno);
    return recording->made_dir ? 0 : check_empty(recording, error, size);
}

static int open_file(struct recording *recording, enum table_id id, const struct csv_selection *selection,
                     char *error, size_t size)
{
    char name[NAME_ROOM];
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(recording->dir_fd, file_name(name, id), flags, 0644);
    if (fd < 0)
        return fail(error, size, "create", recording->dir, name, errno);
    struct table_file *file = &recording->files[recording->n_files++];
    *file = (struct table_file){.fd = fd, .id = id, .csv = csv_table_new(id, selection)};
    recording->out.n = 0;
    csv_put_header(file->csv, &recording->out);
    int code = write_all(fd, recording->out.data, recording->out.n, 0);
    file->whole = (off_t)recording->out.n;
    return code ? fail(error, size, "write", recording->dir, name, code) : 0;
}

/* Opens the plan's tables, `sources` last. */
static int open_files(struct recording *recording, const struct recording_plan *plan, char *error,
                      size_t size)
{
    for (unsigned step = 0; step <= TABLES_N; step++) {
        enum table_id id = step < TABLES_N ? step : TABLE_SOURCES;
        if (!(plan->tables & RECORDING_TABLE(id)) || (step < TABLES_N && id == TABLE_SOURCES))
            continue;
        const struct csv_selection *selection = plan->selection ? plan->selection[id] : NULL;
        if (open_file(recording, id, selection, error, size) < 0)
            return -1;
    }
    enum table_id ids[TABLES_N];
    for (size_t i = 0; i < recording->n_files; i++)
        ids[i] = recording->files[i].id;
    meta_set_tables(recording->meta, ids, recording->n_files);
    return 0;
}

/* 0, or an errno. */
static int write_new_meta(int dir_fd, const char *text)
{
    int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir_fd, META_NEW_NAME, flags, 0644);
    if (fd < 0)
        return errno;
    int code = write_all(fd, text, strlen(text), 0);
    if (!code && fsync(fd) < 0)
        code = errno;
    if (close(fd) < 0 && !code)
        code = errno;
    return code;
}

static int write_meta(const struct recording *recording, char *error, size_t size)
{
    char *text = meta_text(recording->meta);
    int code = text ? write_new_meta(recording->dir_fd, text) : ENOMEM;
    free(text);
    if (!code && renameat(recording->dir_fd, META_NEW_NAME, recording->dir_fd, META_NAME) < 0)
        code = errno;
    if (!code)
        return 0;
    unlinkat(recording->dir_fd, META_NEW_NAME, 0);
    return fail(error, size, "write", recording->dir, META_NAME, code);
}

static void free_recording(struct recording *recording)
{
    for (size_t i = 0; i < recording->n_files; i++) {
        if (recording->files[i].fd >= 0)
            close(recording->files[i].fd);
        csv_table_free(recording->files[i].csv);
    }
    if (recording->dir_fd >= 0)
        close(recording->dir_fd);
    csv_out_free(&recording->out);
    free(recording->dir);
    free(recording);
}

/* Removes what recording_open made before it failed. */
static void undo_open(struct recording *recording)
{
    char name[NAME_ROOM];
    for (size_t i = 0; i < recording->n_files; i++)
        unlinkat(recording->dir_fd, file_name(name, recording->files[i].id), 0);
    if (recording->made_dir)
        rmdir(recording->dir);
    free_recording(recording);
}

struct recording *recording_open(const char *dir, struct meta *meta, const struct recording_plan *plan,
                                 char *error, size_t error_size)
{
    struct recording *recording = xzalloc(sizeof(*recording));
    recording->dir = xstrdup(dir);
    recording->dir_fd = -1;
    recording->meta = meta;
    if (open_folder(recording, error, error_size) < 0 || open_files(recording, plan, error, error_size) < 0 ||
        write_meta(recording, error, error_size) < 0) {
        undo_open(recording);
        return NULL;
    }
    return recording;
}

/* Cuts every table back to its last whole frame; false when one cannot be cut. */
static bool cut_back(struct recording *recording)
{
    bool all = true;
    for (size_t i = 0; i < recording->n_files; i++)
        all &= ftruncate(recording->files[i].fd, recording->files[i].whole) == 0;
    return all;
}

static int fail_frame(struct recording *recording, enum table_id id, int code, char *error, size_t size)
{
    char name[NAME_ROOM];
    fail(error, size, "write", recording->dir, file_name(name, id), code);
    size_t n = strlen(error);
    if (!cut_back(recording))
        snprintf(error + n, size - n, " (the torn frame at its end could not be cut off)");
    return -1;
}

static uint64_t inventories_of_threads(const struct frame *frame)
{
    uint64_t mixed = 0;
    for (size_t i = 0; i < frame->n_pairs; i++)
        if (frame->pairs[i].cur->set[TABLE_THREADS].n)
            mixed = mixed * 31 + (uintptr_t)frame->pairs[i].cur->inventory;
    return mixed;
}

static void take_pins(struct recording *recording, const struct frame *frame)
{
    uint64_t of = inventories_of_threads(frame);
    if (recording->frames > 1 && of == recording->pins_of &&
        frame->now_ns - recording->pins_ns < PINS_EVERY_NS)
        return;
    recording->pins_ns = frame->now_ns;
    recording->pins_of = of;
    meta_set_pins(recording->meta, frame);
}

int recording_write(struct recording *recording, const struct frame *frame, char *error, size_t error_size)
{
    off_t ends[TABLES_N];
    for (size_t i = 0; i < recording->n_files; i++) {
        const struct table_file *file = &recording->files[i];
        recording->out.n = 0;
        csv_put_rows(file->csv, frame, &recording->out);
        int code = write_all(file->fd, recording->out.data, recording->out.n, file->whole);
        if (code)
            return fail_frame(recording, file->id, code, error, error_size);
        ends[i] = file->whole + (off_t)recording->out.n;
    }
    for (size_t i = 0; i < recording->n_files; i++)
        recording->files[i].whole = ends[i];
    recording->frames++;
    recording->last_mono_ns = frame->now_ns;
    recording->last_wall_ns = frame->wall_ns;
    meta_set_sources(recording->meta, frame);
    take_pins(recording, frame);
    return 0;
}

/* Some file systems (NFS, quotas) say only here that there was no room. */
static int close_files(struct recording *recording, char *error, size_t size)
{
    int result = 0;
    char name[NAME_ROOM];
    for (size_t i = 0; i < recording->n_files; i++) {
        struct table_file *file = &recording->files[i];
        int code = fdatasync(file->fd) < 0 ? errno : 0;
        if (close(file->fd) < 0 && !code)
            code = errno;
        file->fd = -1;
        if (code && result == 0)
            result = fail(error, size, "write", recording->dir, file_name(name, file->id), code);
    }
    return result;
}

int recording_close(struct recording *recording, int exit_status, char *error, size_t error_size)
{
    if (!recording)
        return 0;
    int result = close_files(recording, error, error_size);
    if (recording->frames)
        meta_set_end(recording->meta, recording->last_mono_ns, recording->last_wall_ns);
    meta_set_frames(recording->meta, recording->frames);
    meta_set_exit_status(recording->meta, exit_status);
    char meta_error[1024];
    if (write_meta(recording, meta_error, sizeof(meta_error)) < 0 && result == 0) {
        snprintf(error, error_size, "%s", meta_error);
        result = -1;
    }
    free_recording(recording);
    return result;
}

int recording_snapshot(const char *dir, struct meta *meta, const struct recording_plan *plan,
                       const struct frame *frame, char *error, size_t error_size)
{
    struct recording *recording = recording_open(dir, meta, plan, error, error_size);
    if (!recording)
        return -1;
    int wrote = recording_write(recording, frame, error, error_size);
    char close_error[1024];
    if (recording_close(recording, wrote < 0 ? -1 : 0, close_error, sizeof(close_error)) < 0 && wrote == 0) {
        snprintf(error, error_size, "%s", close_error);
        wrote = -1;
    }
    return wrote;
}

int recording_print(FILE *stream, enum table_id table, const struct csv_selection *selection,
                    const struct frame *frame, char *error, size_t error_size)
{
    struct csv_out out = {0};
    struct csv_table *csv = csv_table_new(table, selection);
    csv_put_header(csv, &out);
    csv_put_rows(csv, frame, &out);
    bool wrote = fwrite(out.data, 1, out.n, stream) == out.n && fflush(stream) == 0;
    int code = errno;
    csv_table_free(csv);
    csv_out_free(&out);
    return wrote ? 0 : fail(error, error_size, "write", "standard output", "", code);
}
