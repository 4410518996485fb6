# SPDX-License-Identifier: MIT
#
# Builds the module, the library and the tools, and starts the tests and the demo. Everything made is
# under build/. Sources are found by where they lie:
#
#   kmod/                      the module, once per kernel: build/kernel/RELEASE/kmod/torcoll.ko
#   kmod/core/ kmod/simd/      also for the host: build/host/libtorcore.a, sanitized in build/asan/
#   lib/*.c                    build/lib/libtorcoll.so.0, libtorcoll.a
#   lib/examples/*.c           build/bin/examples/NAME
#   python/torcoll/            the Python package, which needs no building
#   python/c10d/*.cc           build/torch/_torcoll_torch.so, a backend of torch.distributed
#   mpi/common/*.c mpi/openmpi/*.c  build/mpi/mca_coll_torcoll.so, a component of Open MPI
#   mpi/common/*.c mpi/mpich/*.c    build/mpi/libtorcoll-mpi.so, which stands before MPICH
#   tools/NAME.c tools/NAME/*.c  build/bin/NAME; a C file in tools/common/ is part of every tool
#   selftests/unit/*_test.c    build/asan/unit/NAME_test, with the other C files there

# Stated there, for the module. What else must name it is compared by a test: see docs/contributing.md.
VERSION := $(shell sed -n 's/^.define TOR_VERSION[[:space:]]*"\(.*\)"/\1/p' kmod/core/version.h)

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
DATADIR ?= $(PREFIX)/share
DOCDIR ?= $(DATADIR)/doc/torcoll
BASHDIR ?= $(DATADIR)/bash-completion/completions
ZSHDIR ?= $(DATADIR)/zsh/site-functions
UDEVDIR ?= /lib/udev/rules.d
UNITDIR ?= /lib/systemd/system
SYSUSERSDIR ?= /usr/lib/sysusers.d
LIMITSDIR ?= /etc/security/limits.d
DKMSDIR ?= /usr/src
MODDIR ?= /lib/modules
# Where Debian's python3 looks for packages that are not Debian's, or are. Empty, as without it: the Python package is not installed.
PYTHON ?= /usr/bin/python3
PYTHONDIR ?= $(patsubst %,$(PREFIX)/lib/python%/dist-packages,$(if $(filter /usr,$(PREFIX)),3,$(python_version)))

# The kernel: Debian's of that series from the cache, or headers anywhere.
KERNEL ?= 6.12
KDIR ?=

# For which architecture, as Debian calls it: amd64, arm64; s390x for the unit tests and the simulator.
host_arch := $(or $(patsubst %,amd64,$(filter x86_64,$(shell uname -m))),$(patsubst %,arm64,$(filter aarch64,$(shell uname -m))),\
	$(shell uname -m))
ARCH ?= $(host_arch)
machine := $(or $(patsubst %,x86_64,$(filter amd64,$(ARCH))),$(patsubst %,aarch64,$(filter arm64,$(ARCH))),$(ARCH))
CFLAGS ?= -O2 -g
CXXFLAGS ?= -O2
# Of what only tests need; WERROR= where a compiler that is newer than this has new warnings.
WERROR ?= -Werror
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

V ?= 0
ifeq ($(V),1)
Q :=
say = @:
else
Q := @
MAKEFLAGS += --no-print-directory
say = @printf '  %-7s %s\n'
endif

# Asked only when installing.
python_version = $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)

# As many jobs as processors, unless told otherwise.
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

# For another architecture: beside what is made for this one, with Debian's cross compiler, and libraries from the cache.
ifeq ($(ARCH),$(host_arch))
B := build
else
B := build/$(ARCH)
cross := $(machine)-linux-gnu-
export ARCH
# Asked when the first thing is compiled.
sysroot = $(eval sysroot := $$(or $$(shell ARCH=$(ARCH) scripts/root),$$(error no libraries for $(ARCH))))$(sysroot)
CC = $(cross)gcc --sysroot=$(sysroot) -L$(sysroot)/usr/lib/$(machine)-linux-gnu
AR = $(cross)ar
PKG_CONFIG = PKG_CONFIG_SYSROOT_DIR=$(sysroot) \
	PKG_CONFIG_LIBDIR=$(sysroot)/usr/lib/$(machine)-linux-gnu/pkgconfig:$(sysroot)/usr/share/pkgconfig pkg-config
endif

CC ?= gcc
CXX ?= g++
AR ?= ar
PKG_CONFIG ?= pkg-config

# Where Open MPI 4.1 or 5.0 is, with its internal headers, and where PMIx's are, which those of 5.0 include; nowhere for another
# architecture.
mpi_incdir := $(if $(cross),,$(patsubst %/openmpi/ompi/mca/coll/coll.h,%,$(firstword \
	$(wildcard /usr/lib/$(machine)-linux-gnu/openmpi/include/openmpi/ompi/mca/coll/coll.h))))
mpi_incdir := $(if $(mpi_incdir),$(shell grep -sq 'define OMPI_MAJOR_VERSION [45]' $(mpi_incdir)/mpi.h && echo $(mpi_incdir)))
pmix_incdir := $(if $(mpi_incdir),$(firstword $(wildcard /usr/lib/$(machine)-linux-gnu/pmix2/include)))
# Where MPICH is.
mpich_incdir := $(if $(cross),,$(patsubst %/mpi.h,%,$(wildcard /usr/include/$(machine)-linux-gnu/mpich/mpi.h)))

# Where PyTorch's C++ headers and those of Debian's Python are; nowhere for another architecture. TORCH_INCDIR= names others,
# TORCH_LIBDIR= the folder of its libraries.
TORCH_INCDIR ?= $(if $(cross),,$(if $(and $(wildcard /usr/include/torch/csrc/distributed/c10d/ProcessGroup.hpp),\
	$(wildcard /usr/include/pybind11/chrono.h)),/usr/include))
TORCH_LIBDIR ?= /usr/lib/$(machine)-linux-gnu
python_incdir := $(if $(TORCH_INCDIR),$(firstword $(wildcard /usr/include/python3.*/Python.h)))

ifeq ($(strip $(B)),)
$(error B is empty: name the folder to build in)
endif
comma := ,
empty :=
space := $(empty) $(empty)

common_flags := -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers \
	-Wmissing-prototypes -Wstrict-prototypes -ffp-contract=off -fno-strict-aliasing -pthread \
	-D_GNU_SOURCE -DTORCOLL_VERSION='"$(VERSION)"' -Iuapi

.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:

.PHONY: all
all: module lib tools examples tests $(if $(mpi_incdir)$(mpich_incdir),mpi) $(if $(python_incdir),torch)

