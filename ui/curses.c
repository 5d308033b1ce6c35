/* SPDX-License-Identifier: MIT */
/*
 * The terminal by ncurses (see terminal.h), the only file that knows it. ncurses keeps the difference between
 * two screens; what this file adds is that unchanged cells are not even told to it, that keys are decoded
 * strictly, and that its signal handlers stay out of the main loop's way.
 */
#include "ui/terminal.h"

#include <assert.h>
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "src/memory.h"
#include "src/utf8.h"
#include "ui/palette.h"
#include "ui/rescue.h"

#define ESCAPE_DELAY_MS 25
#define ESCAPE          27

/* Cells are compared as bytes. */
static_assert(sizeof(struct canvas_cell) == CANVAS_GLYPH_BYTES + 3, "struct canvas_cell has padding");

struct style {
    attr_t attributes;
    short pair;
};

struct terminal {
    SCREEN *screen;
    WINDOW *keys; /* a pad: reading from it never draws, as reading from a window would */
    bool utf8;
    bool hides_cursor;
    bool default_colours;
    int colours; /* 0 = none to be used */
    int rows, cols;
    int pushed;           /* a key read too far, ERR = none */
    char bytes[UTF8_MAX]; /* of a character that is not whole yet */
    size_t n_bytes;
    struct canvas *shown; /* what ncurses was told, NULL = nothing yet */
    bool redraw;          /* write the whole screen anew */
    struct theme theme;   /* the one that styles were made of */
    struct style style[ROLES_N][2];
};

bool terminal_locale_utf8(void)
{
    return setlocale(LC_CTYPE, "") && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* --- opening and closing --- */

static int check_tty(char *error, size_t error_size)
{
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        return 0;
    snprintf(error, error_size, "standard %s is no terminal: run it in one, or use -b for plain text",
             isatty(STDOUT_FILENO) ? "input" : "output");
    return -1;
}

/* Finds out what ncurses would only fail for. */
static int check_term(char *error, size_t error_size)
{
    const char *term = getenv("TERM");
    int problem = 1;

    if (!term || !*term) {
        snprintf(error, error_size, "TERM is not set: export TERM=xterm-256color, or what your terminal is");
        return -1;
    }
    if (setupterm(NULL, STDOUT_FILENO, &problem) == ERR) {
        snprintf(error, error_size, "%s `%.40s': %s",
                 problem < 0 ? "no terminfo database to look up TERM" : "unknown terminal type TERM", term,
                 "install its terminfo (Debian: ncurses-term), export TERM=xterm-256color, or use -b");
        return -1;
    }
    const char *move = tigetstr("cup");
    bool can_move = move && move != (char *)-1;
    del_curterm(cur_term);
    if (can_move)
        return 0;
    snprintf(error, error_size,
             "terminal type TERM `%.40s' cannot move its cursor: use -b for plain text, or export what your "
             "terminal is (TERM=xterm-256color)",
             term);
    return -1;
}

/* ncurses takes signals that are the main loop's; they are given back. */
static SCREEN *open_screen(void)
{
    static const int theirs[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
    struct sigaction before[4];
    for (size_t i = 0; i < 4; i++)
        sigaction(theirs[i], NULL, &before[i]);
    SCREEN *screen = newterm(NULL, stdout, stdin);
    for (size_t i = 0; i < 4; i++)
        sigaction(theirs[i], &before[i], NULL);
    return screen;
}

static void open_colours(struct terminal *terminal, bool wanted)
{
    if (!wanted || !has_colors() || start_color() == ERR)
        return;
    terminal->default_colours = use_default_colors() == OK;
    terminal->colours = COLOR_PAIRS > 2 * ROLES_N ? COLORS : 0;
}

static bool open_mouse(bool wanted)
{
    if (!wanted)
        return false;
    mouseinterval(0); /* presses at once, no waiting for a double click */
    return mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL) != 0;
}

static void add_string(struct rescue_text *text, const char *capability)
{
    const char *value = tigetstr(capability);
    if (value && value != (char *)-1)
        rescue_add(text, value);
}

/* What brings the terminal back without ncurses. */
static void arm_rescue(bool mouse)
{
    struct rescue_text text = {.length = 0};
    if (mouse)
        rescue_add(&text, "\033[?1006l\033[?1000l");
    add_string(&text, "sgr0");
    add_string(&text, "op");
    add_string(&text, "cnorm");
    add_string(&text, "rmkx");
    size_t before = text.length;
    add_string(&text, "rmcup");
    if (text.length == before)
        rescue_add(&text, "\r\n");
    rescue_arm(&text);
}

static void read_size(int *rows, int *cols)
{
    struct winsize size = {0};
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0;
    *rows = known ? size.ws_row : LINES;
    *cols = known ? size.ws_col : COLS;
}

struct terminal *terminal_open(const struct terminal_options *options, char *error, size_t error_size)
{
    bool utf8 = terminal_locale_utf8() && !options->ascii;
    const char *term = getenv("TERM");

    if (check_tty(error, error_size) < 0 || check_term(error, error_size) < 0)
        return NULL;
    rescue_save();
    set_escdelay(ESCAPE_DELAY_MS);
    SCREEN *screen = open_screen();
    if (!screen) {
        snprintf(error, error_size, "the terminal cannot be used (TERM `%.40s'): use -b for plain text",
                 term);
        return NULL;
    }

    struct terminal *terminal = xzalloc(sizeof(*terminal));
    terminal->screen = screen;
    /* The font of a Linux virtual console has no eighth blocks, and few letters. */
    terminal->utf8 = utf8 && strcmp(term, "linux") != 0;
    terminal->pushed = ERR;
    terminal->redraw = true;
    cbreak();
    noecho();
    nonl();
    terminal->keys = newpad(1, 1);
    keypad(terminal->keys, TRUE);
    nodelay(terminal->keys, TRUE);
    terminal->hides_cursor = curs_set(0) != ERR;
    open_colours(terminal, options->colours);
    arm_rescue(open_mouse(options->mouse));
    terminal_resize(terminal);
    return terminal;
}

#define CLOSING_PATIENCE_MS 200

static bool takes_output(int timeout_ms)
{
    struct pollfd fd = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&fd, 1, timeout_ms) > 0;
}

