/* SPDX-License-Identifier: MIT */
/*
 * The clocks, all in one file of their own: time is an argument everywhere else, and a test that links clocks
 * of its own gets screens that are the same to the letter.
 */
#ifndef VNETTOP_CLOCK_H
#define VNETTOP_CLOCK_H

#include <stdint.h>

int64_t clock_mono_ns(void);         /* CLOCK_MONOTONIC */
int64_t clock_wall_ns(void);         /* CLOCK_REALTIME */
uint64_t clock_process_cpu_ns(void); /* CPU time of all threads so far */
uint64_t clock_thread_cpu_ns(void);  /* and of the calling one */

#endif