.PHONY: help
help:
	@echo 'To see it:'
	@echo '  make demo               a torus of 16 nodes in a guest'
	@echo '  make demo VMS=2x2       a guest for each node; KERNEL=6.1,6.12 mixes kernels, NIC=e1000e'
	@echo '  make demo-recording     README'"'"'s picture of it, docs/demo.svg, from a run'
	@echo '  make shell              the same torus, and a shell in its node 0'
	@echo 'To build it:'
	@echo '  make all                module, lib, tools, examples and test programs'
	@echo '  make module             the kernel module, for KERNEL=6.12 (default), 6.1, 7.3, rt, ... or KDIR=...'
	@echo '  make lib                libtorcoll'
	@echo '  make tools              torcollctl, torcollrun, torcoll-perf, ...'
	@echo '  make mpi                the component of Open MPI that runs its collectives by torcoll; part of all where libopenmpi-dev is'
	@echo '  make torch              the backend of torch.distributed; part of all where libtorch-dev is'
	@echo '  make debug-kernel       kernels that report mistakes, for the tests below: built once'
	@echo 'To install it:'
	@echo '  make deps               installs the Debian packages for make, make demo and make check; other targets install their own'
	@echo '  make install            library, Python package, tools, headers, manual pages, module source for DKMS; DESTDIR= PREFIX='
	@echo '  make uninstall          removes what that has installed; with the same DESTDIR= PREFIX='
	@echo '  make install-module     the module for KDIR=, without DKMS'
	@echo '  make mpi5               the component for Open MPI 5.0, where 4.1 is here, in a chroot of Debian 13: for its test'
	@echo '  make torch2             the backend for PyTorch 2.6, where 1.13 is here, in the same chroot: for its tests'
	@echo '  make install-mpi        the component of Open MPI; DESTDIR= MCADIR='
	@echo '  make install-torch      the backend of torch.distributed; DESTDIR= PYTHONDIR='
	@echo '  make deb                Debian packages, in build/deb/'
	@echo '  make docs               the documents as a site that needs no server, build/docs/html/index.html'
	@echo '  make install-docs       the same, below DOCDIR'
	@echo '  make clean              removes build/'
	@echo 'To test it:'
	@echo '  make check              all tests; T=name for one; KERNEL=7.3 for that kernel'
	@echo '  make style              the static checks alone'
	@echo '  make coverage           which lines and branches of kmod/core the host tests run'
	@echo '  make coverage-kmod      which lines of kmod/ the guest tests run, in the debug kernel'
	@echo '  make fuzz               searches with every fuzzer; T=seconds for each'
	@echo '  make fuzz-kernel        the same for the module, in guests with the debug kernel; T=seconds, NAMES="netlink" for some'
	@echo '  make check-plans        all plans on every shape of up to 64 nodes; T=swing-bw for one; minutes'
	@echo '  make check-chords       rings with chords of up to 64 nodes and 6 ports: rounds, loads, results; minutes'
	@echo '  make check-circulant    circulant schedules for up to 2,100,000 ranks; minutes'
	@echo '  make check-scale        simulated fabrics of up to 4,096 nodes, from their start to a result; an hour'
	@echo '  make check-vms          tests with a guest for each node; needs both kernels, takes minutes'
	@echo '  make check-long         tests in a guest that take long'
	@echo '  make check-conformance  2000 random calls against a sequential program; SEED=word CASES=n PPN=n,n ORDER=by-node|shuffled COMM=dup|slice'
	@echo '  make check-all          cases in which any two properties of a call meet, on both kernels; SHAPES=4x4 for some'
	@echo '  make check-planted      does that find bugs? ten deliberate ones in the module'
	@echo '  make check-stress       random calls of many processes; MINUTES=10 SEED=n, KERNEL=6.1|debug as well'
	@echo '  make check-debug        what runs in guests, with memory, locking and leak checks, and failing allocations'
	@echo '  make check-mpi          MPICH'\''s tests by Open MPI, or MPICH=1, with torcoll and without it: NAMES="allred" for some; half an hour'
	@echo '  make check-torch        PyTorch'\''s own tests of torch.distributed with Gloo and with torcoll: NAMES="test_all_reduce" for some; SUITE=trixie with PyTorch 2.6; an hour'
	@echo '  make check-kcsan        what does much at once in guests, with a check for data races'
	@echo '  make check-bare         the demo and all tests on a bare Debian 12, in a chroot: three quarters of an hour; SHORT=1 for few tests, SUITE=trixie on Debian 13'
	@echo '  make check-docs         documents, manual pages, and the site, its links and scripts: minutes'
	@echo '  make check-dkms         the module by DKMS, for both kernels'
	@echo '  make check-deb          the Debian packages, from a bare chroot to a purge: half an hour; SUITE=trixie on Debian 13'
	@echo '  make check-guide        the guide by the letter, from a bare Debian to an allreduce between two guests: half an hour; SUITE=trixie'
	@echo 'To measure it:'
	@echo '  make bench              beside Open MPI, MPICH and Gloo, in a guest with 6.1: 40 minutes'
	@echo '  make bench ICOUNT=1     instructions per call instead of time'
	@echo '  make bench-torch        torch.distributed by torcoll and by Gloo, in instructions, in a guest; NODES="4 8": ten minutes each'
	@echo '  make bench-hop          what a forwarded frame costs, beside IP forwarding; PROFILE=1 by function'
	@echo '  make bench-chords       8 bytes on rings with chords, beside tori; CHORDS_PAIRS="16+4:4x4"'
	@echo '  make bench-floor        a short allreduce, beside the same tree in a bare module'
	@echo '  make bench-ip           TCP over the network device, beside bare cables and IP forwarding; PROFILE=1 by function'
	@echo '  make bench-stall        how long a processor does nothing else meanwhile'
	@echo '  make bench-rt           how late a real-time thread runs beside an allreduce, on PREEMPT_RT'
	@echo '  make bench-core         what the core alone takes per frame'
	@echo '  make bench-entries      the longest that one entry into it takes, with 65,536 nodes and 2^20 ranks'
	@echo '  make bench-plans        what plans cost to compute, on 16,384 nodes'
	@echo '  make bench-reduce       the reduction kernels, natively: under a minute'
	@echo '  make results            the experiments of the papers by the model, into docs/results/'
	@echo 'For the documents:'
	@echo '  make road               what one allreduce of 256 KiB runs of the module: functions, files, calls; LIST=1 names them'
	@echo '  make house              the picture of the house, docs/house.svg'
	@echo '  make screenshots        the site and the stepper in a browser, docs/site.png, docs/stepper.png'
	@echo '  make pictures           torcollctl top and fabric show --all of fabrics in a guest, docs/top-*.svg, docs/fabric-*.svg'
	@echo 'KERNEL= chooses one of Debian 12 and 13: 6.12 (default), 6.1, 7.2, 7.3, with -rt that of PREEMPT_RT, rt the newest of these;'
	@echo 'KDIR=headers any other; V=1 shows commands.'
	@echo 'ARCH=arm64 on another machine: all, module, check, demo and shell for that architecture, in build/arm64/ and emulated.'

# ---- Debian's packages ----

# What is missing is installed before anything that needs it is made: each target names a group of scripts/install-deps, which
# takes a tenth of a second where nothing is missing. Who is not root is told, and what can be built is built. DEPS=no: nothing is
# looked for, since a package's build has its own dependencies.
DEPS ?= yes
deps_groups := build mpi torch guest check docs fuzz debug dkms deb bench rt results bare
.PHONY: deps $(addprefix deps-,$(deps_groups))
$(addprefix deps-,$(deps_groups)): deps-%:
	$(Q)$(if $(filter no,$(DEPS)),:,scripts/install-deps $(filter-out $*,build) $* $(if $(cross),$(ARCH)))

deps:
	$(Q)scripts/install-deps

# ---- the module ----

# Always asked, since only kbuild knows whether something is to do.
.PHONY: module
module: | deps-build
	$(Q)KERNEL='$(KERNEL)' KDIR='$(KDIR)' V='$(V)' scripts/build-module

# ---- compiling for the host, in variants ----

flags_host := $(CPPFLAGS) $(CFLAGS)
flags_asan := -O1 -g $(SANITIZE) $(WERROR)
flags_cov := -O0 -g --coverage
flags_fuzz := -O1 -g -fsanitize=fuzzer-no-link $(SANITIZE)
# The only variant that gcc cannot make.
cc_fuzz := clang

# What a folder needs beyond the common flags.
flags_of = $(flags_$(firstword $(subst /, ,$(1)))) \
	$(if $(findstring _avx512,$(1)),-mavx512f -mavx512bw -mavx512dq -mavx512vl) \
	$(if $(findstring _avx2,$(1)),-mavx2 -mf16c) $(if $(findstring _fp16,$(1)),-march=armv8.2-a+fp16)
flags_kmod := -iquote kmod
flags_bench := -iquote kmod -Ilib -Ilib/include
flags_lib := -Ilib -Ilib/include -fPIC -D_FILE_OFFSET_BITS=64
flags_mpi = -Ilib -fPIC -isystem $(mpi_incdir) -isystem $(mpi_incdir)/openmpi $(addprefix -isystem ,$(pmix_incdir)) \
	-idirafter mpi/openmpi/missing
flags_tools = -iquote kmod -Ilib -Ilib/include -Itools/common -Itools $(NL_CFLAGS)
flags_selftests = -Iselftests/plans -iquote kmod -Iselftests/unit -Iselftests/fuzz -Ilib -Ilib/include -Itools/torcollctl \
	$(NL_CFLAGS)

# Asked only when a tool is compiled.
NL_CFLAGS = $(eval NL_CFLAGS := $$(shell $(PKG_CONFIG) --cflags libnl-genl-3.0 json-c))$(NL_CFLAGS)
NL_LIBS = $(eval NL_LIBS := $$(shell $(PKG_CONFIG) --libs libnl-genl-3.0 json-c))$(NL_LIBS)
CURSES_LIBS = $(eval CURSES_LIBS := $$(shell $(PKG_CONFIG) --libs ncursesw))$(CURSES_LIBS)

