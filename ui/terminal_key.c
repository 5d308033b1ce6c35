/* SPDX-License-Identifier: MIT */
/* Names of keys, for help, footer and manual (see terminal.h). Knows no terminal library. */
#include <stdio.h>

#include "src/utf8.h"
#include "ui/terminal.h"

size_t terminal_key_name(char *out, size_t size, uint32_t key)
{
    static const char *const names[] = {
        [TKEY_ENTER - TKEY_FIRST] = "Enter",
        [TKEY_ESCAPE - TKEY_FIRST] = "Esc",
        [TKEY_TAB - TKEY_FIRST] = "Tab",
        [TKEY_BACKTAB - TKEY_FIRST] = "Shift-Tab",
        [TKEY_BACKSPACE - TKEY_FIRST] = "Backspace",
        [TKEY_UP - TKEY_FIRST] = "Up",
        [TKEY_DOWN - TKEY_FIRST] = "Down",
        [TKEY_LEFT - TKEY_FIRST] = "Left",
        [TKEY_RIGHT - TKEY_FIRST] = "Right",
        [TKEY_HOME - TKEY_FIRST] = "Home",
        [TKEY_END - TKEY_FIRST] = "End",
        [TKEY_PAGE_UP - TKEY_FIRST] = "PgUp",
        [TKEY_PAGE_DOWN - TKEY_FIRST] = "PgDn",
        [TKEY_INSERT - TKEY_FIRST] = "Ins",
        [TKEY_DELETE - TKEY_FIRST] = "Del",
    };
    char text[16];

    if (key >= TKEY_F1 && key <= TKEY_F12)
        snprintf(text, sizeof(text), "F%u", (unsigned)(key - TKEY_F1 + 1));
    else if (key > TKEY_FIRST && key < TKEY_F1)
        snprintf(text, sizeof(text), "%s", names[key - TKEY_FIRST]);
    else if (key == ' ')
        snprintf(text, sizeof(text), "Space");
    else if (key < 0x20)
        snprintf(text, sizeof(text), "^%c", (char)(key + '@'));
    else
        text[utf8_encode(key < TKEY_FIRST ? key : '?', text)] = '\0';
    int length = snprintf(out, size, "%s", text);
    return length < (int)size ? (size_t)length : size ? size - 1 : 0;
}
