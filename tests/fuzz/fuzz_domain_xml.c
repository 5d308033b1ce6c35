/* SPDX-License-Identifier: MIT */
/* libFuzzer target of collectors/domain_xml.c: any bytes as the XML of a domain. Seeds:
 * tests/fixtures/libvirt. */
#include <libxml/xmlerror.h>
#include <stdlib.h>

#include "collectors/domain_xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct domain_xml d;
    char err[256] = "";

    if (domain_xml_parse((const char *)data, size, &d, err, sizeof(err)) == 0) {
        for (unsigned i = 0; i < d.vcpu_max; i++)
            domain_xml_vcpu_cpus(&d, i);
        domain_xml_free(&d);
    } else if (!*err) {
        abort(); /* refused without a word */
    }
    xmlResetLastError();
    return 0;
}