deps_host := deps-build
deps_fuzz := deps-fuzz
define variant
# What the compiler says of a file stays beside its object: users' builds need not fail for a warning that a test is to see.
$(B)/$(1)/%.o: %.c Makefile kmod/core/version.h | $$(or $$(deps_$(1)),deps-check)
	$$(say) CC $$@
	@mkdir -p $$(@D)
	$$(Q)$$(or $$(cc_$(1)),$$(CC)) $$(common_flags) $$(flags_$(1)) $$(call flags_of,$$*) -MMD -MP -c -o $$@ $$< \
		2>$$(@:.o=.said); code=$$$$?; cat $$(@:.o=.said) >&2; exit $$$$code
endef
$(foreach v,host asan cov fuzz,$(eval $(call variant,$(v))))

-include $(shell find $(B)/host $(B)/asan $(B)/cov $(B)/fuzz -name '*.d' 2>/dev/null)

objects = $(patsubst %.c,$(B)/$(1)/%.o,$(2))

$(call objects,host,$(shell find selftests -name '*.c')): | deps-check

define archive
$(say) AR $@
@mkdir -p $(@D)
$(Q)rm -f $@ && $(AR) qcsD $@ $(filter %.o,$^)
endef

# ---- core ----

# Reductions of floats by the architecture's instruction sets, or by the compiler alone.
simd_amd64 := sse2 avx2 avx512
simd_arm64 := neon fp16
simd := $(or $(simd_$(ARCH)),plain)
core_sources := $(shell find kmod/core -name '*.c' | sort) $(simd:%=kmod/simd/reduce_%.c)

define core
$(B)/$(1)/libtorcore.a: $(call objects,$(1),$(core_sources))
	$$(archive)
endef
$(foreach v,host asan cov fuzz,$(eval $(call core,$(v))))

# ---- library ----

# With the table of names that it shares with the module.
lib_sources := $(wildcard lib/*.c) kmod/core/names.c
lib_map := $(wildcard lib/libtorcoll.map)

.PHONY: lib
ifneq ($(lib_sources),)
lib_files := $(B)/lib/libtorcoll.so.0 $(B)/lib/libtorcoll.so $(B)/lib/libtorcoll.a \
	$(if $(wildcard lib/libtorcoll.pc.in),$(B)/lib/libtorcoll.pc)
endif
lib: $(lib_files)
	@:

$(B)/lib/libtorcoll.so.0: $(call objects,host,$(lib_sources)) $(lib_map)
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -pthread -Wl,-soname,libtorcoll.so.0 -Wl,-z,defs $(LDFLAGS) \
		$(addprefix -Wl$(comma)--version-script=,$(lib_map)) -o $@ $(filter %.o,$^)

$(B)/lib/libtorcoll.so: $(B)/lib/libtorcoll.so.0
	$(Q)ln -sf libtorcoll.so.0 $@

$(B)/lib/libtorcoll.a: $(call objects,host,$(lib_sources))
	$(archive)

# Always, since it depends on where to install to.
.PHONY: $(B)/lib/libtorcoll.pc
$(B)/lib/libtorcoll.pc: lib/libtorcoll.pc.in
	@mkdir -p $(@D)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|g; s|@prefix@|$(PREFIX)|g' \
		-e 's|@LIBDIR@|$(LIBDIR)|g; s|@libdir@|$(LIBDIR)|g' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|g; s|@includedir@|$(INCLUDEDIR)|g' \
		-e 's|@VERSION@|$(VERSION)|g; s|@version@|$(VERSION)|g' $< >$@

# ---- Open MPI's component, MPICH's library ----

mpi_sources := $(wildcard mpi/common/*.c mpi/openmpi/*.c)
mpi_component := $(B)/mpi/mca_coll_torcoll.so

mpich_sources := $(wildcard mpi/common/*.c mpi/mpich/*.c)
mpich_library := $(B)/mpi/libtorcoll-mpi.so
mpi_headers := $(wildcard mpi/*/*.h) lib/torcoll.h lib/internal.h lib/number.h

# Open MPI's component names what it has of others, since a program may load Open MPI so that nobody else sees it, as Python does
# with mpi4py 4.
mpi_libs = -L$(mpi_incdir:%/include=%/lib) -lmpi -lopen-pal $(if $(pmix_incdir),-lpmix)

# Both have the library within, of which nobody else sees anything. Part of all where the headers of an MPI are.
.PHONY: mpi
mpi: | deps-mpi
	$(Q)$(MAKE) $(if $(mpich_incdir),$(mpich_library)) $(if $(mpi_incdir)$(if $(mpich_incdir),,no),$(mpi_component))

$(call objects,host,$(mpi_sources)): | deps-mpi
ifneq ($(mpi_incdir),)
$(mpi_component): $(call objects,host,$(mpi_sources)) $(B)/lib/libtorcoll.a
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -pthread -Wl,--exclude-libs,ALL -Wl,--as-needed -Wl,-z,defs $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(mpi_libs)
else
$(mpi_component):
	@echo 'mpi: the component is for Open MPI 4.1 and 5.0, of which there are no internal headers here (libopenmpi-dev)' >&2
	@exit 1
endif

# What is common to both is compiled for each of them. The library does not load MPICH, as it is before all programs that mpirun
# starts; so MPICH's functions are to be looked for when they are called, whatever LDFLAGS say.
$(mpich_library): $(mpich_sources) $(mpi_headers) $(B)/lib/libtorcoll.a Makefile | deps-mpi
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(common_flags) $(flags_host) -Ilib -fPIC -isystem $(mpich_incdir) -Wno-missing-prototypes -shared \
		-Wl,--exclude-libs,ALL $(LDFLAGS) -Wl,-z,lazy -o $@ $(mpich_sources) $(B)/lib/libtorcoll.a

# ---- PyTorch's backend ----

torch_sources := $(wildcard python/c10d/*.cc)
torch_module := $(B)/torch/_torcoll_torch.so
torch_objects := $(torch_sources:%.cc=$(B)/torch/%.o)

# It has the library within, as Open MPI's component. Part of all where PyTorch's headers are.
.PHONY: torch
torch: | deps-torch
	$(Q)$(MAKE) $(torch_module)

ifneq ($(python_incdir),)
$(torch_objects): $(B)/torch/%.o: %.cc Makefile
	$(say) CXX $@
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 $(CXXFLAGS) -fPIC -fvisibility=hidden -Wall -Wextra -pthread -Iuapi -Ilib \
		$(filter-out -isystem/usr/include,-isystem$(TORCH_INCDIR)) -isystem$(TORCH_INCDIR)/torch/csrc/api/include \
		-isystem $(patsubst %/Python.h,%,$(python_incdir)) -MMD -MP -c -o $@ $<

$(torch_module): $(torch_objects) $(B)/lib/libtorcoll.a
	$(say) LD $@
	$(Q)$(CXX) -shared -pthread -Wl,--exclude-libs,ALL $(LDFLAGS) -o $@ $(filter %.o %.a,$^) \
		-L$(TORCH_LIBDIR) -ltorch -ltorch_cpu -lc10

-include $(torch_objects:.o=.d)
else
$(torch_module):
	@echo 'torch: there are no headers of PyTorch here (libtorch-dev, pybind11-dev and python3-dev): TORCH_INCDIR= names where they are' >&2
	@exit 1
endif

# The component for Open MPI 5.0 and the backend for PyTorch 2.6, with their tests, where this Debian has 4.1 and 1.13: made in a
# chroot of Debian 13, where tests run them. They are made where that is possible, which takes root, and a network for the first
# time; a file "root" says where the chroot is. Guests, which may not make a folder, see them where selftests/in-trixie mounts them.
# $(call in-trixie,folder,packages,goals)
define in-trixie
$(Q)mkdir -p build/$1
$(Q)rm -f build/trixie/$1/root
$(Q)scripts/in-suite trixie $(subst $(space),$(comma),$(strip $2)) $(MAKE) --no-print-directory V=$(V) B=build/trixie DEPS=no $3
$(Q)bash -c '. scripts/common.sh; echo $$cache/suites/trixie' >build/trixie/$1/root
endef
trixie_packages := gcc libc6-dev make busybox-static gojq iproute2 kmod procps python3-numpy

mpi5_own := $(if $(mpi_incdir),$(shell grep -sq 'define OMPI_MAJOR_VERSION 5' $(mpi_incdir)/mpi.h && echo yes))
.PHONY: mpi5
mpi5:
ifneq ($(mpi5_own),)
	@echo 'mpi5: Open MPI is 5.0 here: make mpi'
else
	$(call in-trixie,mpi,$(trixie_packages) openmpi-bin libopenmpi-dev gfortran zlib1g-dev python3-mpi4py,mpi mpi-tests)
endif

torch2_own := $(if $(python_incdir),$(shell grep -sq 'define TORCH_VERSION_MAJOR 2' $(TORCH_INCDIR)/torch/version.h \
	$(TORCH_INCDIR)/torch/csrc/api/include/torch/version.h && echo yes))
.PHONY: torch2
torch2:
ifneq ($(torch2_own),)
	@echo 'torch2: PyTorch is 2 here: make torch'
else
	$(call in-trixie,torch,$(trixie_packages) python3-torch libtorch-dev pybind11-dev python3-dev g++ python3-pytest python3-setuptools,torch-tests)
endif

# Programs of MPI for tests of it, for each MPI.
mpi_tests := $(if $(mpi_incdir),$(addprefix $(B)/mpi/,every random order trouble fortran fortran08))
mpich_tests := $(if $(mpich_incdir),$(addprefix $(B)/mpi/,$(addsuffix .mpich,every random order trouble fortran fortran08)))
.PHONY: mpi-tests
mpi-tests: $(mpi_tests) $(mpich_tests)
mpi_test_sources := $(addprefix selftests/mpi/,calls.c moves.c reductions.c)

# Functions of its own are before those of libraries.
$(B)/mpi/trouble $(B)/mpi/trouble.mpich: mpi_test_flags := -rdynamic

$(filter-out %/fortran %/fortran08,$(mpi_tests)): $(B)/mpi/%: selftests/mpi/%.c $(mpi_test_sources) selftests/mpi/calls.h | deps-mpi
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)mpicc.openmpi -std=gnu11 -O1 -g -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers \
		-Wno-sign-compare $(mpi_test_flags) -o $@ $(filter %.c,$^)

$(filter-out %/fortran.mpich %/fortran08.mpich,$(mpich_tests)): $(B)/mpi/%.mpich: selftests/mpi/%.c $(mpi_test_sources) selftests/mpi/calls.h | deps-mpi
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)mpicc.mpich -std=gnu11 -O1 -g -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -Wno-stringop-overflow \
		-Wno-sign-compare $(mpi_test_flags) -o $@ $(filter %.c,$^)

$(addprefix $(B)/mpi/,fortran fortran08): $(B)/mpi/%: selftests/mpi/%.f90 | deps-mpi
	$(say) FC $@
	@mkdir -p $(@D)/fortran.mod
	$(Q)mpif90.openmpi -O1 -w -J$(@D)/fortran.mod -o $@ $<

$(addprefix $(B)/mpi/,fortran.mpich fortran08.mpich): $(B)/mpi/%.mpich: selftests/mpi/%.f90 | deps-mpi
	$(say) FC $@
	@mkdir -p $(@D)/fortran.mod
	$(Q)mpif90.mpich -O1 -w -J$(@D)/fortran.mod -o $@ $<

# ---- tools and examples ----

tool_common := $(wildcard tools/common/*.c)
tool_names := $(sort $(basename $(notdir $(wildcard tools/*.c))) \
	$(filter-out common job,$(patsubst tools/%/,%,$(dir $(wildcard tools/*/*.c)))))
