/* SPDX-License-Identifier: MIT */
/* The commands without a screen: snapshot, record, diagnose. Each returns its exit status and speaks on standard
 * error. */
#ifndef VNETTOP_COMMANDS_H
#define VNETTOP_COMMANDS_H

#include "src/options.h"
#include "src/session.h"

int command_snapshot(const struct options *options, struct session *session, int signal_fd);
/* Looks for interval_s seconds and prints the findings: 0 none, 1 findings, 2 could not look. */
int command_diagnose(const struct options *options, struct session *session, int signal_fd);
int command_record(const struct options *options, struct session *session, int signal_fd);

#endif
