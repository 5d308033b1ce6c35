/* SPDX-License-Identifier: MIT */
/* Texts made harmless (see text.h). */
#include "src/text.h"

#include <string.h>

#include "src/utf8.h"

void text_visible(char *out, size_t size, const char *text)
{
    size_t left = strlen(text), used = 0;
    while (left > 0) {
        size_t taken;
        uint32_t code = utf8_decode(text, left, &taken);
        enum utf8_width width = code == UTF8_INVALID ? UTF8_CONTROL : utf8_width(code);
        size_t n = width == UTF8_CONTROL ? 1 : width == UTF8_INVISIBLE ? 0 : taken;
        if (used + n + 1 > size)
            break;
        memcpy(out + used, width == UTF8_CONTROL ? "?" : text, n);
        used += n;
        text += taken;
        left -= taken;
    }
    out[used] = '\0';
}