# What a tool has of another's folder, or of the library's.
torcollctl_more := $(wildcard tools/job/*.c) lib/launcher.c
torcollrun_more := $(addprefix tools/torcollctl/,netns_list.c conf.c conf_check.c conf_name.c conf_value.c amount.c prefix.c) \
	$(wildcard tools/job/*.c)
tool_sources = $(wildcard tools/$(1).c tools/$(1)/*.c) $(tool_common) $($(1)_more)

# The library is found beside the program, built or installed. Empty for packages: theirs is where the loader looks.
RPATH ?= -Wl,-rpath,'$$ORIGIN/../lib' -Wl,-rpath,'$$ORIGIN/../../lib'

torcollctl_libs = $(B)/host/libtorcore.a -L$(B)/lib -ltorcoll $(NL_LIBS) $(CURSES_LIBS) -lm $(RPATH)
torcollctl_needs := $(B)/host/libtorcore.a $(B)/lib/libtorcoll.so
torcollrun_libs := $(B)/host/libtorcore.a -lm
torcollrun_needs := $(B)/host/libtorcore.a
torcoll-perf_libs = $(B)/host/libtorcore.a -L$(B)/lib -ltorcoll $(NL_LIBS) -lm $(RPATH)
torcoll-perf_needs := $(B)/host/libtorcore.a $(B)/lib/libtorcoll.so
torcoll-plan_libs := $(B)/host/libtorcore.a -ljson-c -lm
torcoll-plan_needs := $(B)/host/libtorcore.a
torcoll-sim_libs := $(B)/host/libtorcore.a -lm
torcoll-sim_needs := $(B)/host/libtorcore.a

.PHONY: tools
tools: $(addprefix $(B)/bin/,$(tool_names))
	@:

define tool
$(B)/bin/$(1): $(call objects,host,$(call tool_sources,$(1))) $($(1)_needs)
	$$(say) LD $$@
	@mkdir -p $$(@D)
	$$(Q)$$(CC) -pthread $$(LDFLAGS) -o $$@ $$(filter %.o,$$^) $$($(1)_libs)
endef
$(foreach t,$(tool_names),$(eval $(call tool,$(t))))

examples := $(patsubst lib/examples/%.c,$(B)/bin/examples/%,$(wildcard lib/examples/*.c))

.PHONY: examples
examples: $(examples)
	@:

train_libs := -lz

$(B)/bin/examples/%: $(B)/host/lib/examples/%.o $(B)/lib/libtorcoll.so
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) -pthread $(LDFLAGS) -o $@ $< -L$(B)/lib -ltorcoll $($*_libs) -lm $(RPATH)

# ---- benchmark: rivals, and what wires and processors can do ----

bench_programs := $(addprefix $(B)/bench/,torcoll_allreduce openmpi_allreduce mpich_allreduce \
	gloo_allreduce yield.so raw rates)

$(B)/bench/torcoll_allreduce: $(B)/host/bench/peers/torcoll_allreduce.o $(B)/lib/libtorcoll.so
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< -L$(B)/lib -ltorcoll $(RPATH)

# Open MPI's is also what a test starts by its mpirun.
$(B)/bench/openmpi_allreduce: | deps-check
$(B)/bench/mpich_allreduce: | deps-bench
$(B)/bench/openmpi_allreduce $(B)/bench/mpich_allreduce: $(B)/bench/%_allreduce: bench/peers/mpi_allreduce.c bench/peers/timing.h
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)mpicc.$* -O2 -Wall -o $@ $<

$(B)/bench/gloo_allreduce: bench/peers/gloo_allreduce.cc bench/peers/timing.h | deps-bench
	$(say) CXX $@
	@mkdir -p $(@D)
	$(Q)$(CXX) -O2 -Wall -std=c++17 -o $@ $< -lgloo -pthread

$(B)/bench/yield.so: bench/peers/yield.c
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -Wall -D_GNU_SOURCE -shared -fPIC -o $@ $< -ldl

$(B)/bench/raw $(B)/bench/rates: $(B)/bench/%: $(B)/host/bench/%.o
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) -pthread $(LDFLAGS) -o $@ $< -lz

$(B)/bench/reduce: $(B)/host/bench/reduce.o bench/reduce_plain.c $(B)/host/libtorcore.a
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(common_flags) -O3 -march=native -o $@ $(filter %.o %.c %.a,$^)

# The reduction kernels on this very processor.
.PHONY: bench-reduce
bench-reduce: $(B)/bench/reduce
	$(Q)$(B)/bench/reduce

# The core alone: instructions per frame, and frames per second.
.PHONY: bench-core
bench-core: | deps-check
	$(Q)$(MAKE) tools $(B)/bench/plans
	$(Q)SECONDS_TOO=1 bench/core/run

$(B)/bench/entries: $(B)/host/bench/core/entries.o $(B)/host/libtorcore.a
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^

$(B)/bench/plans: $(B)/host/bench/core/plans.o $(B)/host/libtorcore.a
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^

# The longest that an entry into core takes, with very many nodes and ranks.
.PHONY: bench-entries
bench-entries: | deps-check
	$(Q)$(MAKE) $(B)/bench/entries
	$(Q)$(B)/bench/entries

$(B)/bench/flood: $(B)/host/bench/hop/flood.o $(B)/host/libtorcore.a
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^

# torch.distributed by torcoll and by Gloo, and torcoll without it, in instruction time. NODES: of rings.
.PHONY: bench-torch
bench-torch: | deps-guest deps-torch
	$(Q)$(MAKE) module tools torch $(B)/bin/stamps
	$(Q)qemu/run --icount --mem 3072 --timeout 3600 $(if $(KERNEL),--kernel $(KERNEL)) --env CALLS='$(or $(CALLS),20)' \
		--env BENCH_NETNS='$(BENCH_NETNS)' --env BENCH_SIZES='$(BENCH_SIZES)' -- bench/pytorch.sh $(NODES)

# What a forwarded frame costs, in instruction time.
.PHONY: bench-hop
bench-hop: | deps-guest
	$(Q)$(MAKE) module tools $(B)/bench/flood $(B)/bench/insns.so
	$(Q)KERNEL='$(KERNEL)' bench/hop/run

.PHONY: bench-chords
bench-chords: | deps-guest
	$(Q)$(MAKE) module lib tools
	$(Q)KERNEL='$(KERNEL)' bench/chords/run

$(B)/bench/floor: $(B)/host/bench/floor/ranks.o $(B)/host/libtorcore.a
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) -static $(LDFLAGS) -o $@ $^

# A short allreduce beside the least that it could be, in instructions.
.PHONY: bench-floor
bench-floor: | deps-guest
	$(Q)$(MAKE) module lib tools $(B)/bench/floor $(B)/bench/torcoll_allreduce $(B)/bench/insns.so
	$(Q)KERNEL='$(KERNEL)' bench/floor/run

$(B)/bench/stream: $(B)/host/bench/ip/stream.o
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) -static $(LDFLAGS) -o $@ $<

# TCP over the network device of a fabric, beside bare cables and IP forwarding, in instruction time.
.PHONY: bench-ip
bench-ip: | deps-guest
	$(Q)$(MAKE) module tools $(B)/bench/stream $(B)/bench/insns.so
	$(Q)KERNEL='$(KERNEL)' bench/ip/run

$(B)/bench/stall: $(B)/host/bench/stall/ranks.o
$(B)/bench/many: $(B)/host/bench/stall/many.o
$(B)/bench/stall $(B)/bench/many: $(B)/lib/libtorcoll.so
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) -pthread $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(B)/lib -ltorcoll $(RPATH)

# The longest time that a processor does nothing else, in instruction time.
.PHONY: bench-stall
bench-stall: | deps-guest
	$(Q)$(MAKE) module lib tools $(B)/bench/stall $(B)/bench/many
	$(Q)KERNEL='$(KERNEL)' bench/stall/run

$(B)/bench/road: $(B)/host/bench/road/ranks.o $(B)/lib/libtorcoll.so
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< -L$(B)/lib -ltorcoll $(RPATH)

# How late a thread of the real-time class runs beside an allreduce, in instruction time. The newest PREEMPT_RT kernel, unless
# another one is named.
rt_kernel := $(if $(filter file,$(origin KERNEL)),rt,$(KERNEL))

.PHONY: bench-rt
bench-rt: | deps-guest deps-rt
	$(Q)$(MAKE) module KERNEL='$(rt_kernel)'
	$(Q)$(MAKE) $(B)/static/torcollctl $(B)/static/torcoll-perf
	$(Q)KERNEL='$(rt_kernel)' bench/rt/run

# The road of one allreduce: functions, files and calls. KO= another build of the module, LIST=1 the functions.
.PHONY: road
road: | deps-guest
	$(Q)$(MAKE) module lib tools $(B)/bench/road
	$(Q)KERNEL='$(KERNEL)' scripts/road

# A plugin of QEMU's: which of the kernel's instructions a guest executes, how often.
# contexts.so: by calling context.
$(B)/bench/insns.so $(B)/bench/contexts.so: $(B)/bench/%.so: bench/profile/%.c bench/profile/plugin.h | deps-build
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -Wall -shared -fPIC -o $@ $<

# Beside Open MPI, MPICH and Gloo, in one boot: 40 minutes. Debian 12's own kernel, unless another one is named.
bench_kernel := $(if $(filter file,$(origin KERNEL)),6.1,$(KERNEL))

.PHONY: bench
bench: | deps-guest deps-bench
	$(Q)$(MAKE) module KERNEL='$(bench_kernel)'
	$(Q)$(MAKE) lib tools $(bench_programs) $(B)/bench/insns.so
	$(Q)KERNEL='$(bench_kernel)' bench/run

# ---- tests ----

# What guests run is linked statically: most of what emulated processors take to start a program goes into its shared
# libraries (torcollctl: 49 ms with, 10 without them; in the debug kernel 198 and 62). Tests on the host have the others.
static_names := torcollctl torcoll-perf torcoll-plan torcollrun
static_libs := $(B)/host/libtorcore.a $(B)/lib/libtorcoll.a
# The linker would warn of libnl's looking up hosts, for which a static C library needs others: nobody asks it to.
static := -static -Wl,--no-warnings

torcollctl_static = $(CURSES_LIBS)

define static_tool
$(B)/static/$(1): $(call objects,host,$(call tool_sources,$(1))) $(static_libs)
	$$(say) LD $$@
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(static) -pthread $$(LDFLAGS) -o $$@ $$(filter %.o %.a,$$^) $$(NL_LIBS) $$($(1)_static) -lm
endef
$(foreach t,$(static_names),$(eval $(call static_tool,$(t))))

static_examples := $(patsubst lib/examples/%.c,$(B)/static/%,$(wildcard lib/examples/*.c))

$(static_examples): $(B)/static/%: $(B)/host/lib/examples/%.o $(B)/lib/libtorcoll.a
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) -static -pthread $(LDFLAGS) -o $@ $^ $($*_libs) -lm

# Every kind of call against a sequential program; its cases ask the plans what is served.
conformance_sources := $(wildcard selftests/conformance/*.c)

$(B)/bin/conformance: $(call objects,host,$(conformance_sources)) $(B)/host/libtorcore.a $(B)/lib/libtorcoll.a
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) -static -pthread $(LDFLAGS) -o $@ $(filter %.o %.a,$^)

# Random calls of many processes.
$(B)/bin/stress: $(call objects,host,$(wildcard selftests/stress/*.c))
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) -static -pthread $(LDFLAGS) -o $@ $^

# What tests in guests run: selftests/net/NAME.c, selftests/fault/NAME.c
guest_programs := $(basename $(wildcard selftests/net/*.c selftests/fault/*.c))
net_programs := $(addprefix $(B)/bin/,$(notdir $(guest_programs)))

define guest_program
$(B)/bin/$(notdir $(1)): $(B)/host/$(1).o $(B)/lib/libtorcoll.a
	$$(say) LD $$@
	@mkdir -p $$(@D)
	$$(Q)$$(CC) -static -pthread $$(LDFLAGS) -o $$@ $$^
endef
$(foreach p,$(guest_programs),$(eval $(call guest_program,$(p))))

# A program for the first version, with its headers before today's.
$(B)/bin/first: selftests/abi/first.c $(wildcard selftests/abi/first/*.h selftests/abi/first/linux/*.h) \
		$(B)/lib/libtorcoll.so
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) -Iselftests/abi/first $(common_flags) $(CFLAGS) $(LDFLAGS) -o $@ $< -L$(B)/lib -ltorcoll $(RPATH)

# Frames as core encodes them, for the test of the dissector.
$(B)/bin/dissector_frames: $(call objects,host,selftests/host/dissector_frames.c \
		selftests/unit/host_env.c) $(B)/host/libtorcore.a
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) -pthread $(LDFLAGS) -o $@ $^ -lcmocka -lm

# The library over a fake device, for the tests of the Python package; and PyTorch's backend over it.
$(B)/python/fake_device.o: selftests/python/fake_device.c selftests/python/fake_device.h Makefile | deps-check
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(common_flags) $(CFLAGS) -fPIC -Ilib -c -o $@ $<

$(B)/python/libtorcoll.so.0: $(B)/python/fake_device.o $(call objects,host,$(lib_sources))
	$(say) LD $@
	$(Q)$(CC) -shared -pthread $(LDFLAGS) -o $@ $^

.PHONY: torch-tests
torch-tests: $(torch_module) $(B)/python/torch/_torcoll_torch.so $(B)/python/libtorcoll.so.0

$(B)/python/torch/_torcoll_torch.so: $(torch_objects) $(B)/python/fake_device.o $(call objects,host,$(lib_sources))
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CXX) -shared -pthread $(LDFLAGS) -o $@ $^ -L$(TORCH_LIBDIR) -ltorch -ltorch_cpu -lc10

unit_names := $(patsubst selftests/unit/%.c,%,$(wildcard selftests/unit/*_test.c))
# What torcoll-plan knows of plans is what checks them.
unit_common := $(filter-out %_test.c,$(wildcard selftests/unit/*.c)) \
	$(addprefix tools/torcoll-plan/,dump.c team.c cells.c check.c cost.c)

fuzz_names := $(patsubst selftests/fuzz/%.c,%,$(wildcard selftests/fuzz/*_fuzz.c))
fuzz_common := selftests/fuzz/fuzz.c selftests/unit/host_env.c
kfuzz_names := $(patsubst selftests/fuzz/kernel/%_kfuzz.c,%,$(wildcard selftests/fuzz/kernel/*_kfuzz.c))
kfuzz_common := $(fuzz_common) $(addprefix selftests/fuzz/kernel/,kfuzz.c packet.c ring.c)

sanitized_sim := $(if $(wildcard tools/torcoll-sim/*.c),$(B)/asan/bin/torcoll-sim)

# What guests run, and the unit tests. For another architecture these are not sanitized: emulated, it takes them ten times as
# long, and what sanitizers find is the same. The rest is for tests on this machine.
.PHONY: tests
tests: $(addprefix $(B)/$(if $(cross),host,asan)/unit/,$(unit_names)) $(net_programs) $(B)/bin/first $(B)/bin/conformance \
	$(B)/bin/stress $(addprefix $(B)/static/,$(static_names)) $(static_examples) \
	$(if $(cross),,$(addprefix $(B)/asan/fuzz/,$(fuzz_names)) $(addprefix $(B)/bin/kfuzz_,$(kfuzz_names)) $(sanitized_sim) \
		$(B)/bench/openmpi_allreduce $(if $(mpi_incdir),$(mpi_component)) $(if $(mpich_incdir),$(mpich_library) $(B)/bench/yield.so) $(mpi_tests) $(mpich_tests) \
		$(if $(python_incdir),$(torch_module) $(B)/python/torch/_torcoll_torch.so) $(B)/bin/dissector_frames $(B)/bench/plans $(B)/bench/entries $(B)/python/libtorcoll.so.0)
	@:

# What other architectures run, of which there are no guests.
.PHONY: unit-tests
unit-tests: $(addprefix $(B)/$(if $(cross),host,asan)/unit/,$(unit_names)) $(B)/bin/torcoll-sim
	@:

# The simulator over the sanitized core, and over the one that counts.
define variant_sim
$(B)/$(1)/bin/torcoll-sim: $(call objects,$(1),$(wildcard tools/torcoll-sim/*.c)) $(B)/$(1)/libtorcore.a
	$$(say) LD $$@
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(flags_$(1)) -pthread -o $$@ $$(filter %.o,$$^) $(B)/$(1)/libtorcore.a -lm
endef
$(foreach v,asan cov,$(eval $(call variant_sim,$(v))))

define unit
$(B)/$(1)/unit/%: $(B)/$(1)/selftests/unit/%.o $(call objects,$(1),$(unit_common)) $(B)/$(1)/libtorcore.a
	$$(say) LD $$@
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(flags_$(1)) -pthread -o $$@ $$(filter %.o,$$^) $(B)/$(1)/libtorcore.a -lcmocka -ljson-c -lm
endef
$(foreach v,host asan cov,$(eval $(call unit,$(v))))

# Fuzzers, to search with; and, with the compiler of everything else, to run what was found.
$(B)/fuzz/bin/%: $(B)/fuzz/selftests/fuzz/%.o $(call objects,fuzz,$(fuzz_common)) $(B)/fuzz/libtorcore.a
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(cc_fuzz) -fsanitize=fuzzer $(flags_fuzz) -o $@ $(filter %.o,$^) $(B)/fuzz/libtorcore.a \
		-lcmocka -lm

define replay
$(B)/$(1)/fuzz/%: $(B)/$(1)/selftests/fuzz/%.o \
		$(call objects,$(1),$(fuzz_common) selftests/fuzz/replay.c) $(B)/$(1)/libtorcore.a
	$$(say) LD $$@
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(flags_$(1)) -o $$@ $$(filter %.o,$$^) $(B)/$(1)/libtorcore.a -lcmocka -lm
endef
$(foreach v,asan cov,$(eval $(call replay,$(v))))

# T: seconds for each.
.PHONY: fuzz
fuzz: | deps-fuzz
	$(Q)$(MAKE) $(addprefix $(B)/fuzz/bin/,$(fuzz_names))
	$(Q)selftests/fuzz/run '$(or $(T),60)'

# Fuzzers of the module, which run in a guest: to search with, and to run what was found. What they cover is the module's lines,
# so they are compiled as anything else.

$(B)/kfuzz/bin/%: $(B)/host/selftests/fuzz/kernel/%_kfuzz.o $(call objects,host,$(kfuzz_common)) $(B)/host/libtorcore.a | deps-fuzz
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(cc_fuzz) -fsanitize=fuzzer -o $@ $(filter %.o %.a,$^) -lcmocka -lm

$(B)/bin/kfuzz_%: $(B)/host/selftests/fuzz/kernel/%_kfuzz.o \
		$(call objects,host,$(kfuzz_common) selftests/fuzz/replay.c) $(B)/host/libtorcore.a
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) -o $@ $(filter %.o %.a,$^) -lcmocka -lm

# T: seconds for each; NAMES: of some. In the debug kernel, whose module tells what it executes, and which lines ran.
.PHONY: fuzz-kernel
fuzz-kernel: debug-kernel | deps-fuzz deps-guest
	$(Q)$(MAKE) module KERNEL=debug OUT=kfuzz KFLAGS='GCOV_PROFILE=y KCOV_INSTRUMENT=y'
	$(Q)$(MAKE) $(addprefix $(B)/kfuzz/bin/,$(kfuzz_names)) $(B)/static/torcollctl
	$(Q)selftests/fuzz/kernel/run '$(or $(T),60)' $(NAMES)

# Programs of selftests/plans/: what takes minutes. Optimized, since they compute.
plans_common := $(wildcard selftests/plans/common/*.c) \
	$(filter %plan_cases.c %_rules.c %host_env.c,$(wildcard selftests/unit/*.c)) \
	$(addprefix tools/torcoll-plan/,dump.c team.c cells.c check.c cost.c)
plans_programs := $(patsubst selftests/plans/%.c,$(B)/host/plans/%,$(wildcard selftests/plans/*.c))

$(plans_programs): $(B)/host/plans/%: $(B)/host/selftests/plans/%.o $(call objects,host,$(plans_common)) \
		$(B)/host/libtorcore.a
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) -pthread -o $@ $(filter %.o,$^) $(B)/host/libtorcore.a -lcmocka -lm

# Prints what plans cost to compute.
.PHONY: bench-plans check-plans check-chords check-circulant
bench-plans: $(B)/host/plans/bench
	$(Q)$<

# Without T, the whole of trivance's tables is searched again, too.
check-plans: $(B)/host/plans/sweep $(B)/asan/unit/plan_tables_test
	$(Q)$< 64 40 $(T)
	$(Q)$(if $(T),,$(B)/asan/unit/plan_tables_test 64)

check-chords: $(B)/host/plans/chords
	$(Q)$<

check-circulant: $(B)/host/plans/circulant
	$(Q)$<

# Seeded disasters: SEEDS of them, from FIRST on.
.PHONY: sim
sim: | deps-check
	$(Q)$(MAKE) $(B)/bin/torcoll-sim $(sanitized_sim)
	$(Q)selftests/sim/run '$(or $(FIRST),1)' '$(or $(SEEDS),10000)'

# Do fabrics begin as well with many nodes as with few? An hour of processor time; the last one needs 4 GiB.
.PHONY: check-scale
check-scale: | deps-check
	$(Q)$(MAKE) $(B)/bin/torcoll-sim
	$(Q)selftests/scale/run 20 8x8 16x16 32x32
	$(Q)FRAME=1500 selftests/scale/run 1 8x8 64x64

# Does the simulator find bugs? Core with one deliberate bug at a time; T=NAME for one.
.PHONY: check-mutants
check-mutants: | deps-check
	$(Q)$(MAKE) $(B)/bin/torcoll-sim
	$(Q)T='$(T)' CC='$(CC)' selftests/mutants/run

# Builds by itself, so that a build that fails is counted.
# ARCH=arm64, ARCH=s390x: with programs for it, emulated, and in guests of it.
.PHONY: check
check: | deps-check
	+$(Q)KERNEL='$(KERNEL)' T='$(T)' MAKE='$(MAKE)' selftests/run

# The same for what takes long. Guests of two kernels need a module for each.
.PHONY: check-long check-vms
check-long check-vms: | deps-check
check-long:
	+$(Q)SUITE=long KERNEL='$(KERNEL)' T='$(T)' MAKE='$(MAKE)' selftests/run

check-vms:
	$(Q)for k in 6.1 6.12; do $(MAKE) module KERNEL=$$k || exit; done
	$(Q)$(MAKE) ARCH=arm64 KERNEL=6.12 module lib tools examples build/arm64/bin/bits
	+$(Q)SUITE=vms KERNEL='$(KERNEL)' T='$(T)' MAKE='$(MAKE)' selftests/run

# Guest tests in one boot of the debug kernel.
.PHONY: check-debug
check-debug: debug-kernel | deps-check
	+$(Q)SUITE=debug KERNEL=debug T='$(T)' WITHIN='$(WITHIN)' MAKE='$(MAKE)' selftests/run

# Several processors at once, in the kernel that looks for data races.
.PHONY: check-kcsan
check-kcsan: | deps-check deps-debug
	$(Q)scripts/debug-kernel kcsan >/dev/null
	+$(Q)SUITE=kcsan KERNEL=kcsan T='$(T)' MAKE='$(MAKE)' selftests/run

# MPICH's tests of collectives and communicators with Open MPI or MPICH=1, on this host without torcoll, and in a guest with it.
.PHONY: check-mpi
check-mpi: | deps-check deps-mpi
	$(Q)$(MAKE) module lib mpi $(B)/static/torcollctl $(B)/bin/stamps $(if $(MPICH),$(B)/bench/yield.so)
	$(Q)KERNEL='$(KERNEL)' NAMES='$(NAMES)' selftests/mpi/mpich-check $(if $(MPICH),mpich,openmpi)

# Tests of torch.distributed of PyTorch, in a guest: with Gloo, and with torcoll. SUITE=trixie: those of PyTorch 2.6.
.PHONY: check-torch
check-torch: | deps-check deps-torch
	$(Q)$(MAKE) module lib $(if $(SUITE),torch2,torch) $(B)/static/torcollctl $(B)/bin/stamps
	$(Q)KERNEL='$(KERNEL)' NAMES='$(NAMES)' SUITE='$(SUITE)' selftests/torch/check

# MINUTES: half of them in quiet, half while links and configuration change.
.PHONY: check-stress
check-stress: minutes = $(or $(MINUTES),10)
check-stress: | deps-check
	+$(Q)KERNEL='$(KERNEL)' T=net/stress STRESS_SECONDS=$$(($(minutes) * 30)) \
		MORE_SECONDS=$$(($(minutes) * 90)) STRESS_SEED='$(SEED)' MAKE='$(MAKE)' selftests/run

# SEED: any word. What was covered, and cases as the last line.
.PHONY: check-conformance
check-conformance: conformance_log := $(B)/log/check/guest/net/conformance.log
check-conformance: | deps-check
	+$(Q)KERNEL='$(KERNEL)' T=net/conformance CONFORMANCE_SEED='$(or $(SEED),1)' CONFORMANCE_PPN='$(PPN)' \
		CONFORMANCE_ORDER='$(ORDER)' CONFORMANCE_COMM='$(COMM)' \
		CONFORMANCE_CASES='$(or $(CASES),2000)' MAKE='$(MAKE)' selftests/run; code=$$?; \
		sed -nE 's/^# (\(.* pairs|[0-9]+ passed, [0-9]+ failed)$$/\1/p' $(conformance_log); exit $$code

# As many as it takes for any two properties of a call to be met together, on both kernels, and on guests of both: under two
# hours. SEED as above.
.PHONY: check-all
check-all: | deps-check
	+$(Q)code=0; for k in 6.12 6.1; do \
		KERNEL=$$k T=net/conformance CONFORMANCE_SEED='$(or $(SEED),1)' CONFORMANCE_ALL=1 \
		CONFORMANCE_SHAPES='$(SHAPES)' MORE_SECONDS=6300 MAKE='$(MAKE)' selftests/run || code=1; \
		grep -hE '^# (.*: [0-9]+ passed, .*|.* pairs|[0-9]+ passed, .*)$$' $(B)/log/check/guest/net/conformance.log; \
	done; \
	[ -n '$(SHAPES)' ] || CONFORMANCE_ALL=1 CONFORMANCE_SEED='$(or $(SEED),1)' MORE_SECONDS=3600 \
		$(MAKE) check-vms T=vms/conformance || code=1; exit $$code

# Does the conformance program find bugs? A module with one deliberate bug at a time; T=NAME for one.
.PHONY: check-planted
check-planted: | deps-check
	$(Q)$(MAKE) all $(B)/bin/conformance
	$(Q)KERNEL='$(KERNEL)' T='$(T)' CASES='$(or $(CASES),400)' selftests/planted/run

.PHONY: style
style: | deps-check
	+$(Q)selftests/host/style.sh
	+$(Q)selftests/host/warnings.sh

# What the compiler has said of what is compiled for users, and not a second time with warnings as errors.
.PHONY: warnings
warnings: $(call objects,host,$(sort $(core_sources) $(lib_sources) $(wildcard lib/examples/*.c tools/*.c tools/*/*.c)))
	@cat $(^:.o=.said)