/* A terminal that is stopped (Ctrl-S), or that nobody reads, would keep its last words waiting for ever. */
static void make_way(void)
{
    if (takes_output(CLOSING_PATIENCE_MS))
        return;
    tcflush(STDOUT_FILENO, TCOFLUSH);
    tcflow(STDOUT_FILENO, TCOOFF); /* without it Linux takes ON as no answer to Ctrl-S */
    tcflow(STDOUT_FILENO, TCOON);
}

void terminal_close(struct terminal *terminal)
{
    if (!terminal)
        return;
    make_way();
    mousemask(0, NULL);
    endwin();
    rescue_disarm();
    delwin(terminal->keys);
    delscreen(terminal->screen);
    canvas_free(terminal->shown);
    free(terminal);
}

int terminal_fd(const struct terminal *terminal)
{
    (void)terminal;
    return STDIN_FILENO;
}

int terminal_out_fd(const struct terminal *terminal)
{
    (void)terminal;
    return STDOUT_FILENO;
}

bool terminal_takes_output(const struct terminal *terminal)
{
    (void)terminal;
    return takes_output(0);
}

bool terminal_utf8(const struct terminal *terminal)
{
    return terminal->utf8;
}

void terminal_size(const struct terminal *terminal, int *rows, int *cols)
{
    *rows = terminal->rows;
    *cols = terminal->cols;
}

static void forget_shown(struct terminal *terminal)
{
    canvas_free(terminal->shown);
    terminal->shown = NULL;
}

bool terminal_resize(struct terminal *terminal)
{
    int rows, cols;
    read_size(&rows, &cols);
    if (rows == terminal->rows && cols == terminal->cols)
        return false;
    resize_term(rows, cols); /* resizeterm would put a KEY_RESIZE among the keys */
    terminal->rows = rows;
    terminal->cols = cols;
    forget_shown(terminal);
    return true;
}

/* --- showing --- */

