/* SPDX-License-Identifier: MIT */
/*
 * One NIC under two keys is one row: the tap that a process has open, of which no address is known, joins the
 * NIC of that guest on that port, and its packets are counted once. What is not certain stays apart.
 */
#include "unit/hand_frame.h"

#define OPEN_TAP "path:" VM1 ":#tap1"

/* As the qemu source tells of a card that was plugged in later: a port, and neither a name nor an address. */
static void open_tap(struct hand *hand, const char *vm_key, const char *port)
{
    struct paths_info *info = inventory_info(hand->inventory, TABLE_PATHS, "path:%s:#%s", vm_key, port);
    info_set(info, vm_key, hand_text(hand, vm_key));
    info_set(info, port, hand_text(hand, port));
    info_set(info, backend, "vhost");
    info_set(info, netns_inode, 1);
    hand_row(hand, TABLE_PATHS, info);
    GAUGE(hand, paths, PATHS, info->head.key, state, "present");
}

static void test_an_open_tap_is_its_nics(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    size_t before = hand_frame(&hand)->table[TABLE_PATHS].n;
    struct cell cell = cell_of(hand_frame(&hand), TABLE_VMS, VM1, "to_guest_pps");
    double pps = cell_number(&cell);
    assert_true(pps > 0);
    open_tap(&hand, VM1, "tap1");
    const struct frame *frame = hand_frame(&hand);
    assert_int_equal(frame->table[TABLE_PATHS].n, before);
    assert_null(frame_find(frame, TABLE_PATHS, OPEN_TAP));
    const struct frame_row *nic = frame_find(frame, TABLE_PATHS, NIC1_TAP);
    assert_non_null(nic);
    uint64_t inode;
    assert_true(
        join_info_number(nic, offsetof(struct paths_info, netns_inode), &inode)); /* only that one told */
    cell = cell_of(frame, TABLE_VMS, VM1, "to_guest_pps");
    assert_true(cell_number(&cell) == pps);
    assert_ptr_equal(join_path_of_port(frame, frame_find(frame, TABLE_PORTS, TAP1)), nic);
    assert_non_null(frame_find(frame, TABLE_PATHS, NIC10_TAP)); /* rows behind it are still found */
    assert_non_null(frame_find(frame, TABLE_PATHS, NIC_MACV));
    hand_free(&hand);
}

/* The address was concluded from the tap's, and the configuration says another. */
static void test_a_concluded_address_gives_way(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    hand_path(&hand, VM1, "later", "52:54:00:00:99:99", "vhost", "tap1", NULL);
    assert_non_null(frame_find(hand_frame(&hand), TABLE_PATHS, "path:" VM1 ":52:54:00:00:99:99"));
    struct row_head *row = hand_find(hand.cur, TABLE_PATHS, "path:" VM1 ":52:54:00:00:99:99");
    struct paths_info *info = (struct paths_info *)row->info;
    info_approx(info, mac);
    const struct frame *frame = hand_frame(&hand);
    assert_null(frame_find(frame, TABLE_PATHS, "path:" VM1 ":52:54:00:00:99:99"));
    assert_non_null(frame_find(frame, TABLE_PATHS, NIC1_TAP));
    hand_free(&hand);
}

static void expect_apart(struct hand *hand, const char *key)
{
    if (!frame_find(hand_frame(hand), TABLE_PATHS, key))
        fail_msg("%s was taken for another's", key);
    hand_free(hand);
}

static void test_what_is_not_certain_stays_apart(void **state)
{
    (void)state;
    struct hand hand = hand_healthy();
    open_tap(&hand, VM10, "tap1"); /* another guest's */
    expect_apart(&hand, "path:" VM10 ":#tap1");
    hand = hand_healthy();
    open_tap(&hand, VM1, "tap10"); /* another port */
    expect_apart(&hand, "path:" VM1 ":#tap10");
    hand = hand_healthy();
    open_tap(&hand, VM1, "tap1");
    PATH_FACT(&hand, NIC1_TAP, netns_inode, UINT64_C(2)); /* another namespace */
    expect_apart(&hand, OPEN_TAP);
    hand = hand_healthy();
    open_tap(&hand, VM1, "tap1");
    PATH_FACT(&hand, NIC1_VHU, port, "tap1"); /* two to choose from */
    expect_apart(&hand, OPEN_TAP);
    hand = hand_healthy();
    hand_path(&hand, VM1, "later", "52:54:00:00:99:99", "vhost", "tap1", NULL); /* two certain ones */
    expect_apart(&hand, NIC1_TAP);
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
