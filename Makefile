# SPDX-License-Identifier: Apache-2.0
# Stillstage needs Debian 12 or similar and a Swift 6.3 toolchain. The targets install the rest.

SHELL := /bin/bash
PREFIX ?= /usr/local
DESTDIR ?=
BIN := .build/release
DESIGNS := $(BIN)/designs
SHARE = $(DESTDIR)$(PREFIX)/share
SERVICE := lib/systemd/user/stillstage-sink.service
GENERATED := man/man1/stillstage.1 bash-completion/completions/stillstage \
  zsh/site-functions/_stillstage fish/vendor_completions.d/stillstage.fish

BUILD_PACKAGES := libmysofa-dev libpulse-dev libhidapi-dev libavformat-dev libavcodec-dev \
  libavutil-dev libswresample-dev liblo-dev libebur128-dev libcurl4-openssl-dev pkg-config zlib1g-dev \
  libpipewire-0.3-dev
RUNTIME_PACKAGES := libmysofa1 liblo7 libebur128-1 libcurl4 libhidapi-libusb0 gnuplot-nox \
  libncursesw6
TEST_PACKAGES := pulseaudio pulseaudio-utils umockdev gir1.2-umockdev-1.0 python3-gi \
  python3-h5py python3-numpy curl ffmpeg pipewire pipewire-pulse wireplumber dbus groff-base \
  zsh fish

.PHONY: all build demo test test-attributes test-swift test-realtime test-install test-dependency lint
.PHONY: bench soak test-kernel test-signals torture
.PHONY: fuzz docs install install-udev uninstall clean
.PHONY: toolchain build-packages runtime-packages test-packages

# Parallel builds would wait for each other or compete for the processor.
.NOTPARALLEL:

all: build

PROGRAMS := stillstage stillstage-engine stillstage-bench stillstage-sofa \
  stillstage-separator stillstage-values
