/* SPDX-License-Identifier: MIT */
/* Helper threads without signals (see thread.h). */
#include "src/thread.h"

#include <signal.h>

int thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(thread, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0)
        pthread_setname_np(*thread, name);
    return rc;
}

int thread_start_detached(const char *name, void *(*run)(void *), void *arg)
{
    pthread_t thread;
    int rc = thread_start(&thread, name, run, arg);
    if (rc == 0)
        pthread_detach(thread);
    return rc;
}
