/* SPDX-License-Identifier: MIT */
/* Identifiers that hypervisors and libvirt write in several spellings, brought into one. The parsers of
 * command lines and of the domain XML call it, so that both name the same guest and card alike. It knows no
 * option. */
#ifndef VNETTOP_VMM_TEXT_H
#define VNETTOP_VMM_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Each writes the canonical form, or leaves dst empty and returns false. NULL is no identifier. */
bool vmm_text_uuid(const char *text, char dst[37]);
bool vmm_text_mac(const char *text, char dst[18]);
/* "3b:02.1" and "0000:3b:02.1" give "0000:3b:02.1". */
bool vmm_text_pci(const char *text, char dst[16]);
/* Copies whole or not at all. */
bool vmm_text_copy(const char *text, char *dst, size_t size);

#endif
