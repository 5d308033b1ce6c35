/* SPDX-License-Identifier: MIT */
/* Colours of the xterm palette, and looks brought down to them (see palette.h). */
#include "ui/palette.h"

#include <stdint.h>

#define BRIGHT_BLACK 8

int palette_rgb(int number)
{
    static const int basic[16] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd,
                                  0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
                                  0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff};
    static const int levels[6] = {0, 95, 135, 175, 215, 255};

    if (number < 16)
        return basic[number];
    if (number >= 232) {
        int grey = 8 + (number - 232) * 10;
        return grey << 16 | grey << 8 | grey;
    }
    int cube = number - 16;
    return levels[cube / 36] << 16 | levels[cube / 6 % 6] << 8 | levels[cube % 6];
}

/* Squared, weighted as the eye does. */
static int distance(int a, int b)
{
    int red = (a >> 16 & 0xff) - (b >> 16 & 0xff), green = (a >> 8 & 0xff) - (b >> 8 & 0xff);
    int blue = (a & 0xff) - (b & 0xff);
    return 3 * red * red + 6 * green * green + blue * blue;
}

int palette_nearest(int rgb, int first, int last)
{
    int best = first;
    for (int i = first + 1; i <= last; i++)
        if (distance(rgb, palette_rgb(i)) < distance(rgb, palette_rgb(best)))
            best = i;
    return best;
}

/* To default or one of the first `limit` numbers (16 or 256). */
static int reduce_colour(int colour, int limit)
{
    if (colour == COLOUR_DEFAULT)
        return colour;
    if (colour & COLOUR_RGB)
        return palette_nearest(colour & 0xffffff, limit == 256 ? 16 : 0, limit - 1);
    return colour < limit ? colour : palette_nearest(palette_rgb(colour), 0, limit - 1);
}

static int direct_colour(int colour)
{
    if (colour == COLOUR_DEFAULT || (colour >= 0 && colour < 8))
        return colour;
    int rgb = colour & COLOUR_RGB ? colour & 0xffffff : palette_rgb(colour);
    return rgb < 8 ? 0 : rgb; /* next to black: small values would be palette numbers */
}

/* From 16 colours to 8. */
static struct look reduce_to_8(struct look look)
{
    if (look.foreground == BRIGHT_BLACK) { /* bold black is invisible on many terminals */
        look.foreground = COLOUR_DEFAULT;
        look.attributes |= LOOK_DIM;
    } else if (look.foreground > BRIGHT_BLACK) {
        look.foreground -= 8;
        look.attributes |= LOOK_BOLD;
    }
    if (look.background >= BRIGHT_BLACK)
        look.background -= 8;
    if (look.foreground == look.background && look.foreground != COLOUR_DEFAULT) {
        bool dark = look.background == 0 || look.background == 1 || look.background == 4;
        look.foreground = dark ? 7 : 0;
    }
    return look;
}

/* As the eye weighs it, of a colour that is not the default. */
static int brightness(int colour)
{
    int rgb = colour & COLOUR_RGB ? colour & 0xffffff : palette_rgb(colour);
    return (3 * (rgb >> 16 & 0xff) + 6 * (rgb >> 8 & 0xff) + (rgb & 0xff)) * 4;
}

/* Dark text on a bright background is reverse; the other way round is how terminals look anyway. */
static struct look reduce_to_none(struct look look)
{
    int foreground = look.foreground == COLOUR_DEFAULT ? 0 : brightness(look.foreground);
    if (look.background != COLOUR_DEFAULT && brightness(look.background) > foreground)
        look.attributes |= LOOK_REVERSE;
    look.foreground = look.background = COLOUR_DEFAULT;
    return look;
}

struct look palette_reduce(struct look look, int colours)
{
    if (colours < 8)
        return reduce_to_none(look);
    if (colours > 256) {
        look.foreground = direct_colour(look.foreground);
        look.background = direct_colour(look.background);
        return look;
    }
    int limit = colours < 256 ? 16 : 256;
    look.foreground = reduce_colour(look.foreground, limit);
    look.background = reduce_colour(look.background, limit);
    return colours < 16 ? reduce_to_8(look) : look;
}
