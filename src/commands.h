/* SPDX-License-Identifier: MIT */
/* The commands that write CSV: snapshot and record. Each returns its exit status and speaks on standard
 * error. */
#ifndef VNETTOP_COMMANDS_H
#define VNETTOP_COMMANDS_H

#include "src/options.h"
#include "src/session.h"

int command_snapshot(const struct options *options, struct session *session, int signal_fd);
int command_record(const struct options *options, struct session *session, int signal_fd);

#endif
