/* SPDX-License-Identifier: MIT */
/*
 * What ends the program when its main thread cannot. The loops read ending signals from a descriptor, so one
 * that waits in a write which a pipe, a stopped terminal or a dead file system does not take would never hear
 * of SIGTERM. main.c starts the watch.
 */
#ifndef VNETTOP_ENDING_H
#define VNETTOP_ENDING_H

#include <signal.h>
#include <stdbool.h>

/*
 * The signals are blocked already, and are looked for without being taken. One that nobody takes has first
 * what a terminal was to show thrown away, and after two seconds ends the process by itself, behind
 * last_words. Call before other threads start. False: there is no such watch, and no other harm.
 */
bool ending_watch(const sigset_t *signals, void (*last_words)(void));

/* Takes from signal_fd what ended a loop: closing its files may then last as long as the disk needs. */
void ending_take(int signal_fd);

#endif