build: toolchain build-packages
	STILLSTAGE_ONLY="$(PROGRAMS)" swift build -c release --static-swift-stdlib \
	  -debug-info-format none
	@[ $(DESIGNS) -nt $(BIN)/stillstage-engine ] || { rm -rf $(DESIGNS) && mkdir $(DESIGNS) && \
	  $(BIN)/stillstage-engine make-designs $(DESIGNS) && rm -f $(DESIGNS)/*.set && \
	  chmod 644 $(DESIGNS)/* && touch $(DESIGNS); }

demo: build runtime-packages
	$(BIN)/stillstage demo

# The last two lines give totals; see Tests/run-tests.
test: lint build test-install test-attributes test-swift

# Only a debug build checks real-time attributes strictly. Modules without attributes are left out.
test-attributes: toolchain build-packages
	Tests/check-attributes

test-swift: toolchain build-packages runtime-packages test-packages
	Tests/run-tests

test-realtime: toolchain build-packages
	Tests/run-tests sanitizer

test-install: build
	Tests/Install/test-install

# Builds a package that depends on this one; not in `test`, because it builds everything again.
test-dependency: toolchain build-packages runtime-packages
	Tests/Dependency/test-dependency

lint: toolchain
	swift format lint --strict -r Sources Tests Package.swift
	Tests/Lint/test-check-structure
	Tests/Lint/check-structure
	Tests/Lint/test-check-docs
	Tests/Lint/check-docs

# Also measures rival libraries, as separate programs, and counts the render call's allocations with
# a counting variant of the bench. BENCH is passed on, as in `make bench BENCH="--quick --json"`.
PEERS := .build/peers
COUNTED := -c release --scratch-path .build/counted
bench: export STILLSTAGE_ONLY = stillstage-bench stillstage-sofa
bench: build
	@.ci/install-packages libspatialaudio-dev libfftw3-dev g++
	@mkdir -p $(PEERS)
	g++ -O2 Tests/Peers/libspatialaudio.cpp -o $(PEERS)/peer-libspatialaudio \
	  -I/usr/include/spatialaudio -lspatialaudio
	gcc -std=gnu11 -O3 -march=native -ffast-math Tests/Peers/bare_loop.c \
	  -o $(PEERS)/peer-bare-loop -lfftw3f -lm
	$(PEERS)/peer-bare-loop --check > $(PEERS)/check.txt || { cat $(PEERS)/check.txt; exit 1; }
	install -m 755 -t $(PEERS) Tests/Peers/peer-vqf
	swift build $(COUNTED)
	Tests/link-variant counted stillstage-bench stillstage-bench-counted $(COUNTED)
	ln -sf ../counted/release/stillstage-bench-counted $(PEERS)
	STILLSTAGE_PEERS=$(PEERS) $(BIN)/stillstage bench render $(BENCH)

# Plays for MINUTES minutes; fails if the render call allocates or locks.
MINUTES ?= 10
soak: export STILLSTAGE_SOAK_MINUTES = $(MINUTES)
soak: export STILLSTAGE_ONLY = EndToEndTests
soak: toolchain build-packages runtime-packages test-packages
	Tests/run-tests soak

# Tests AirPods, Galaxy Buds, Bluetooth LE, serial, HID and MIDI trackers in real kernels, with the
# tools in STILLSTAGE_KERNEL_TOOLS; prints "skipped" without them.
test-kernel: build
	Tests/Kernel/trackers $(BIN)/stillstage
	Tests/Kernel/earphones $(BIN)/stillstage
	Tests/Kernel/low-energy $(BIN)/stillstage
	Tests/Kernel/midi $(BIN)/stillstage
	Tests/Kernel/serial $(BIN)/stillstage

# Sends SIGNALS signals at random moments of all commands; `test` sends 30.
SIGNALS ?= 200
test-signals: export STILLSTAGE_SIGNALS = $(SIGNALS)
test-signals: export STILLSTAGE_ONLY = EndToEndTests
test-signals: toolchain build-packages runtime-packages test-packages
	Tests/run-tests signals

# Feeds random input to the built programs and disturbs them for MINUTES minutes. TORTURE is passed
# on, as in `make torture TORTURE="--repeat 30:sofa:7"`.
torture: build runtime-packages test-packages
	Tests/Torture/torture --minutes $(MINUTES) $(TORTURE)

# Fuzzes the code that reads external data with libFuzzer; `test` runs only the corpus.
FUZZ_SECONDS ?= 300
fuzz: toolchain build-packages
	Tests/Fuzz/fuzz $(FUZZ_SECONDS)

docs: toolchain build-packages
	.ci/api-docs

# Installs the result of `make build`, so that root needs no toolchain. The designs are used only if
# the engine keeps its modification time.
install:
	@test -x $(BIN)/stillstage || { echo "Nothing is built: run 'make build' first." >&2; exit 1; }
	install -D -m 755 -t "$(DESTDIR)$(PREFIX)/bin" $(BIN)/stillstage
	install -D -p -m 755 -t "$(DESTDIR)$(PREFIX)/libexec/stillstage" \
	  $(BIN)/stillstage-engine $(BIN)/stillstage-bench $(BIN)/stillstage-sofa \
	  $(BIN)/stillstage-separator $(BIN)/stillstage-values
	install -D -m 644 -t "$(DESTDIR)$(PREFIX)/libexec/stillstage/designs" $(DESIGNS)/*
	install -d -m 755 "$(SHARE)/stillstage/HRTF" "$(SHARE)/stillstage/Calibration"
	find HRTF Calibration -type f -printf '%h\0%p\0' 2>/dev/null | xargs -r -0 -n 2 \
	  sh -c 'install -D -m 644 -t "$$0/stillstage/$$1" "$$2"' "$(SHARE)"
	install -d -m 755 "$(SHARE)/man/man1" "$(SHARE)/bash-completion/completions" \
	  "$(SHARE)/zsh/site-functions" "$(SHARE)/fish/vendor_completions.d"
	$(BIN)/stillstage --man-page > "$(SHARE)/man/man1/stillstage.1"
	$(BIN)/stillstage completion bash > "$(SHARE)/bash-completion/completions/stillstage"
	$(BIN)/stillstage completion zsh > "$(SHARE)/zsh/site-functions/_stillstage"
	$(BIN)/stillstage completion fish > "$(SHARE)/fish/vendor_completions.d/stillstage.fish"
	chmod 644 $(foreach file,$(GENERATED),"$(SHARE)/$(file)")
	install -d -m 755 "$(DESTDIR)$(PREFIX)/lib/systemd/user"
	sed 's|@PREFIX@|$(PREFIX)|' Sources/systemd/stillstage-sink.service.in \
	  > "$(DESTDIR)$(PREFIX)/$(SERVICE)"
	chmod 644 "$(DESTDIR)$(PREFIX)/$(SERVICE)"

# Lets the user at this machine open the trackers that are listed by vendor and product number.
install-udev:
	install -D -m 644 -t "$(DESTDIR)/etc/udev/rules.d" Calibration/udev/70-stillstage.rules
	test -n "$(DESTDIR)" || { udevadm control --reload && udevadm trigger -s hidraw; }

# Keeps what the user has added to the data folder, such as SOFA files.
uninstall:
	rm -f "$(DESTDIR)$(PREFIX)/bin/stillstage" "$(DESTDIR)$(PREFIX)/$(SERVICE)" \
	  $(foreach file,$(GENERATED),"$(SHARE)/$(file)")
	rm -rf "$(DESTDIR)$(PREFIX)/libexec/stillstage"
	find HRTF Calibration -type f -print0 2>/dev/null | xargs -r -0 -I {} \
	  rm -f "$(SHARE)/stillstage/{}"
	find "$(SHARE)/stillstage" -depth -type d -empty -delete 2>/dev/null || true

clean:
	rm -rf .build docs/api demo.wav demo.svg

toolchain:
	@command -v swift >/dev/null || { \
	  echo 'swift is not in PATH: install a Swift 6.3 toolchain from https://www.swift.org/install.' >&2; \
	  exit 1; }

build-packages:
	@.ci/install-packages $(BUILD_PACKAGES)

runtime-packages:
	@.ci/install-packages $(RUNTIME_PACKAGES)

test-packages:
	@.ci/install-packages $(TEST_PACKAGES)
