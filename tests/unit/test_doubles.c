/* SPDX-License-Identifier: MIT */
/*
 * One NIC under two keys is one row: the tap that a process has open, of which no address is known, joins the
 * NIC of that guest on that port, and its packets are counted once. What is not certain stays apart.
 */
#include "unit/hand_frame.h"

#define OPEN_TAP "path:" VM1 ":#tap1"

/* The healthy host, and what another source tells of the same moment. */
struct two {
    struct hand host;
    struct inventory *inventory;
    struct sample *sample;
    struct frame *frame;
};

static struct two two_sources(void)
{
    struct two two = {.host = hand_healthy(), .inventory = inventory_new()};
    two.sample = sample_at(two.inventory, HAND_NS);
    return two;
}

static const struct frame *frame_of(struct two *two)
{
    const struct pair pairs[] = {{.feed = "libvirt", .cur = two->host.cur, .prev = two->host.prev},
                                 {.feed = "qemu", .cur = two->sample}};
    frame_free(two->frame);
    two->frame = frame_new(pairs, 2, HAND_NS, HAND_NS, 0);
    return two->frame;
}

static void two_free(struct two *two)
{
    frame_free(two->frame);
    sample_unref(two->sample);
    inventory_unref(two->inventory);
    hand_free(&two->host);
}

/* As the qemu source tells of a card that was plugged in later: a port, no name, and no address or one that
 * it concluded. */
static void open_tap(struct two *two, const char *vm_key, const char *port, const char *mac)
{
    struct paths_info *info = mac ? inventory_info(two->inventory, TABLE_PATHS, "path:%s:%s", vm_key, mac)
                                  : inventory_info(two->inventory, TABLE_PATHS, "path:%s:#%s", vm_key, port);
    info_set(info, vm_key, vm_key);
    info_set(info, port, port);
    info_set(info, backend, "vhost");
    info_set(info, netns_inode, 1);
    if (mac) {
        info_set(info, mac, mac);
        info_approx(info, mac);
    }
    struct paths_row *row = sample_row(two->sample, TABLE_PATHS, info);
    row_set(row, state, "present");
}

static void test_an_open_tap_is_its_nics(void **state)
{
    (void)state;
    struct two two = two_sources();
    size_t before = frame_of(&two)->table[TABLE_PATHS].n;
    struct cell cell = cell_of(two.frame, TABLE_VMS, VM1, "to_guest_pps");
    double pps = cell_number(&cell);
    assert_true(pps > 0);
    open_tap(&two, VM1, "tap1", NULL);
    const struct frame *frame = frame_of(&two);
    assert_int_equal(frame->table[TABLE_PATHS].n, before);
    assert_null(frame_find(frame, TABLE_PATHS, OPEN_TAP));
    const struct frame_row *nic = frame_find(frame, TABLE_PATHS, NIC1_TAP);
    uint64_t inode;
    assert_non_null(nic);
    assert_true(join_info_number(nic, offsetof(struct paths_info, netns_inode), &inode)); /* that one told */
    cell = cell_of(frame, TABLE_VMS, VM1, "to_guest_pps");
    assert_true(cell_number(&cell) == pps);
    assert_ptr_equal(join_path_of_port(frame, frame_find(frame, TABLE_PORTS, TAP1)), nic);
    assert_non_null(frame_find(frame, TABLE_PATHS, NIC10_TAP)); /* rows behind it are still found */
    assert_non_null(frame_find(frame, TABLE_PATHS, NIC_MACV));
    two_free(&two);
}

/* The address was concluded from the tap's, and the configuration says another. */
static void test_a_concluded_address_gives_way(void **state)
{
    (void)state;
    struct two two = two_sources();
    open_tap(&two, VM1, "tap1", "52:54:00:00:99:99");
    assert_null(frame_find(frame_of(&two), TABLE_PATHS, "path:" VM1 ":52:54:00:00:99:99"));
    struct cell cell = cell_of(two.frame, TABLE_PATHS, NIC1_TAP, "mac");
    assert_string_equal(cell.str, "52:54:00:00:01:02");
    assert_false(cell.approx);
    two_free(&two);
}

static void expect_apart(struct two *two, const char *key)
{
    if (!frame_find(frame_of(two), TABLE_PATHS, key))
        fail_msg("%s was taken for another's", key);
    two_free(two);
}

static void test_what_is_not_certain_stays_apart(void **state)
{
    (void)state;
    struct two two = two_sources();
    open_tap(&two, VM10, "tap1", NULL); /* another guest's */
    expect_apart(&two, "path:" VM10 ":#tap1");
    two = two_sources();
    open_tap(&two, VM1, "tap10", NULL); /* another port */
    expect_apart(&two, "path:" VM1 ":#tap10");
    two = two_sources();
    open_tap(&two, VM1, "tap1", NULL);
    PATH_FACT(&two.host, NIC1_TAP, netns_inode, UINT64_C(2)); /* another namespace */
    expect_apart(&two, OPEN_TAP);
    two = two_sources();
    open_tap(&two, VM1, "tap1", NULL);
    PATH_FACT(&two.host, NIC1_VHU, port, "tap1"); /* two to choose from */
    expect_apart(&two, OPEN_TAP);
    two = two_sources();
    hand_path(&two.host, VM1, "later", "52:54:00:00:99:99", "vhost", "tap1", NULL); /* two certain ones */
    expect_apart(&two, NIC1_TAP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_open_tap_is_its_nics),
        cmocka_unit_test(test_a_concluded_address_gives_way),
        cmocka_unit_test(test_what_is_not_certain_stays_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
