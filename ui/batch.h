/* SPDX-License-Identifier: MIT */
/* Batch mode: frames as plain text on standard output, like top -b. The views are the console's. */
#ifndef VNETTOP_BATCH_H
#define VNETTOP_BATCH_H

#include "src/options.h"
#include "src/session.h"

/* Frames until -n of them, a signal at signal_fd, or a closed pipe. Returns the exit status. */
int batch_run(const struct options *options, struct session *session, int signal_fd);

/* `vnettop sources`: one line a source, whole, to standard output. Returns the exit status. */
int batch_sources(struct session *session, int signal_fd);

/* Standard output took no more, for the reason in errno: says so, but for a closed pipe. Returns the exit
 * status.
 */
int batch_output_failed(void);

#endif
