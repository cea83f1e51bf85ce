#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs RealtimeSafetyTests with RealtimeSanitizer linked: any allocation, lock or system call within
# a real-time section ends the run with a stack trace. Builds only these tests, in a scratch path of
# its own (default .build/rtsan), optimised as what is shipped.
set -eu
cd "$(dirname "$0")/.."
scratch=${1:-.build/rtsan}
resources=$(swift -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
runtime=$(find "$(dirname "$resources")/clang" "$resources/clang" \
  -name "libclang_rt.rtsan-$(uname -m).a" 2>/dev/null | head -n 1)
if [ -z "$runtime" ]; then
  echo "realtime-sanitizer: no libclang_rt.rtsan-$(uname -m).a in the Swift toolchain at" \
    "$(dirname "$resources"); install the toolchain of swift.org for this system" >&2
  exit 1
fi
export STILLSTAGE_ONLY=RealtimeSafetyTests STILLSTAGE_EXPECT_REALTIME_SANITIZER=1
set -- -c release -Xswiftc -enable-testing --scratch-path "$scratch" \
  -Xcc -DSTILLSTAGE_REALTIME_SANITIZER -Xswiftc -use-ld=lld \
  -Xlinker --whole-archive -Xlinker "$runtime" -Xlinker --no-whole-archive -Xlinker -lstdc++
swift build --product StillstagePackageTests "$@"
log=$scratch/realtime-safety.log
status=0
swift test --skip-build --disable-xctest --filter RealtimeSafetyTests "$@" >"$log" 2>&1 ||
  status=$?
cat "$log"
if [ "$status" -eq 0 ] && ! grep -q 'Test run with [1-9][0-9]* test' "$log"; then
  echo "realtime-sanitizer: no test ran; is RealtimeSafetyTests still in the package?" >&2
  exit 1
fi
exit "$status"
