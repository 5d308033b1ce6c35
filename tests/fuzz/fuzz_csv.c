/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes the CSV reader, and the writer through it: any bytes end in a result within the bounds, the same
 * however they are cut into reads; and any text that is written as a field is read as one field of one line.
 */
#include <stdlib.h>
#include <string.h>

#include "src/csv.h"
#include "src/csv_reader.h"
#include "src/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct source {
    const uint8_t *bytes;
    size_t n, at, step;
};

static ssize_t read_source(void *context, char *bytes, size_t size)
{
    struct source *source = context;
    size_t n = source->n - source->at;
    n = n < source->step ? n : source->step;
    n = n < size ? n : size;
    if (n)
        memcpy(bytes, source->bytes + source->at, n);
    source->at += n;
    return (ssize_t)n;
}

static void require(int holds)
{
    if (!holds)
        abort();
}

/* A number made of all that was read. */
static uint64_t digest(const uint8_t *data, size_t size, size_t step)
{
    struct source source = {data, size, 0, step};
    struct csv_reader *reader = csv_reader_new(read_source, &source);
    struct csv_record record;
    uint64_t sum = 0;
    size_t n_header = 0;
    enum csv_result result;
    while ((result = csv_reader_next(reader, &record)) == CSV_RECORD) {
        require(record.n > 0 && record.n <= CSV_FIELDS_MAX);
        require(n_header == 0 || record.n == n_header);
        n_header = record.n;
        size_t bytes = 0;
        for (size_t i = 0; i < record.n; i++) {
            sum = sum * 31 + hash_text(record.fields[i]);
            bytes += strlen(record.fields[i]) + 1;
        }
        require(bytes <= CSV_RECORD_MAX);
        sum = sum * 31 + record.line;
    }
    require((result == CSV_BAD) == (csv_reader_error(reader)[0] != '\0'));
    sum = sum * 31 + hash_text(csv_reader_error(reader));
    csv_reader_free(reader);
    return sum * 31 + result;
}

static void round_trip(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    struct csv_out out = {0};
    csv_put_text(&out, text);
    csv_put_f64(&out, 0); /* makes room, and its digit the line end */
    out.data[out.n - 1] = '\n';
    struct source source = {(const uint8_t *)out.data, out.n, 0, 4096};
    struct csv_reader *reader = csv_reader_new(read_source, &source);
    struct csv_record record;
    if (out.n < CSV_RECORD_MAX) {
        require(csv_reader_next(reader, &record) == CSV_RECORD && record.n == 1);
        size_t taken;
        for (const char *c = record.fields[0]; *c; c += taken)
            require(utf8_decode(c, UTF8_MAX, &taken) != UTF8_INVALID && (unsigned char)*c >= 0x20 &&
                    *c != 0x7f);
        require(csv_reader_next(reader, &record) == CSV_END);
    }
    csv_reader_free(reader);
    csv_out_free(&out);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t whole = digest(data, size, SIZE_MAX);
    require(digest(data, size, 1) == whole);
    require(digest(data, size, 5) == whole);
    round_trip(data, size);
    return 0;
}