static struct style make_style(const struct terminal *terminal, const struct theme *theme, enum role role,
                               bool selected)
{
    static const struct {
        unsigned look;
        attr_t attribute;
    } attributes[] = {{LOOK_BOLD, A_BOLD},
                      {LOOK_DIM, A_DIM},
                      {LOOK_UNDERLINE, A_UNDERLINE},
                      {LOOK_REVERSE, A_REVERSE},
                      {LOOK_ITALIC, A_ITALIC}};
    struct look look = palette_reduce(theme_look(theme, role, selected), terminal->colours);
    struct style style = {A_NORMAL, 0};

    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
        if (look.attributes & attributes[i].look)
            style.attributes |= attributes[i].attribute;
    if (look.foreground == COLOUR_DEFAULT && look.background == COLOUR_DEFAULT)
        return style;
    if (!terminal->default_colours) {
        look.foreground = look.foreground == COLOUR_DEFAULT ? COLOR_WHITE : look.foreground;
        look.background = look.background == COLOUR_DEFAULT ? COLOR_BLACK : look.background;
    }
    style.pair = (short)(1 + 2 * role + selected);
    init_extended_pair(style.pair, look.foreground, look.background);
    return style;
}

static void use_theme(struct terminal *terminal, const struct theme *theme)
{
    if (memcmp(&terminal->theme, theme, sizeof(*theme)) == 0)
        return;
    terminal->theme = *theme;
    for (size_t role = 0; role < ROLES_N; role++)
        for (int selected = 0; selected < 2; selected++)
            terminal->style[role][selected] = make_style(terminal, theme, (enum role)role, selected);
    forget_shown(terminal);
}

/* A glyph as ncurses takes it. What the C library does not give the same width would move all that follows:
 * such a character is a `?`. */
static void widen(const struct terminal *terminal, const struct canvas_cell *cell,
                  wchar_t out[CCHARW_MAX + 1])
{
    size_t n = 0, taken;
    for (const char *p = cell->glyph; *p && n < CCHARW_MAX; p += taken) {
        uint32_t code = utf8_decode(p, strnlen(p, UTF8_MAX), &taken);
        bool plain = code >= 0x20 && code < 0x7f;
        int expected = n == 0 ? cell->width : 0;
        if (plain || (terminal->utf8 && code != UTF8_INVALID && wcwidth((wchar_t)code) == expected))
            out[n++] = (wchar_t)code;
        else if (n == 0)
            out[n++] = L'?';
    }
    out[n] = L'\0';
}

