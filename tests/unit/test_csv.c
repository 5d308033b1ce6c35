/* SPDX-License-Identifier: MIT */
/*
 * The CSV writer and reader: golden text of hand-made samples, exactness of rates, quality words, hostile
 * names, and the reader's strictness and bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/csv.h"
#include "src/csv_reader.h"
#include "src/format.h"
#include "src/select.h"

#define SECOND INT64_C(1000000000)
#define NOW    (100 * SECOND)
#define WALL   (INT64_C(1714979289) * SECOND + 123456789)
#define START  (NOW - 12 * SECOND - 5)

/* A port's two reads: info, counters before and now. */
struct reads {
    struct inventory *inventory;
    struct sample *cur, *prev;
    struct ports_info *info;
    struct ports_row *row, *before;
};

static struct reads reads_new(const char *name, int64_t interval_ns)
{
    struct reads reads = {.inventory = inventory_new()};
    reads.info = inventory_info(reads.inventory, TABLE_PORTS, "netns/%s", name);
    info_set(reads.info, netns, "");
    info_set(reads.info, ifindex, 7);
    info_set(reads.info, name, inventory_text(reads.inventory, name));
    reads.cur = sample_new(reads.inventory);
    reads.prev = sample_new(reads.inventory);
    reads.cur->t0_ns = reads.cur->t1_ns = NOW - SECOND / 4;
    reads.prev->t0_ns = reads.prev->t1_ns = reads.cur->t0_ns - interval_ns;
    reads.row = sample_row(reads.cur, TABLE_PORTS, reads.info);
    reads.before = sample_row(reads.prev, TABLE_PORTS, reads.info);
    return reads;
}

static void reads_free(struct reads *reads)
{
    sample_unref(reads->cur);
    sample_unref(reads->prev);
    inventory_unref(reads->inventory);
}

static struct pair reads_pair(const struct reads *reads)
{
    return (struct pair){.feed = "test", .cur = reads->cur, .prev = reads->prev, .stale_ns = 3 * SECOND};
}

static char *rows_text(const struct pair *pairs, size_t n, enum table_id id,
                       const struct csv_selection *selection)
{
    struct frame *frame = frame_new(pairs, n, NOW, WALL, START);
    struct csv_table *csv = csv_table_new(id, selection);
    struct csv_out out = {0};
    csv_put_rows(csv, frame, &out);
    char *text = strndup(out.n ? out.data : "", out.n);
    csv_out_free(&out);
    csv_table_free(csv);
    frame_free(frame);
    return text;
}

static void assert_rows(const struct pair *pairs, size_t n, const struct csv_selection *selection,
                        const char *expected)
{
    char *text = rows_text(pairs, n, TABLE_PORTS, selection);
    assert_string_equal(text, expected);
    free(text);
}

static const struct column *port_column(const char *key)
{
    const struct column *column = column_find(table_get(TABLE_PORTS), key);
    assert_non_null(column);
    return column;
}

/* kind, rx_packets, rx_bytes, rx_pps, rx_bps, qdisc_drop_pps */
#define CHOSEN_N 6
struct chosen {
    const struct column *columns[CHOSEN_N];
    struct csv_selection selection;
};

static void choose(struct chosen *chosen)
{
    static const char *const keys[CHOSEN_N] = {"kind",   "rx_packets", "rx_bytes",
                                               "rx_pps", "rx_bps",     "qdisc_drop_pps"};
    for (size_t i = 0; i < CHOSEN_N; i++)
        chosen->columns[i] = port_column(keys[i]);
    chosen->selection = (struct csv_selection){.columns = chosen->columns, .n_columns = CHOSEN_N};
}

#define HEAD "2024-05-06T07:08:09.123Z,12.000000005,"

static void test_golden(void **state)
{
    (void)state;
    struct chosen chosen;
    choose(&chosen);
    struct reads reads = reads_new("tap0", SECOND + 1);
    info_set(reads.info, kind, "tap");
    row_set(reads.row, rx_packets, UINT64_MAX);
    row_set(reads.before, rx_packets, UINT64_MAX - 1600);
    row_set(reads.row, rx_bytes, 0);
    row_set(reads.before, rx_bytes, 0);
    struct pair pair = reads_pair(&reads);
    assert_rows(&pair, 1, &chosen.selection,
                HEAD ",7,tap0,tap,18446744073709551615,0,1599.999998,0,,1.000000001,0.250000000,\n");
    reads_free(&reads);
}

