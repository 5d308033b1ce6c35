/* SPDX-License-Identifier: MIT */
/* Folders of vnettop's own files (see paths.h). */
#include "src/paths.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/config.h"

/* A folder beside that of the program: themes/ of a build tree, share/vnettop/themes of an installation
 * wherever it was moved to. */
static bool own_folder(char *path, size_t size, const char *beside)
{
    ssize_t n = readlink("/proc/self/exe", path, size - 1);
    if (n <= 0)
        return false;
    path[n] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(path, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
    size_t used = strlen(path);
    struct stat st;
    int wrote = snprintf(path + used, size - used, "/%s", beside);
    return wrote > 0 && (size_t)wrote < size - used && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

void theme_folders(struct theme_folders *folders)
{
    size_t n = 0;
    memset(folders, 0, sizeof(*folders));
    if (config_path(folders->user, sizeof(folders->user), "themes"))
        folders->list[n++] = folders->user;
    if (own_folder(folders->tree, sizeof(folders->tree), "themes"))
        folders->list[n++] = folders->tree;
    if (own_folder(folders->beside, sizeof(folders->beside), "share/vnettop/themes"))
        folders->list[n++] = folders->beside;
    folders->list[n++] = VNETTOP_DATADIR "/themes";
}
