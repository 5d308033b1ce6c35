/* SPDX-License-Identifier: MIT */
/*
 * libvirt's event loop (see libvirt_events.h). Its thread runs until the process ends: libvirt has no way to
 * take a loop back. What it holds is the library's own state, of which there is one for each process.
 */
#include "collectors/libvirt_events.h"

#include <libxml/parser.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collectors/libvirt_api.h"
#include "src/thread.h"

static void ignore_error(void *context, virErrorPtr error)
{
    (void)context;
    (void)error;
}

void libvirt_events_prepare(void)
{
    /* Warnings (a daemon that does not answer) go to stderr even where errors are taken over. */
    setenv("LIBVIRT_LOG_OUTPUTS", "4:file:/dev/null", 0);
    setenv("LIBVIRT_AUTOSTART", "0", 0); /* qemu:///session would start a daemon for the asking */
    xmlInitParser();
}

static void *run_loop(void *unused)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    while (true)
        if (vir.EventRunDefaultImpl() < 0)
            nanosleep(&pause, NULL);
    return unused;
}

/* Steps that are done stay done: what failed is tried again with the next connection. */
struct progress {
    bool loaded, registered, running;
};

static int start(struct progress *done, char *err, size_t errlen)
{
    done->loaded = done->loaded || libvirt_api_load(LIBVIRT_LIBRARY, err, errlen) == 0;
    if (!done->loaded)
        return -1;
    if (!done->registered) {
        vir.SetErrorFunc(NULL, ignore_error);
        done->registered = vir.Initialize() == 0 && vir.EventRegisterDefaultImpl() == 0;
    }
    int rc =
        done->registered && !done->running ? thread_start_detached("vt-libvirt-loop", run_loop, NULL) : 0;
    done->running = done->registered && rc == 0;
    if (!done->running)
        snprintf(err, errlen, "libvirt's event loop does not start: %s",
                 rc ? strerror(rc) : vir.GetLastErrorMessage());
    return done->running ? 0 : -1;
}

int libvirt_events_start(char *err, size_t errlen)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct progress progress;
    pthread_mutex_lock(&lock);
    int rc = start(&progress, err, errlen);
    pthread_mutex_unlock(&lock);
    return rc;
}