static void test_header(void **state)
{
    (void)state;
    struct chosen chosen;
    choose(&chosen);
    struct csv_table *csv = csv_table_new(TABLE_PORTS, &chosen.selection);
    struct csv_out out = {0};
    csv_put_header(csv, &out);
    static const char expected[] = "time,elapsed_s,netns,ifindex,name,kind,rx_packets,rx_bytes,rx_pps,rx_bps,"
                                   "qdisc_drop_pps,interval_s,age_s,quality\n";
    assert_int_equal(out.n, sizeof(expected) - 1);
    assert_memory_equal(out.data, expected, out.n);
    csv_out_free(&out);
    csv_table_free(csv);
}

/* Whole columns and all tables: keys first, no name twice, every column once. */
static void test_headers_of_all_tables(void **state)
{
    (void)state;
    for (enum table_id id = 0; id < TABLES_N; id++) {
        struct csv_table *csv = csv_table_new(id, NULL);
        struct csv_out out = {0};
        csv_put_header(csv, &out);
        out.data[out.n - 1] = '\0';
        char *names[512], *rest = out.data;
        size_t n = 0;
        for (char *name; (name = strsep(&rest, ",")); n++) {
            for (size_t i = 0; i < n; i++)
                assert_string_not_equal(names[i], name);
            names[n] = name;
        }
        assert_string_equal(names[0], "time");
        assert_string_equal(names[1], "elapsed_s");
        assert_string_equal(names[n - 1], "quality");
        const struct table *table = table_get(id);
        assert_true(column_find(table, names[2])->flags & COL_KEY);
        assert_int_equal(n, table->n_columns + (column_find(table, "age_s") ? 4 : 5));
        csv_out_free(&out);
        csv_table_free(csv);
    }
}

static void test_columns_chosen_twice_and_keys(void **state)
{
    (void)state;
    const struct column *columns[] = {port_column("name"), port_column("rx_pps"), port_column("rx_pps")};
    struct csv_selection selection = {.columns = columns, .n_columns = 3};
    struct csv_table *csv = csv_table_new(TABLE_PORTS, &selection);
    struct csv_out out = {0};
    csv_put_header(csv, &out);
    out.data[out.n - 1] = '\0';
    assert_string_equal(out.data, "time,elapsed_s,netns,ifindex,name,rx_pps,interval_s,age_s,quality");
    csv_out_free(&out);
    csv_table_free(csv);
}

static bool keep_named(const struct frame *frame, const struct frame_row *row, void *context)
{
    return strcmp(frame_cell(frame, row, port_column("name")).str, context) == 0;
}

static void test_filter(void **state)
{
    (void)state;
    struct reads one = reads_new("one", SECOND), two = reads_new("two", SECOND);
    struct pair pairs[] = {reads_pair(&one), reads_pair(&two)};
    const struct column *columns[] = {port_column("name")};
    struct csv_selection selection = {
        .columns = columns, .n_columns = 1, .keep = keep_named, .context = (char[]){"two"}};
    assert_rows(pairs, 2, &selection, HEAD ",7,two,,0.250000000,\n");
    reads_free(&one);
    reads_free(&two);
}

/* As people count: vm2 before vm10. */
static void test_sort(void **state)
{
    (void)state;
    struct reads ten = reads_new("vm10", SECOND), two = reads_new("vm2", SECOND),
                 nine = reads_new("vm9", SECOND);
    struct pair pairs[] = {reads_pair(&ten), reads_pair(&two), reads_pair(&nine)};
    const struct column *columns[] = {port_column("name")};
    struct csv_selection selection = {.columns = columns, .n_columns = 1, .sort = columns[0]};
    assert_rows(pairs, 3, &selection,
                HEAD ",7,vm2,,0.250000000,\n" HEAD ",7,vm9,,0.250000000,\n" HEAD ",7,vm10,,0.250000000,\n");
    selection.descending = true;
    assert_rows(pairs, 3, &selection,
                HEAD ",7,vm10,,0.250000000,\n" HEAD ",7,vm9,,0.250000000,\n" HEAD ",7,vm2,,0.250000000,\n");
    reads_free(&ten);
    reads_free(&two);
    reads_free(&nine);
}

