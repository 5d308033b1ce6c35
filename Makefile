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
# Optional sources: present in the build when pkg-config knows the library. libvirt's headers alone are used; the library
# is loaded where there is a daemon to talk to (collectors/libvirt_api.h).
HAVE_LIBVIRT := $(shell pkg-config --exists libvirt && echo 1)

CFLAGS  ?= -O2 -g
CPPFLAGS += -D_GNU_SOURCE -DVNETTOP_VERSION='"$(VERSION)"' -DVNETTOP_DATADIR='"$(PREFIX)/share/vnettop"' \
            $(if $(HAVE_LIBVIRT),-DHAVE_LIBVIRT) -I. $(shell pkg-config --cflags $(PKGS) $(if $(HAVE_LIBVIRT),libvirt))
WARN     = -std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith $(if $(WERROR),-Werror)
LIBS     = $(shell pkg-config --libs $(PKGS)) -lpthread -ldl -lm

# Every .c of these folders belongs to the program, but for sources whose library is not there; src/main.c alone has main().
WITHOUT := $(if $(HAVE_LIBVIRT),,collectors/libvirt%.c)
SRCS    := $(filter-out $(WITHOUT),$(wildcard src/*.c collectors/*.c ui/*.c))
OBJS    := $(SRCS:%.c=$(BUILD)/%.o)
LIBOBJS := $(filter-out $(BUILD)/src/main.o,$(OBJS))
# tests/unit/test_X.c is one cmocka program each, linked with all but main.
UNITS   := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(filter-out $(WITHOUT:collectors/%=tests/unit/test_%),$(wildcard tests/unit/test_*.c)))
# tests/fakes/X.c, tests/lab/X.c: helper programs of the tests, one file each.
# One of them is DPDK's own telemetry library with replies of ours, where that is installed.
HAVE_DPDK := $(shell pkg-config --exists libdpdk && echo 1)
TOOLS   := $(patsubst tests/%.c,$(BUILD)/tools/%,$(filter-out $(if $(HAVE_DPDK),,tests/fakes/telemetry_server.c),$(wildcard tests/fakes/*.c tests/lab/*.c)))
# tests/bench/X.c: one program each, linked with all but main.
BENCHES := $(patsubst tests/%.c,$(BUILD)/tools/%,$(wildcard tests/bench/*.c))
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))

all: $(BUILD)/vnettop ## build the program (build/vnettop)

$(BUILD)/vnettop: $(OBJS)
	$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(SAN) $(WARN) -MMD -MP -c -o $@ $<

# Tests see the program's objects as an archive, so a test links only what it uses. A test's own code is compiled with -O0:
# it runs once, and optimizing it is most of the time that building all of them takes.
$(BUILD)/libvnettop.a: $(LIBOBJS)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/tests/%: tests/unit/%.c $(BUILD)/libvnettop.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests $(CFLAGS) -O0 $(SAN) $(WARN) -MMD -MP -o $@ $< $(BUILD)/libvnettop.a $(LIBS) -lcmocka

# Its other connection is the test's own.
$(BUILD)/tests/test_libvirt: LIBS += $(shell pkg-config --libs libvirt)

$(BUILD)/tools/bench/%: tests/bench/%.c tests/bench/bench.h $(BUILD)/libvnettop.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests $(CFLAGS) $(SAN) $(WARN) -o $@ $< $(BUILD)/libvnettop.a $(LIBS) -lutil

$(BUILD)/tools/fakes/telemetry_server: tests/fakes/telemetry_server.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) $$(pkg-config --cflags libdpdk) -o $@ $< $$(pkg-config --libs libdpdk)

$(BUILD)/tools/%: tests/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -o $@ $< -lpthread

# Each fuzzer is linked with the program, which `make asan` builds with the fuzzer's counters.
$(BUILD)/fuzz/%: tests/fuzz/%.c $(BUILD)/libvnettop.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -fsanitize=fuzzer $(SAN) $(WARN) -o $@ $< $(BUILD)/libvnettop.a $(LIBS)

$(BUILD)/generate: man/generate.c $(BUILD)/libvnettop.a
	$(CC) $(CPPFLAGS) $(CFLAGS) $(SAN) $(WARN) -o $@ $< $(BUILD)/libvnettop.a $(LIBS)

units: $(UNITS)
tools: $(TOOLS)
fuzz-programs: $(FUZZERS)

man: $(BUILD)/generate ## write man/vnettop.1 and the shell completion anew from the tables
	$(BUILD)/generate man man/vnettop.1.in >man/vnettop.1.new && mv man/vnettop.1.new man/vnettop.1
	$(BUILD)/generate bash >man/vnettop.bash.new && mv man/vnettop.bash.new man/vnettop.bash

run: ## install what is missing (apt), build, and start the console
	build-aux/need build
	$(MAKE) -s all
	$(BUILD)/vnettop $(ARGS)

test: ## install what is missing (apt), build, and run all tests; LAB=0 leaves the real systems alone
	build-aux/need $(if $(filter 0,$(LAB)),test,lab)
	LAB=$(LAB) tests/run $(PARTS)

golden: $(UNITS) ## write the golden screens anew; read the diff
	GOLDEN=write $(BUILD)/tests/test_golden
	GOLDEN=write $(BUILD)/tests/test_golden_large

# clang 14 takes NULL + 0, which C23 allows, for an overflow of a pointer.
ASAN = -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=pointer-overflow -fno-sanitize-recover=all
asan: ## build all, tests and fuzzers (build-asan/fuzz) with clang's address and undefined sanitizers into build-asan
	$(MAKE) BUILD=build-asan CC=clang CFLAGS='-g -O1' SAN='$(ASAN)' all units fuzz-programs

tsan: ## build the program and the tests with threads with the thread sanitizer into build-tsan
	$(MAKE) BUILD=build-tsan CFLAGS='-g -O1' SAN=-fsanitize=thread all $(TSAN_UNITS:%=build-tsan/tests/%)
TSAN_UNITS = test_feed test_session

bench: all $(BENCHES) ## what vnettop costs, as ratios within this run (all parts but observer: tests/bench/run)
	tests/bench/run $(BUILD)

install: all ## install below $(DESTDIR)$(PREFIX)
	install -D -m 755 $(BUILD)/vnettop $(DESTDIR)$(PREFIX)/bin/vnettop
	install -D -m 644 man/vnettop.1 $(DESTDIR)$(PREFIX)/share/man/man1/vnettop.1
	install -D -m 644 man/vnettop.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/vnettop
	install -d $(DESTDIR)$(PREFIX)/share/vnettop/themes
	install -m 644 themes/*.theme $(DESTDIR)$(PREFIX)/share/vnettop/themes

format: ## format all C files
	clang-format -i $(wildcard src/*.[ch] collectors/*.[ch] ui/*.[ch] man/*.c tests/*/*.[ch])

clean: ## remove what was built
	rm -rf build build-asan build-tsan

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 12

-include $(OBJS:.o=.d) $(UNITS:=.d)

LAB ?= 1
.PHONY: all units tools fuzz-programs man run test golden asan tsan bench install format clean help
