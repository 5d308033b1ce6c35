/* SPDX-License-Identifier: MIT */
/* Small services for collectors: time stamps and failures (see collector.h). */
#include "src/collector.h"

#include <stdarg.h>
#include <stdio.h>

void sample_begin(struct sample *sample)
{
    sample->wall_ns = clock_wall_ns();
    sample->t0_ns = clock_mono_ns();
}

void sample_end(struct sample *sample)
{
    sample->t1_ns = clock_mono_ns();
}

enum collect_result collect_fail(struct collect_error *error, enum collect_result result, const char *format,
                                 ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof(error->text), format, args);
    va_end(args);
    return result;
}
