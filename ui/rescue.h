/* SPDX-License-Identifier: MIT */
/*
 * Brings the terminal back when nothing else can: at exit() from anywhere, and in fatal signals, where only
 * write and tcsetattr are allowed. curses.c prepares the bytes while all is well. Knows no ncurses.
 */
#ifndef VNETTOP_RESCUE_H
#define VNETTOP_RESCUE_H

#include <stddef.h>

struct rescue_text {
    char bytes[512];
    size_t length;
};

/* Appends a terminfo string; its padding ($<5>) is left out. */
void rescue_add(struct rescue_text *text, const char *capability);

/* Remembers the modes of standard output's terminal as the shell left them. */
void rescue_save(void);

/* From now on exit and fatal signals write text and restore those modes. */
void rescue_arm(const struct rescue_text *text);
/* The same text again, after rescue_disarm. */
void rescue_rearm(void);
void rescue_disarm(void);

/* The modes alone, for a terminal that takes no text: for what ends the process next. */
void rescue_modes(void);

#endif
