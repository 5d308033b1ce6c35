/* SPDX-License-Identifier: MIT */
/* libvirt's functions, found by name in the installed library (see libvirt_api.h). */
#include "collectors/libvirt_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct libvirt_api vir;

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define LIBVIRT_FUNCTION(name) {"vir" #name, offsetof(struct libvirt_api, name)},
    LIBVIRT_FUNCTIONS(LIBVIRT_FUNCTION)
#undef LIBVIRT_FUNCTION
};

/* NULL, or the name of a function that the library does not have. */
static const char *find_functions(void *library, struct libvirt_api *api)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *function = dlsym(library, functions[i].name);
        if (!function)
            return functions[i].name;
        memcpy((char *)api + functions[i].offset, &function, sizeof(function));
    }
    return NULL;
}

int libvirt_api_load(const char *name, char *err, size_t errlen)
{
    struct libvirt_api found;
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(err, errlen, "%s; install libvirt's client library (libvirt0, libvirt-libs)", dlerror());
        return -1;
    }
    const char *missing = find_functions(library, &found);
    if (missing) {
        snprintf(err, errlen, "%s has no %s; install libvirt 1.2.8 or newer", name, missing);
        dlclose(library);
        return -1;
    }
    vir = found;
    return 0;
}
