// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The priority of threads that handle sound in real time.
package enum AudioThread {
  private static let priority: Int32 = 5
  private static let nice: Int32 = -11

  /// Requests real-time scheduling for the calling thread; if that is refused, requests a higher
  /// priority.
  package static func raisePriority() {
    var parameters = sched_param()
    parameters.sched_priority = priority
    if sched_setscheduler(0, SCHED_RR | resetOnFork, &parameters) == 0 { return }
    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, nice)
  }

  /// Linux's SCHED_RESET_ON_FORK.
  private static let resetOnFork: Int32 = 0x4000_0000
}