static void expect_filter(const char *text, const char *why)
{
    regex_t filter;
    char error[512] = "";
    int rc = filter_compile(&filter, text, error, sizeof(error));
    assert_int_equal(rc, why ? -1 : 0);
    if (why)
        assert_non_null(strstr(error, why));
    else
        regfree(&filter);
}

/* What the C library would take all memory, all stack or minutes for is refused. */
static void test_hostile_filters(void **state)
{
    (void)state;
    char long_text[20001];
    memset(long_text, '(', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    expect_filter(long_text, "longer than 1000 bytes");
    expect_filter("((((a{1,255}){1,255}){1,255}){1,255})", "repeat more than");
    expect_filter("a{1,99999999999999999999}", "repeat more than");
    expect_filter("a{255}b{255}", "repeat more than");
    expect_filter("(", "it is a POSIX extended");
    expect_filter("([0-9a-f]{2}:){5}[0-9a-f]{1,2}", NULL);
    expect_filter("[0-9]{1,3}(\\.[0-9]{1,3}){3}", NULL);
    expect_filter("^vnet{0,}x{,4}$", NULL);
}

static void test_quality(void **state)
{
    (void)state;
    struct chosen chosen;
    choose(&chosen);
    struct reads reads = reads_new("p", SECOND);
    row_set(reads.row, rx_packets, 10);
    row_set(reads.row, rx_bytes, 100);
    struct pair pair = reads_pair(&reads);
    struct pair first = pair;
    first.prev = NULL;
    assert_rows(&first, 1, &chosen.selection, HEAD ",7,p,,10,100,,,,,0.250000000,new\n");
    /* One counter was not there before. */
    row_set(reads.before, rx_packets, 4);
    assert_rows(&pair, 1, &chosen.selection, HEAD ",7,p,,10,100,6,,,1.000000000,0.250000000,new=rx_bps\n");
    /* It went back: with it the row's other rates. */
    row_set(reads.before, rx_packets, 11);
    row_set(reads.before, rx_bytes, 90);
    assert_rows(&pair, 1, &chosen.selection, HEAD ",7,p,,10,100,,,,1.000000000,0.250000000,rst\n");
    row_set(reads.before, rx_packets, 10);
    info_deny(reads.info, kind);
    row_deny(reads.row, qdisc_drops);
    assert_rows(&pair, 1, &chosen.selection,
                HEAD ",7,p,,10,100,0,80,,1.000000000,0.250000000,denied=kind+qdisc_drop_pps\n");
    pair.stale_ns = SECOND / 8;
    assert_rows(&pair, 1, &chosen.selection,
                HEAD ",7,p,,10,100,0,80,,1.000000000,0.250000000,stale denied=kind+qdisc_drop_pps\n");
    reads_free(&reads);
}

/* A slow feed's part of the row is stale or reset, the rest is not: the columns say which. */
static void test_quality_of_parts(void **state)
{
    (void)state;
    struct chosen chosen;
    choose(&chosen);
    struct reads fast = reads_new("p", SECOND), slow = reads_new("p", 5 * SECOND);
    row_set(fast.row, rx_packets, 10);
    row_set(fast.before, rx_packets, 8);
    row_set(slow.row, qdisc_drops, 10);
    row_set(slow.before, qdisc_drops, 5);
    struct pair pairs[] = {reads_pair(&fast), reads_pair(&slow)};
    pairs[1].stale_ns = SECOND / 8;
    assert_rows(pairs, 2, &chosen.selection,
                HEAD ",7,p,,10,,2,,1,1.000000000,0.250000000,stale=qdisc_drop_pps\n");
    row_set(slow.before, qdisc_drops, 11);
    assert_rows(pairs, 2, &chosen.selection,
                HEAD ",7,p,,10,,2,,,1.000000000,0.250000000,rst=qdisc_drop_pps stale=qdisc_drop_pps\n");
    reads_free(&fast);
    reads_free(&slow);
}

static uint64_t random_state = 88172645463325252u;

static uint64_t random_bits(unsigned bits)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state >> (64 - bits);
}

static double field_number(const char *line, unsigned field)
{
    while (field-- > 0)
        line = strchr(line, ',') + 1;
    char *end;
    double number = strtod(line, &end);
    assert_true(end > line && *end == ',');
    return number;
}

