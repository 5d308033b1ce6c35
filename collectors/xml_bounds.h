/* SPDX-License-Identifier: MIT */
/* Whether a foreign XML text is cheap to parse, found out before libxml2 sees it: that library compares each
 * attribute of a tag with all others (800 KB of them take it 17 s), and makes 35 bytes of memory of each byte
 * of small elements. domain_xml.c calls it. It does not tell whether the text is XML: up to the first error
 * it sees the same tags as a parser does, and there a parser stops. */
#ifndef VNETTOP_XML_BOUNDS_H
#define VNETTOP_XML_BOUNDS_H

#include <stddef.h>

#define XML_BOUNDS_ATTRS 256u    /* of one tag; libvirt's longest has about 20 */
#define XML_BOUNDS_TAGS  100000u /* a guest with 1,000 cards and 4,096 vCPUs has about 30,000 */

/* NULL, or what there is too much of. */
const char *xml_bounds_exceeded(const char *text, size_t len);

#endif
