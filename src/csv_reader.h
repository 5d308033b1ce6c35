/* SPDX-License-Identifier: MIT */
/*
 * Reads CSV back, record by record: RFC 4180 with LF or CRLF, strict, and bounded whatever the file holds. It
 * knows fields, not what they mean: tables and units are the caller's, who ignores columns it does not know.
 *
 * A recording may end anywhere, when its writer or machine did. A last line without its line end is therefore
 * torn: it is read past, and said. So are zero bytes at the end, which file systems leave after a power cut.
 */
#ifndef VNETTOP_CSV_READER_H
#define VNETTOP_CSV_READER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CSV_RECORD_MAX (1 << 20) /* bytes of one record */
#define CSV_FIELDS_MAX 4096

/* Fills at most size bytes; returns how many, 0 at the end, -1 with errno. */
typedef ssize_t csv_read_fn(void *context, char *bytes, size_t size);

enum csv_result {
    CSV_RECORD,
    CSV_END,  /* all was read */
    CSV_TORN, /* all was read but a torn last line */
    CSV_BAD,  /* damaged: see csv_reader_error */
};

/* Valid until the next call. */
struct csv_record {
    size_t n;
    const char *const *fields;
    uint64_t line; /* in the file, from 1 */
};

struct csv_reader;

struct csv_reader *csv_reader_new(csv_read_fn *read, void *context);
void csv_reader_free(struct csv_reader *reader);

/* The next record. All have as many fields as the first (the header). After anything but CSV_RECORD, always
 * the same. */
enum csv_result csv_reader_next(struct csv_reader *reader, struct csv_record *record);

/* What is wrong and in which line, for CSV_BAD. */
const char *csv_reader_error(const struct csv_reader *reader);

/* The place of a name in a header, -1 when it is not there. */
int csv_record_find(const struct csv_record *header, const char *name);

#endif
