/* SPDX-License-Identifier: MIT */
/*
 * Files of `key = value` lines, `#` comments: the user's config (options by their long name) and what the
 * console saves of itself. Reading names file and line of what is wrong.
 */
#ifndef VNETTOP_CONFIG_H
#define VNETTOP_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

/* Called for each line; returns 0, or -1 with the reason in error (without file and line). key and value live
 * as long as the config's text. */
typedef int config_line_fn(void *context, const char *key, const char *value, char *error, size_t error_size);

/*
 * Reads path, at most 1 MiB. *text holds the file afterwards: the caller frees it when the values are no
 * longer used. A file that is not there is fine unless it must be: 1 is returned and *text is NULL. -1 with
 * "FILE:LINE: reason".
 */
int config_read(const char *path, bool must_exist, config_line_fn *line, void *context, char **text,
                char *error, size_t error_size);

/* $XDG_CONFIG_HOME/vnettop/NAME or ~/.config/vnettop/NAME; false when there is no home. */
bool config_path(char *path, size_t size, const char *name);

/* Replaces the file as a whole (temporary file and rename), making its folder. */
int config_write(const char *path, const char *text, char *error, size_t error_size);

#endif
