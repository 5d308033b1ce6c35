/* SPDX-License-Identifier: MIT */
/*
 * The CSV reader (see csv_reader.h): a state machine over bytes, so that it does not matter how they are cut
 * into reads.
 */
#include "src/csv_reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"

#define INPUT_BYTES 65536

enum state {
    FIELD_START,
    UNQUOTED,
    QUOTED,
    AFTER_QUOTE, /* a quote in a quoted field: its end, or the first of two */
    AFTER_CR,
};

/* What a byte led to. */
enum step { GO_ON, RECORD_DONE, DAMAGED, ZEROS };

struct csv_reader {
    csv_read_fn *read;
    void *context;
    char input[INPUT_BYTES];
    size_t at, filled;
    enum state state;
    char *text; /* the record's fields, each with its NUL */
    size_t text_n, text_size;
    size_t starts[CSV_FIELDS_MAX]; /* of the fields in text */
    const char *fields[CSV_FIELDS_MAX];
    size_t n_fields, n_header;
    uint64_t line, record_line;
    bool any; /* the record has begun */
    enum csv_result end;
    char error[160];
};

struct csv_reader *csv_reader_new(csv_read_fn *read, void *context)
{
    struct csv_reader *reader = xzalloc(sizeof(*reader));
    reader->read = read;
    reader->context = context;
    reader->line = 1;
    reader->end = CSV_RECORD;
    return reader;
}

void csv_reader_free(struct csv_reader *reader)
{
    if (!reader)
        return;
    free(reader->text);
    free(reader);
}

const char *csv_reader_error(const struct csv_reader *reader)
{
    return reader->error;
}

int csv_record_find(const struct csv_record *header, const char *name)
{
    for (size_t i = 0; i < header->n; i++)
        if (strcmp(header->fields[i], name) == 0)
            return (int)i;
    return -1;
}