/* Every rate times the interval that was written rounds to the counters' difference, whatever its size. */
static void test_rates_are_exact(void **state)
{
    (void)state;
    const struct column *columns[] = {port_column("rx_pps"), port_column("rx_bps")};
    struct csv_selection selection = {.columns = columns, .n_columns = 2};
    struct csv_table *csv = csv_table_new(TABLE_PORTS, &selection);
    struct csv_out out = {0};
    for (unsigned i = 0; i < 100000; i++) {
        int64_t interval_ns = 1000000 + (int64_t)random_bits(1 + random_bits(5) + 11);
        uint64_t packets = random_bits(1 + (unsigned)random_bits(16) % 50);
        uint64_t bytes = random_bits(1 + (unsigned)random_bits(16) % 48), base = random_bits(60);
        struct reads reads = reads_new("p", interval_ns);
        row_set(reads.row, rx_packets, base + packets);
        row_set(reads.before, rx_packets, base);
        row_set(reads.row, rx_bytes, base + bytes);
        row_set(reads.before, rx_bytes, base);
        struct pair pair = reads_pair(&reads);
        struct frame *frame = frame_new(&pair, 1, NOW, WALL, START);
        out.n = 0;
        csv_put_rows(csv, frame, &out);
        out.data[out.n - 1] = '\0';
        double interval_s = field_number(out.data, 7);
        assert_true(llrint(interval_s * 1e9) == interval_ns);
        assert_true(llrint(field_number(out.data, 5) * interval_s) == (int64_t)packets);
        assert_true(llrint(field_number(out.data, 6) * interval_s / 8) == (int64_t)bytes);
        frame_free(frame);
        reads_free(&reads);
    }
    csv_out_free(&out);
    csv_table_free(csv);
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "0"},
        {1, "1"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {100, "100"},
        {99.99999999, "100"},
        {0.9999999999, "1"},
        {1.0 / 3, "0.333333333"},
        {1e6 / 3, "333333.333333"},
        {-1.4e-14, "0"},
        {0.000277777777, "0.000277778"},
        {9007199254740991.0, "9007199254740991"},
        {9007199254740992.0, "9007199254740992"},
        {1.8446744073709552e19, "18446744073709551616"},
        {NAN, ""},
        {INFINITY, ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct csv_out out = {0};
        csv_put_f64(&out, cases[i].value);
        assert_int_equal(out.n, strlen(cases[i].text));
        if (out.n)
            assert_memory_equal(out.data, cases[i].text, out.n);
        csv_out_free(&out);
    }
}

static void test_times(void **state)
{
    (void)state;
    char text[FORMAT_SIZE];
    format_rfc3339(text, sizeof(text), 0);
    assert_string_equal(text, "1970-01-01T00:00:00.000Z");
    format_rfc3339(text, sizeof(text), -1);
    assert_string_equal(text, "1969-12-31T23:59:59.999Z");
    format_rfc3339(text, sizeof(text), WALL);
    assert_string_equal(text, "2024-05-06T07:08:09.123Z");
}

/* Names that try to break a line, a field or an encoding. */
static const struct {
    const char *name, *field;
} hostile[] = {
    {"", ""},
    {"a b", "a b"},
    {"a,b", "\"a,b\""},
    {"a\"b", "\"a\"\"b\""},
    {"a\r\nb\tc", "a\\x0d\\x0ab\\x09c"},
    {"a,\nb", "\"a,\\x0ab\""},
    {"\x1b[2J\x7f", "\\x1b[2J\\x7f"},
    {"a\\b", "a\\b"},
    {"a\\x0ab", "a\\x5cx0ab"},
    {"=cmd|'/c calc'!A0", "=cmd|'/c calc'!A0"},
    {"\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80", "\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80"},
    {"e\xcc\x81", "e\xcc\x81"},
    {"\xc2\x9b", "\\x9b"},                                    /* C1 control */
    {"a\xff", "a\xef\xbf\xbd"},                               /* no UTF-8 at all */
    {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                 /* overlong */
    {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},                 /* cut short */
    {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* surrogate */
    {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
};

static void test_hostile_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
        struct csv_out out = {0};
        csv_put_text(&out, hostile[i].name);
        assert_int_equal(out.n, strlen(hostile[i].field));
        if (out.n)
            assert_memory_equal(out.data, hostile[i].field, out.n);
        csv_out_free(&out);
    }
}

/* Text handed to the reader in pieces of step bytes. */
struct source {
    const char *bytes;
    size_t n, at, step;
};

static ssize_t read_source(void *context, char *bytes, size_t size)
{
    struct source *source = context;
    size_t n = source->n - source->at;
    n = n < source->step ? n : source->step;
    n = n < size ? n : size;
    memcpy(bytes, source->bytes + source->at, n);
    source->at += n;
    return (ssize_t)n;
}

static struct csv_reader *reader_of(struct source *source, const char *bytes, size_t n, size_t step)
{
    *source = (struct source){bytes, n, 0, step};
    return csv_reader_new(read_source, source);
}

static void test_hostile_texts_read_back(void **state)
{
    (void)state;
    struct csv_out out = {0};
    for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
        csv_put_text(&out, hostile[i].name);
        csv_put_f64(&out, 0); /* never an empty record */
        out.data[out.n - 1] = '\n';
    }
    size_t lines = 0;
    for (size_t i = 0; i < out.n; i++)
        lines += out.data[i] == '\n';
    assert_int_equal(lines, sizeof(hostile) / sizeof(hostile[0]));
    struct source source;
    struct csv_reader *reader = reader_of(&source, out.data, out.n, 3);
    struct csv_record record;
    for (size_t i = 0; i < lines; i++) {
        assert_int_equal(csv_reader_next(reader, &record), CSV_RECORD);
        assert_int_equal(record.n, 1);
        assert_int_equal(record.line, i + 1);
    }
    assert_int_equal(csv_reader_next(reader, &record), CSV_END);
    csv_reader_free(reader);
    csv_out_free(&out);
}

