// SPDX-License-Identifier: Apache-2.0

import CSpawn
import Glibc

/// Lets SIGPIPE end this process, limits it to 1 GiB of additional address space and 5 s of CPU
/// time, and disables core files.
///
/// The address space that the process already uses does not count, because a sanitizer's shadow
/// memory is huge.
func setLimits() {
  signal(SIGPIPE, SIG_DFL)
  spawn_limit(Int32(RLIMIT_CORE.rawValue), 0)
  spawn_limit(Int32(RLIMIT_CPU.rawValue), 5)
  spawn_limit(Int32(RLIMIT_AS.rawValue), 1 << 30 + mappedBytes())
}

/// Makes the kernel kill this process when the parent's thread that started it ends.
///
/// The environment variable `STILLSTAGE_PARENT` contains the parent's process ID. If the parent has
/// already ended, this process ends at once. Without this variable, the function has no effect.
func endWithParent() {
  guard let parent = getenv("STILLSTAGE_PARENT").flatMap({ pid_t(String(cString: $0)) }) else {
    return
  }
  if spawn_end_with_parent(parent) != 0 { exit(2) }
}

/// Returns the number of bytes that the process maps now; 0 if unknown.
private func mappedBytes() -> UInt {
  let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { return 0 }
  defer { close(file) }
  var text = [UInt8](repeating: 0, count: 64)
  let count = read(file, &text, text.count)
  var pages: UInt = 0
  for byte in text.prefix(max(0, count)) {
    guard byte >= 48, byte <= 57 else { break }
    pages = pages * 10 + UInt(byte - 48)
  }
  return pages * UInt(max(0, sysconf(Int32(_SC_PAGESIZE))))
}