# Objects keep their counts beside them: start from none.
.PHONY: coverage
coverage: $(addprefix $(B)/cov/unit/,$(unit_names)) $(addprefix $(B)/cov/fuzz/,$(fuzz_names)) \
		$(if $(sanitized_sim),$(B)/cov/bin/torcoll-sim)
	$(Q)scripts/coverage $(B)/cov

# The same of the module, by the guest tests, in the debug kernel.
.PHONY: coverage-kmod
coverage-kmod: debug-kernel
	+$(Q)SUITE=debug KERNEL=debug OUT=gcov KFLAGS=GCOV_PROFILE=y T='$(T)' MAKE='$(MAKE)' selftests/run || :
	$(Q)scripts/coverage-kmod

# The site: documents, manual pages, a reference from the sources, and plans to step through. Always made anew, since any file
# of the tree may be in it.
.PHONY: docs
docs: $(B)/bin/torcoll-plan | deps-docs
	$(say) DOCS $(B)/docs/html
	$(Q)PLAN=$(B)/bin/torcoll-plan scripts/site/build.py $(B)/docs

# Pictures of it, docs/site.png and docs/stepper.png.
.PHONY: screenshots
screenshots: docs
	$(Q)scripts/site/screenshots

# The documents, manual pages and commands in them; the site, in a browser without a window.
.PHONY: check-docs
check-docs: | deps-docs deps-check
	$(Q)$(MAKE) tools
	+$(Q)code=0; for t in host/man host/docs host/commands host/recording docs/site; do selftests/$$t.sh || code=1; done; exit $$code