struct reading {
    const char *text;
    enum csv_result end;
    size_t records;
    const char *last;  /* fields of the last record, joined by | */
    const char *error; /* part of it */
};

static const struct reading readings[] = {
    {"", CSV_END, 0, "", ""},
    {"a,b\n", CSV_END, 1, "a|b", ""},
    {"a,b\r\n1,2\r\n", CSV_END, 2, "1|2", ""},
    {"\xef\xbb\xbf"
     "a,b\n",
     CSV_END, 1, "a|b", ""},
    {"a,b\n,\n", CSV_END, 2, "|", ""},
    {"a,b\n\"1,\"\"\n2\",3\n", CSV_END, 2, "1,\"\n2|3", ""},
    {"a,b\n1,2\n3", CSV_TORN, 2, "1|2", ""},
    {"a,b\n1,2\n3,4", CSV_TORN, 2, "1|2", ""},
    {"a,b\n1,2\n3,\"", CSV_TORN, 2, "1|2", ""},
    {"a,b\n1,2\n3,4\r", CSV_TORN, 2, "1|2", ""},
    {"a,b\n1\n", CSV_BAD, 1, "a|b", "line 2: 1 fields where the header has 2"},
    {"a,b\n1,2,3\n", CSV_BAD, 1, "a|b", "line 2: 3 fields"},
    {"a,b\n\n", CSV_BAD, 1, "a|b", "line 2"},
    {"a,b\n1,2\"\n", CSV_BAD, 1, "a|b", "line 2: a quote inside"},
    {"a,b\n1,\"2\"3\n", CSV_BAD, 1, "a|b", "line 2: text behind"},
    {"a,b\n1\r,2\n", CSV_BAD, 1, "a|b", "line 2: a carriage return"},
};

static void join(const struct csv_record *record, char *text, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < record->n; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%s", i ? "|" : "", record->fields[i]);
}

static void assert_reading(const struct reading *reading, size_t step)
{
    struct source source;
    struct csv_reader *reader = reader_of(&source, reading->text, strlen(reading->text), step);
    struct csv_record record;
    char last[64] = "";
    size_t n = 0;
    enum csv_result result;
    for (; (result = csv_reader_next(reader, &record)) == CSV_RECORD; n++)
        join(&record, last, sizeof(last));
    assert_int_equal(result, reading->end);
    assert_int_equal(csv_reader_next(reader, &record), reading->end);
    assert_int_equal(n, reading->records);
    assert_string_equal(last, reading->last);
    assert_non_null(strstr(csv_reader_error(reader), reading->error));
    csv_reader_free(reader);
}

static void test_reader(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++)
        for (size_t step = 1; step < 6; step++)
            assert_reading(&readings[i], step);
}

static enum csv_result last_result(const char *bytes, size_t n, char *error, size_t size)
{
    struct source source;
    struct csv_reader *reader = reader_of(&source, bytes, n, 4096);
    struct csv_record record;
    enum csv_result result;
    while ((result = csv_reader_next(reader, &record)) == CSV_RECORD)
        ;
    snprintf(error, size, "%s", csv_reader_error(reader));
    csv_reader_free(reader);
    return result;
}

