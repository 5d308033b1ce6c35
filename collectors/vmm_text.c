/* SPDX-License-Identifier: MIT */
/* UUID, MAC and PCI address in one spelling: contract in vmm_text.h. */
#include "collectors/vmm_text.h"

#include <stdio.h>
#include <string.h>

static int hex_digit(char c)
{
    static const char DIGITS[] = "0123456789abcdef";
    const char *at = c ? strchr(DIGITS, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;

    return at ? (int)(at - DIGITS) : -1;
}

/* Copies text while it follows the pattern, in which x is a digit and any other character itself. */
static bool follow(const char *text, const char *pattern, char *dst)
{
    size_t i;

    *dst = '\0';
    for (i = 0; pattern[i]; i++) {
        int digit = text && text[i] ? hex_digit(text[i]) : -1;

        if (!text || (pattern[i] == 'x' ? digit < 0 : text[i] != pattern[i])) {
            *dst = '\0';
            return false;
        }
        dst[i] = pattern[i] == 'x' ? "0123456789abcdef"[digit] : pattern[i];
    }
    dst[i] = '\0';
    if (text[i] != '\0')
        *dst = '\0';
    return text[i] == '\0';
}

bool vmm_text_uuid(const char *text, char dst[37])
{
    return follow(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", dst);
}

bool vmm_text_mac(const char *text, char dst[18])
{
    return follow(text, "xx:xx:xx:xx:xx:xx", dst);
}

bool vmm_text_pci(const char *text, char dst[16])
{
    char slot[8];

    if (follow(text, "xxxx:xx:xx.x", dst))
        return true;
    if (!follow(text, "xx:xx.x", slot))
        return false;
    snprintf(dst, 16, "0000:%s", slot);
    return true;
}

bool vmm_text_copy(const char *text, char *dst, size_t size)
{
    size_t n = text ? strlen(text) : size;

    *dst = '\0';
    if (n >= size)
        return false;
    memcpy(dst, text, n + 1);
    return true;
}
