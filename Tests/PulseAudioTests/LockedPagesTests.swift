// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import SoundServer

struct LockedPagesTests {
  /// Whether this process may lock any amount of memory: bit 14 of the effective capabilities is
  /// CAP_IPC_LOCK.
  private static var mayLock: Bool {
    status("CapEff").flatMap { UInt64($0, radix: 16) }.map { $0 >> 14 & 1 == 1 } ?? false
  }

  /// Returns the first word of a field of /proc/self/status.
  private static func status(_ field: String) -> Substring? {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").first { $0.hasPrefix(field + ":") }?
      .split(whereSeparator: \.isWhitespace).dropFirst().first
  }

  @Test(.enabled(if: mayLock, "needs CAP_IPC_LOCK")) func soundThreadsLockTheProgramInMemory() {
    AudioThread.lockPages()
    let locked = Self.status("VmLck").flatMap { Int($0) } ?? 0
    // The program itself is larger than 10 MB.
    #expect(locked > 10_000, "\(locked) kB are locked")
  }
}