# The papers' experiments by the model, some seconds; with pictures, for which gnuplot is needed.
.PHONY: results
results: $(B)/bin/torcoll-sim | deps-results
	@mkdir -p docs/results
	$(Q)$(B)/bin/torcoll-sim plot all docs/results

# The picture of the house in docs/design.md, from the tree.
.PHONY: house
house: | deps-check
	$(Q)scripts/house

# The pictures of whole fabrics in docs/observing.md, from real ones in a guest.
.PHONY: pictures
pictures: | deps-guest
	$(Q)$(MAKE) module $(B)/static/torcollctl $(B)/static/torcoll-perf
	$(Q)KERNEL='$(KERNEL)' scripts/pictures

# ---- guests ----

# VMS=2x2: a guest for each node, wired through network devices of type NIC; KERNEL may name several.
VMS ?=
NIC ?= virtio-net
kernels := $(subst $(comma), ,$(KERNEL))

.PHONY: demo demo-made
demo:
	$(Q)scripts/demo-plan '$(VMS)' $(kernels)
	+$(Q)$(MAKE) demo-made
ifeq ($(VMS),)
	$(say) GUEST 'boots, in some ten seconds; what follows is what it prints'
	$(Q)[ ! -t 1 ] || [ "$$(stty size 2>/dev/null | cut -d' ' -f1)" -lt 42 ] || live='--env DEMO_LIVE=1'; \
		qemu/run --kernel '$(KERNEL)' --timeout 3600 $$live -- qemu/guest/demo.sh