static void draw_cell(struct terminal *terminal, int row, int col, const struct canvas_cell *cell)
{
    const struct style *style =
        &terminal->style[cell->role < ROLES_N ? cell->role : ROLE_TEXT][cell->selected];
    wchar_t text[CCHARW_MAX + 1];
    cchar_t out;

    widen(terminal, cell, text);
    bool narrowed = cell->width == 2 && text[0] == L'?';
    setcchar(&out, text, style->attributes, style->pair, NULL);
    mvadd_wch(row, col, &out);
    if (narrowed) {
        setcchar(&out, L" ", style->attributes, style->pair, NULL);
        mvadd_wch(row, col + 1, &out);
    }
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static void draw_row(struct terminal *terminal, const struct canvas *canvas, const struct canvas *before,
                     int row)
{
    for (int col = 0; col < smaller(canvas->cols, terminal->cols); col++) {
        const struct canvas_cell *cell = canvas_at(canvas, row, col);
        if (before && memcmp(cell, canvas_at(before, row, col), sizeof(*cell)) == 0)
            continue;
        if (cell->width > 0 && col + cell->width <= terminal->cols)
            draw_cell(terminal, row, col, cell);
    }
}

/* Tells ncurses what changed; true when something did. */
static bool draw(struct terminal *terminal, const struct canvas *canvas)
{
    const struct canvas *before = terminal->shown;
    size_t row_bytes = (size_t)canvas->cols * sizeof(*canvas->cells);
    bool changed = false;

    if (before && (before->rows != canvas->rows || before->cols != canvas->cols))
        before = NULL;
    if (!before)
        erase();
    for (int row = 0; row < smaller(canvas->rows, terminal->rows); row++) {
        const char *now = (const char *)canvas->cells + (size_t)row * row_bytes;
        if (before && memcmp(now, (const char *)before->cells + (size_t)row * row_bytes, row_bytes) == 0)
            continue;
        draw_row(terminal, canvas, before, row);
        changed = true;
    }
    return changed || !before;
}

static void remember(struct terminal *terminal, const struct canvas *canvas)
{
    if (!terminal->shown)
        terminal->shown = canvas_new(canvas->rows, canvas->cols, canvas->utf8);
    else if (terminal->shown->rows != canvas->rows || terminal->shown->cols != canvas->cols)
        canvas_resize(terminal->shown, canvas->rows, canvas->cols);
    memcpy(terminal->shown->cells, canvas->cells,
           (size_t)canvas->rows * (size_t)canvas->cols * sizeof(*canvas->cells));
    terminal->shown->cursor_row = canvas->cursor_row;
    terminal->shown->cursor_col = canvas->cursor_col;
}

static void place_cursor(struct terminal *terminal, const struct canvas *canvas)
{
    bool visible = canvas->cursor_row >= 0;
    curs_set(visible);
    leaveok(stdscr, !visible && terminal->hides_cursor);
    if (visible)
        move(smaller(canvas->cursor_row, terminal->rows - 1),
             smaller(canvas->cursor_col, terminal->cols - 1));
    else
        move(terminal->rows - 1, 0);
}

void terminal_show(struct terminal *terminal, const struct canvas *canvas, const struct theme *theme)
{
    use_theme(terminal, theme);
    const struct canvas *shown = terminal->shown;
    bool moved = !shown || shown->cursor_row != canvas->cursor_row || shown->cursor_col != canvas->cursor_col;
    if (!draw(terminal, canvas) && !moved && !terminal->redraw)
        return;
    if (terminal->redraw)
        clearok(curscr, TRUE);
    terminal->redraw = false;
    place_cursor(terminal, canvas);
    refresh();
    remember(terminal, canvas);
}

void terminal_redraw(struct terminal *terminal)
{
    terminal_resize(terminal);
    reset_prog_mode(); /* a shell that was in front may have left its own modes */
    terminal->redraw = true;
}

void terminal_suspend(struct terminal *terminal)
{
    struct sigaction stop = {.sa_handler = SIG_DFL}, before;
    sigset_t set, mask;

    def_prog_mode();
    make_way();
    endwin();
    rescue_disarm();
    sigemptyset(&set);
    sigaddset(&set, SIGTSTP);
    sigaction(SIGTSTP, &stop, &before);
    kill(getpid(), SIGTSTP);
    pthread_sigmask(SIG_UNBLOCK, &set, &mask); /* stops here, until SIGCONT */
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    sigaction(SIGTSTP, &before, NULL);
    rescue_save();
    rescue_rearm();
    def_shell_mode();
    terminal_redraw(terminal);
}

/* --- reading --- */

static const struct {
    int code;
    uint32_t key;
} key_codes[] = {
    {'\r', TKEY_ENTER},        {'\n', TKEY_ENTER},
    {KEY_ENTER, TKEY_ENTER},   {'\t', TKEY_TAB},
    {KEY_BTAB, TKEY_BACKTAB},  {KEY_BACKSPACE, TKEY_BACKSPACE},
    {'\b', TKEY_BACKSPACE},    {127, TKEY_BACKSPACE},
    {KEY_UP, TKEY_UP},         {KEY_DOWN, TKEY_DOWN},
    {KEY_LEFT, TKEY_LEFT},     {KEY_RIGHT, TKEY_RIGHT},
    {KEY_SR, TKEY_UP},         {KEY_SF, TKEY_DOWN},
    {KEY_SLEFT, TKEY_LEFT},    {KEY_SRIGHT, TKEY_RIGHT},
    {KEY_HOME, TKEY_HOME},     {KEY_END, TKEY_END},
    {KEY_FIND, TKEY_HOME},     {KEY_SELECT, TKEY_END},
    {KEY_PPAGE, TKEY_PAGE_UP}, {KEY_NPAGE, TKEY_PAGE_DOWN},
    {KEY_IC, TKEY_INSERT},     {KEY_DC, TKEY_DELETE},
    {KEY_A1, TKEY_HOME},       {KEY_A3, TKEY_PAGE_UP},
    {KEY_C1, TKEY_END},        {KEY_C3, TKEY_PAGE_DOWN},
};

static int next_code(struct terminal *terminal)
{
    int code = terminal->pushed;
    terminal->pushed = ERR;
    return code != ERR ? code : wgetch(terminal->keys);
}

static struct terminal_event key_event(uint32_t key)
{
    return (struct terminal_event){.kind = TERMINAL_KEY, .key = key};
}

static const struct terminal_event nothing = {.kind = TERMINAL_NOTHING};

/* A sequence that terminfo does not know must not be taken for Escape and a word of commands. */
static struct terminal_event after_escape(struct terminal *terminal)
{
    int code = wgetch(terminal->keys);
    if (code == 'O') {
        wgetch(terminal->keys);
        return nothing;
    }
    if (code == '[') {
        do
            code = wgetch(terminal->keys);
        while (code >= 0x20 && code < 0x40);
        return nothing;
    }
    terminal->pushed = code;
    return key_event(TKEY_ESCAPE);
}

static struct terminal_event mouse_event(void)
{
    static const struct {
        mmask_t state;
        enum terminal_event_kind kind;
    } presses[] = {{BUTTON1_PRESSED, TERMINAL_CLICK},
                   {BUTTON4_PRESSED, TERMINAL_WHEEL_UP},
                   {BUTTON5_PRESSED, TERMINAL_WHEEL_DOWN}};
    MEVENT event;
    if (getmouse(&event) == OK)
        for (size_t i = 0; i < sizeof(presses) / sizeof(presses[0]); i++)
            if (event.bstate & presses[i].state)
                return (struct terminal_event){.kind = presses[i].kind, .row = event.y, .col = event.x};
    return nothing;
}

/* A byte of a character beyond ASCII. */
static struct terminal_event byte_event(struct terminal *terminal, int code)
{
    size_t taken;
    terminal->bytes[terminal->n_bytes++] = (char)code;
    uint32_t character = utf8_decode(terminal->bytes, terminal->n_bytes, &taken);
    bool whole = character != UTF8_INVALID;
    if (whole || terminal->n_bytes == UTF8_MAX)
        terminal->n_bytes = 0;
    return whole && terminal->utf8 ? key_event(character) : nothing;
}

/* TERMINAL_NOTHING: the code says nothing alone. */
static struct terminal_event code_event(struct terminal *terminal, int code)
{
    if (code >= 0x80 && code <= 0xff)
        return byte_event(terminal, code);
    terminal->n_bytes = 0;
    if (code == KEY_MOUSE)
        return mouse_event();
    if (code == ESCAPE)
        return after_escape(terminal);
    for (size_t i = 0; i < sizeof(key_codes) / sizeof(key_codes[0]); i++)
        if (key_codes[i].code == code)
            return key_event(key_codes[i].key);
    if (code >= KEY_F(1) && code <= KEY_F(12))
        return key_event(TKEY_F1 + (uint32_t)(code - KEY_F(1)));
    return code > 0 && code < 0x80 ? key_event((uint32_t)code) : nothing;
}

static bool is_gone(void)
{
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
    int waiting = 0;
    if (poll(&fd, 1, 0) <= 0)
        return false;
    if (fd.revents & (POLLHUP | POLLERR | POLLNVAL))
        return true;
    /* Readable, and nothing to read: end of file. */
    return fd.revents & POLLIN && ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting == 0;
}

struct terminal_event terminal_read_key(struct terminal *terminal)
{
    int code;
    while ((code = next_code(terminal)) != ERR) {
        struct terminal_event event = code_event(terminal, code);
        if (event.kind != TERMINAL_NOTHING)
            return event;
    }
    return is_gone() ? (struct terminal_event){.kind = TERMINAL_GONE} : nothing;
}