static void test_reader_bounds(void **state)
{
    (void)state;
    size_t n = CSV_RECORD_MAX + 2;
    char *text = malloc(n), error[200];
    memset(text, 'x', n);
    text[CSV_RECORD_MAX - 1] = '\n'; /* with its NUL just as much as may be */
    assert_int_equal(last_result(text, CSV_RECORD_MAX, error, sizeof(error)), CSV_END);
    memset(text, 'x', n);
    assert_int_equal(last_result(text, n, error, sizeof(error)), CSV_BAD);
    assert_non_null(strstr(error, "line 1: a record of more than 1048576 bytes"));
    memset(text, ',', n);
    assert_int_equal(last_result(text, n, error, sizeof(error)), CSV_BAD);
    assert_non_null(strstr(error, "line 1: more than 4096 fields"));
    free(text);
}

/* A power cut leaves zeros at the end; zeros in the middle are damage. */
static void test_reader_zeros(void **state)
{
    (void)state;
    static const char tail[] = "a,b\n1,2\n3\0\0\0\0", middle[] = "a,b\n1,2\n3\0\0,4\n";
    char error[200];
    assert_int_equal(last_result(tail, sizeof(tail), error, sizeof(error)), CSV_TORN);
    assert_int_equal(last_result(middle, sizeof(middle) - 1, error, sizeof(error)), CSV_BAD);
    assert_non_null(strstr(error, "line 3: a zero byte"));
}

static void test_unknown_columns(void **state)
{
    (void)state;
    struct source source;
    static const char text[] = "future,name,quality\n1,eth0,new\n";
    struct csv_reader *reader = reader_of(&source, text, sizeof(text) - 1, 64);
    struct csv_record record;
    assert_int_equal(csv_reader_next(reader, &record), CSV_RECORD);
    int name = csv_record_find(&record, "name");
    assert_int_equal(name, 1);
    assert_int_equal(csv_record_find(&record, "rx_pps"), -1);
    assert_int_equal(csv_reader_next(reader, &record), CSV_RECORD);
    assert_string_equal(record.fields[name], "eth0");
    csv_reader_free(reader);
}

/* What is written can be read: as many fields as the header, for every table and a row of hostile texts. */
static void test_written_is_read(void **state)
{
    (void)state;
    struct reads reads = reads_new("a,\"b\n\xff", SECOND);
    row_set(reads.row, rx_packets, 3);
    struct pair pair = reads_pair(&reads);
    struct frame *frame = frame_new(&pair, 1, NOW, WALL, START);
    struct csv_table *csv = csv_table_new(TABLE_PORTS, NULL);
    struct csv_out out = {0};
    csv_put_header(csv, &out);
    csv_put_rows(csv, frame, &out);
    struct source source;
    struct csv_reader *reader = reader_of(&source, out.data, out.n, 7);
    struct csv_record record;
    assert_int_equal(csv_reader_next(reader, &record), CSV_RECORD);
    int name = csv_record_find(&record, "name"), packets = csv_record_find(&record, "rx_packets");
    assert_int_equal(csv_reader_next(reader, &record), CSV_RECORD);
    assert_string_equal(record.fields[name], "a,\"b\\x0a\xef\xbf\xbd");
    assert_string_equal(record.fields[packets], "3");
    assert_string_equal(record.fields[record.n - 1], "new");
    assert_int_equal(csv_reader_next(reader, &record), CSV_END);
    csv_reader_free(reader);
    csv_out_free(&out);
    csv_table_free(csv);
    frame_free(frame);
    reads_free(&reads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_headers_of_all_tables),
        cmocka_unit_test(test_columns_chosen_twice_and_keys),
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_hostile_filters),
        cmocka_unit_test(test_quality),
        cmocka_unit_test(test_quality_of_parts),
        cmocka_unit_test(test_rates_are_exact),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_hostile_texts),
        cmocka_unit_test(test_hostile_texts_read_back),
        cmocka_unit_test(test_reader),
        cmocka_unit_test(test_reader_bounds),
        cmocka_unit_test(test_reader_zeros),
        cmocka_unit_test(test_unknown_columns),
        cmocka_unit_test(test_written_is_read),
    };
    return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
