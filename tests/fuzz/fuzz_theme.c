/* SPDX-License-Identifier: MIT */
/* Any bytes as a theme: it is one, or the error names file and line. */
#include <stdlib.h>
#include <string.h>

#include "src/memory.h"
#include "src/theme.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct theme theme;
    char error[512] = "";
    char *text = xzalloc(size + 1);

    memcpy(text, data, size);
    if (theme_parse(&theme, "f", text, error, sizeof(error)) < 0) {
        if (strncmp(error, "f:", 2) != 0)
            abort();
        for (const char *p = error; *p; p++)
            if ((unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f)
                abort();
    }
    free(text);
    return 0;
}
