// SPDX-License-Identifier: Apache-2.0

import CSpawn
import Glibc

/// Limits this process to 1 GB of additional address space and 5 s of CPU time, and disables core
/// files.
///
/// The limit of the address space is relative to the memory that is mapped at the start, because a
/// sanitizer's shadow memory alone exceeds any sensible limit.
func setLimits() {
  signal(SIGPIPE, SIG_DFL)
  spawn_limit(Int32(RLIMIT_CORE.rawValue), 0)
  spawn_limit(Int32(RLIMIT_CPU.rawValue), 5)
  spawn_limit(Int32(RLIMIT_AS.rawValue), 1 << 30 + mappedBytes())
}

/// Makes this process end when its parent ends, even if the parent is killed.
///
/// The kernel sends a signal when the thread that started this process ends. If the parent ended
/// before this function was called, there is no signal. The function therefore compares the ID of
/// the parent with `STILLSTAGE_PARENT`, and ends the process if the IDs differ. Without this
/// variable, the function does nothing.
func endWithParent() {
  guard let parent = getenv("STILLSTAGE_PARENT").flatMap({ pid_t(String(cString: $0)) }) else {
    return
  }
  if spawn_end_with_parent(parent) != 0 { exit(2) }
}

/// Returns the number of bytes that the process maps now, from the number of pages in
/// /proc/self/statm; 0 if unknown.
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