else
	$(Q)qemu/torus --kernel '$(KERNEL)' --nic '$(NIC)' --timeout 3600 '$(VMS)' qemu/guest/demo-node.sh
endif

demo-made: | deps-guest
	$(Q)for k in $(kernels); do \
		case $$k in *-amd64 | *-arm64) arch=$${k##*-} ;; *) arch=$(ARCH) ;; esac; \
		$(MAKE) ARCH=$$arch KERNEL="$$k" module lib tools examples || exit; \
	done

# README's picture of it, docs/demo.svg, from a run of a minute or two.
.PHONY: demo-recording
demo-recording: demo-made
	$(Q)scripts/demo-recording '$(KERNEL)'

.PHONY: shell
shell: | deps-guest
	$(Q)$(MAKE) module lib tools examples
	$(Q)qemu/run --kernel '$(KERNEL)' --timeout 0 --shell -- qemu/guest/shell.sh

# Built once per configuration, into the cache.
.PHONY: debug-kernel
debug-kernel: | deps-debug
	$(Q)scripts/debug-kernel debug >/dev/null

# ---- the rest ----

install_headers := $(wildcard uapi/linux/torcoll.h uapi/linux/torcoll_netdev.h uapi/linux/torcoll_netlink.h)
install_lib_headers := $(wildcard lib/torcoll*.h lib/include/*.h)
install_man := $(shell find docs lib tools kmod -name '*.[1-8]' 2>/dev/null)
install_docs := $(wildcard docs/*.md docs/*.svg docs/*.png)
install_examples := $(wildcard lib/examples/*.c python/examples/*.py)
install_python := $(wildcard python/torcoll/*.py) python/torcoll/py.typed
dkms := $(DESTDIR)$(DKMSDIR)/torcoll-$(VERSION)
limits := $(DESTDIR)$(LIMITSDIR)/torcoll.conf

# to(folder, mode, files)
to = install -d $(DESTDIR)$(1) && install -m $(2) $(3) $(DESTDIR)$(1)/
# as(folder, file, name there)
as = install -d $(DESTDIR)$(1) && install -m 644 $(2) $(DESTDIR)$(1)/$(3)

# All but the module, and its source for DKMS.
.PHONY: install
install: lib tools
	$(Q)$(call to,$(BINDIR),755,$(addprefix $(B)/bin/,$(tool_names)))
	$(Q)$(call to,$(LIBDIR),755,$(B)/lib/libtorcoll.so.0)
	$(Q)ln -sf libtorcoll.so.0 $(DESTDIR)$(LIBDIR)/libtorcoll.so
	$(Q)$(call to,$(LIBDIR),644,$(B)/lib/libtorcoll.a)
	$(Q)$(call to,$(LIBDIR)/pkgconfig,644,$(B)/lib/libtorcoll.pc)
	$(Q)$(call to,$(INCLUDEDIR)/linux,644,$(install_headers))
	$(Q)$(call to,$(INCLUDEDIR),644,$(install_lib_headers))
	$(Q)for f in $(install_man); do \
		install -D -m 644 $$f $(DESTDIR)$(MANDIR)/man$${f##*.}/$${f##*/} || exit; done
	$(Q)$(call to,$(DOCDIR),644,README.md CHANGELOG.md SECURITY.md)
	$(Q)$(call to,$(DOCDIR)/docs,644,$(install_docs))
	$(Q)$(call to,$(DOCDIR)/docs/results,644,$(wildcard docs/results/*))
	$(Q)$(call to,$(DOCDIR)/examples,644,$(install_examples))
	$(Q)$(call to,$(DOCDIR)/examples/data,644,$(wildcard lib/examples/data/*))
	$(Q)$(call as,$(BASHDIR),tools/bash-completion/torcollctl,torcollctl)
	$(Q)$(call as,$(ZSHDIR),tools/zsh-completion/_torcollctl,_torcollctl)
	$(Q)$(call as,$(BASHDIR),tools/bash-completion/torcollrun,torcollrun)
	$(Q)$(call as,$(ZSHDIR),tools/zsh-completion/_torcollrun,_torcollrun)
	$(Q)$(call to,$(DATADIR)/torcoll,644,tools/wireshark/torcoll.lua)
	$(if $(PYTHONDIR),$(Q)$(call to,$(PYTHONDIR)/torcoll,644,$(install_python)),\
		$(say) PYTHON 'the package is left out: no $(PYTHON), or PYTHONDIR= is empty')
	$(Q)$(call as,$(SYSUSERSDIR),packaging/torcoll.sysusers,torcoll.conf)
	$(Q)[ -e $(limits) ] || { $(call as,$(LIMITSDIR),packaging/torcoll.limits,torcoll.conf); }
	$(Q)cmp -s packaging/torcoll.limits $(limits) || printf '  %-7s %s\n' KEEP '$(limits), which has been edited'
	$(Q)install -d $(DESTDIR)$(UDEVDIR) $(DESTDIR)$(UNITDIR)
	$(Q)sed 's|@BINDIR@|$(BINDIR)|g' packaging/90-torcoll.rules.in >$(DESTDIR)$(UDEVDIR)/90-torcoll.rules
	$(Q)for unit in torcoll@.service torcoll-metrics.service; do \
		sed 's|@BINDIR@|$(BINDIR)|g' packaging/$$unit.in >$(DESTDIR)$(UNITDIR)/$$unit || exit; done
	$(Q)$(call to,$(UNITDIR),644,packaging/torcoll-metrics.timer)
	$(Q)rm -rf $(dkms) && install -d $(dkms)
	$(Q)cp -r kmod uapi $(dkms)/
	$(Q)sed 's/@VERSION@/$(VERSION)/g' packaging/dkms.conf.in >$(dkms)/dkms.conf
	$(if $(DESTDIR),,$(Q)scripts/dkms-former '$(DKMSDIR)' '$(VERSION)')

.PHONY: install-docs
install-docs: docs
	$(Q)rm -rf $(DESTDIR)$(DOCDIR)/html && install -d $(DESTDIR)$(DOCDIR)
	$(Q)cp -r $(B)/docs/html $(DESTDIR)$(DOCDIR)/html

# What install puts there, by installing it into a scratch folder, and the site; what else is in the same folders stays.
.PHONY: uninstall
uninstall: stage := $(abspath $(B))/uninstall
uninstall:
	$(Q)rm -rf '$(stage)'
	$(Q)$(MAKE) install DESTDIR='$(stage)'
	$(Q)scripts/uninstall '$(stage)' '$(DESTDIR)'
	$(Q)rm -rf '$(DESTDIR)$(DOCDIR)/html'
	$(Q)[ ! -d '$(DESTDIR)$(DOCDIR)' ] || rmdir --ignore-fail-on-non-empty '$(DESTDIR)$(DOCDIR)'

# The module for one kernel, for those who have no DKMS.
.PHONY: install-module
install-module:
	$(Q)KERNEL='$(KERNEL)' KDIR='$(KDIR)' V='$(V)' scripts/build-module
	$(Q)KERNEL='$(KERNEL)' KDIR='$(KDIR)' scripts/install-module '$(DESTDIR)$(MODDIR)'

# README's two commands in a chroot that has git and make and nothing else: half an hour. SHORT=1: ten minutes.
.PHONY: check-bare
check-bare: | deps-bare
	$(Q)T='$(T)' selftests/packaging/bare $(if $(SHORT),--short) $(SUITE)

# Open MPI's component, to where Open MPI looks for it.
MCADIR ?= $(shell ompi_info --path pkglibdir --parsable 2>/dev/null | cut -d : -f 3)
.PHONY: install-mpi
install-mpi: mpi
	$(Q)$(if $(mpi_incdir),$(call to,$(MCADIR),755,$(mpi_component)))
	$(Q)$(if $(mpich_incdir),$(call to,$(LIBDIR),755,$(mpich_library)))

# PyTorch's backend, beside the Python package.
.PHONY: install-torch
install-torch: torch
	$(Q)$(call to,$(or $(PYTHONDIR),$(error no $(PYTHON): name the folder of its packages by PYTHONDIR=)),755,$(torch_module))

# With Debian's dkms, for both kernels, in a scratch folder.
.PHONY: check-dkms
check-dkms: | deps-dkms
	$(Q)selftests/packaging/dkms.sh

# The Debian packages, and what a bare Debian does with them.
.PHONY: deb check-deb check-guide
deb: | deps-deb
	$(Q)scripts/deb

check-deb: | deps-deb deps-bare deps-guest
	$(Q)SUITE='$(SUITE)' selftests/packaging/deb

# The guide by the letter, from a bare Debian to an allreduce between two hosts.
check-guide: | deps-bare deps-guest
	$(Q)SUITE='$(SUITE)' DEBS='$(DEBS)' selftests/packaging/guide

.PHONY: clean
clean:
	$(Q)rm -rf $(B)
