// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What the audio thread may do to be served first.
enum AudioThread {
  private static let priority: Int32 = 5
  private static let nice: Int32 = -11

  /// Asks for the calling thread to be scheduled in real time, or else before others; without either
  /// right it goes on as it is. Children do not inherit it.
  static func raisePriority() {
    var parameters = sched_param()
    parameters.sched_priority = priority
    if sched_setscheduler(0, SCHED_RR | resetOnFork, &parameters) == 0 { return }
    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, nice)
  }

  /// SCHED_RESET_ON_FORK of Linux.
  private static let resetOnFork: Int32 = 0x4000_0000
}
