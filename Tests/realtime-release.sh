#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs RealtimeSafetyTests in a release build, where retains and releases count as faults too.
# Builds only these tests, in a scratch path of its own (default .build/realtime-release).
set -eu
cd "$(dirname "$0")/.."
scratch=${1:-.build/realtime-release}
export STILLSTAGE_ONLY=RealtimeSafetyTests
set -- -c release --scratch-path "$scratch" -Xswiftc -enable-testing
swift build --product StillstagePackageTests "$@"
log=$scratch/realtime-safety.log
status=0
swift test --skip-build --disable-xctest --filter RealtimeSafetyTests "$@" >"$log" 2>&1 ||
  status=$?
cat "$log"
if [ "$status" -eq 0 ] && ! grep -q 'Test run with [1-9][0-9]* test' "$log"; then
  echo "realtime-release: no test ran; is RealtimeSafetyTests still in the package?" >&2
  exit 1
fi
exit "$status"
