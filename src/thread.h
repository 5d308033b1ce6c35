/* SPDX-License-Identifier: MIT */
/*
 * Helper threads. Signals are the main thread's, which reads them from a descriptor: a thread that had one
 * unblocked, if only between its start and its first line, would take the SIGWINCH or SIGTERM that is waited
 * for.
 */
#ifndef VNETTOP_THREAD_H
#define VNETTOP_THREAD_H

#include <pthread.h>

/* Starts a thread that has never had a signal unblocked. name (at most 15 bytes) is what top shows. Returns 0
 * or an errno. */
int thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg);

/* The same for one that nobody waits for. */
int thread_start_detached(const char *name, void *(*run)(void *), void *arg);

#endif
