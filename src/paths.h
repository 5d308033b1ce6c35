/* SPDX-License-Identifier: MIT */
/* Where vnettop's own files are: themes of the user, of the installation, of the build tree. */
#ifndef VNETTOP_PATHS_H
#define VNETTOP_PATHS_H

#include <limits.h>
#include <stddef.h>

struct theme_folders {
    char user[PATH_MAX], tree[PATH_MAX], beside[PATH_MAX];
    const char *list[5]; /* in the order they are searched; ends with NULL */
};
void theme_folders(struct theme_folders *folders);

#endif
