# SPDX-License-Identifier: MIT
# vnettop's build. `make help` lists the targets.

VERSION  = 0.1.0
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= gcc
BUILD   ?= build
WERROR  ?=
SAN     ?=

PKGS     = libnl-3.0 libnl-route-3.0 ncursesw jansson libxml-2.0
# Optional sources: present in the build when pkg-config knows the library.
HAVE_LIBVIRT := $(shell pkg-config --exists libvirt && echo 1)
PKGS    += $(if $(HAVE_LIBVIRT),libvirt)

CFLAGS  ?= -O2 -g
CPPFLAGS += -D_GNU_SOURCE -DVNETTOP_VERSION='"$(VERSION)"' -DVNETTOP_DATADIR='"$(PREFIX)/share/vnettop"' \
            $(if $(HAVE_LIBVIRT),-DHAVE_LIBVIRT) -I. $(shell pkg-config --cflags $(PKGS))
WARN     = -std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith $(if $(WERROR),-Werror)
LIBS     = $(shell pkg-config --libs $(PKGS)) -lpthread -lm

# Every .c of these folders belongs to the program; src/main.c alone has main().
SRCS    := $(wildcard src/*.c collectors/*.c ui/*.c)
OBJS    := $(SRCS:%.c=$(BUILD)/%.o)
LIBOBJS := $(filter-out $(BUILD)/src/main.o,$(OBJS))
# tests/unit/test_X.c is one cmocka program each, linked with all but main.
UNITS   := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
# tests/fakes/X.c, tests/lab/X.c: helper programs of the tests, one file each.
TOOLS   := $(patsubst tests/%.c,$(BUILD)/tools/%,$(wildcard tests/fakes/*.c tests/lab/*.c tests/bench/*.c))
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))

all: $(BUILD)/vnettop ## build the program (build/vnettop)

$(BUILD)/vnettop: $(OBJS)
	$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(SAN) $(WARN) -MMD -MP -c -o $@ $<

# Tests see the program's objects as an archive, so a test links only what it uses.
$(BUILD)/libvnettop.a: $(LIBOBJS)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/tests/%: tests/unit/%.c $(BUILD)/libvnettop.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests $(CFLAGS) $(SAN) $(WARN) -MMD -MP -o $@ $< $(BUILD)/libvnettop.a $(LIBS) -lcmocka

$(BUILD)/tools/%: tests/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -o $@ $< -lpthread

-include $(OBJS:.o=.d) $(UNITS:=.d)

.PHONY: all