static enum step fail(struct csv_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static enum step fail(struct csv_reader *reader, const char *format, ...)
{
    int n = snprintf(reader->error, sizeof(reader->error), "line %llu: ", (unsigned long long)reader->line);
    va_list args;
    va_start(args, format);
    vsnprintf(reader->error + n, sizeof(reader->error) - (size_t)n, format, args);
    va_end(args);
    return DAMAGED;
}

static enum step keep_byte(struct csv_reader *reader, char c)
{
    if (reader->text_n == CSV_RECORD_MAX)
        return fail(reader, "a record of more than %d bytes", CSV_RECORD_MAX);
    if (reader->text_n == reader->text_size) {
        reader->text_size = reader->text_size ? reader->text_size * 2 : 4096;
        reader->text = xrealloc(reader->text, reader->text_size, 1);
    }
    reader->text[reader->text_n++] = c;
    return GO_ON;
}

static enum step begin_field(struct csv_reader *reader)
{
    if (reader->n_fields == CSV_FIELDS_MAX)
        return fail(reader, "more than %d fields", CSV_FIELDS_MAX);
    reader->starts[reader->n_fields++] = reader->text_n;
    return GO_ON;
}

static enum step end_field(struct csv_reader *reader)
{
    reader->state = FIELD_START;
    return keep_byte(reader, '\0');
}

/* A separator or line end behind a field, in whatever state allows one. */
static enum step after_field(struct csv_reader *reader, char c)
{
    if (c == '\r') {
        reader->state = AFTER_CR;
        return GO_ON;
    }
    enum step step = end_field(reader);
    if (step != GO_ON || c == ',')
        return step == GO_ON ? begin_field(reader) : step;
    return RECORD_DONE;
}

static enum step unquoted(struct csv_reader *reader, char c)
{
    if (c == '"')
        return fail(reader, "a quote inside a field that is not quoted");
    reader->state = UNQUOTED;
    return keep_byte(reader, c);
}

static enum step quoted(struct csv_reader *reader, char c)
{
    if (c != '"')
        return keep_byte(reader, c);
    reader->state = AFTER_QUOTE;
    return GO_ON;
}

static enum step take_byte(struct csv_reader *reader, char c)
{
    bool separator = c == ',' || c == '\r' || c == '\n';
    if (c == '\0')
        return ZEROS;
    switch (reader->state) {
    case FIELD_START:
        if (c == '"') {
            reader->state = QUOTED;
            return GO_ON;
        }
        return separator ? after_field(reader, c) : unquoted(reader, c);
    case UNQUOTED:
        return separator ? after_field(reader, c) : unquoted(reader, c);
    case QUOTED:
        return quoted(reader, c);
    case AFTER_QUOTE:
        if (c == '"') {
            reader->state = QUOTED;
            return keep_byte(reader, c);
        }
        return separator ? after_field(reader, c) : fail(reader, "text behind a closing quote");
    case AFTER_CR:
        return c == '\n' ? after_field(reader, c) : fail(reader, "a carriage return without a line feed");
    }
    return DAMAGED;
}

/* More input; false at its end or when it cannot be read (then end is CSV_BAD). */
static bool fill(struct csv_reader *reader)
{
    ssize_t n;
    do
        n = reader->read(reader->context, reader->input, sizeof(reader->input));
    while (n < 0 && errno == EINTR);
    reader->at = 0;
    reader->filled = n > 0 ? (size_t)n : 0;
    if (n < 0) {
        fail(reader, "cannot read on: %s", strerror(errno));
        reader->end = CSV_BAD;
    }
    return n > 0;
}

/* Nothing but zeros to the end of the file? */
static bool rest_is_zeros(struct csv_reader *reader)
{
    do {
        for (; reader->at < reader->filled; reader->at++)
            if (reader->input[reader->at] != '\0')
                return false;
    } while (fill(reader));
    return reader->end != CSV_BAD;
}

static enum csv_result finish(struct csv_reader *reader, enum step step)
{
    if (step == ZEROS && rest_is_zeros(reader))
        return reader->end = CSV_TORN;
    if (step == ZEROS && reader->end != CSV_BAD)
        fail(reader, "a zero byte");
    return reader->end = CSV_BAD;
}

/* A spreadsheet that saved the file may have put a byte order mark before it. */
static size_t skip_mark(const struct csv_reader *reader)
{
    bool first = reader->n_header == 0;
    return first && reader->text_n > 3 && memcmp(reader->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static enum csv_result hand_over(struct csv_reader *reader, struct csv_record *record)
{
    for (size_t i = 0; i < reader->n_fields; i++)
        reader->fields[i] = reader->text + reader->starts[i];
    reader->fields[0] += skip_mark(reader);
    if (reader->n_header && reader->n_fields != reader->n_header) {
        reader->line = reader->record_line;
        fail(reader, "%zu fields where the header has %zu", reader->n_fields, reader->n_header);
        return reader->end = CSV_BAD;
    }
    reader->n_header = reader->n_fields;
    *record = (struct csv_record){reader->n_fields, reader->fields, reader->record_line};
    return CSV_RECORD;
}

static void begin_record(struct csv_reader *reader)
{
    reader->text_n = reader->n_fields = 0;
    reader->state = FIELD_START;
    reader->record_line = reader->line;
    reader->any = false;
    begin_field(reader);
}

enum csv_result csv_reader_next(struct csv_reader *reader, struct csv_record *record)
{
    if (reader->end != CSV_RECORD)
        return reader->end;
    begin_record(reader);
    for (;;) {
        if (reader->at == reader->filled && !fill(reader)) {
            if (reader->end != CSV_BAD)
                reader->end = reader->any ? CSV_TORN : CSV_END;
            return reader->end;
        }
        char c = reader->input[reader->at];
        enum step step = take_byte(reader, c);
        if (step == ZEROS || step == DAMAGED)
            return finish(reader, step);
        reader->any = true;
        reader->at++;
        reader->line += c == '\n';
        if (step == RECORD_DONE)
            return hand_over(reader, record);
    }
}
