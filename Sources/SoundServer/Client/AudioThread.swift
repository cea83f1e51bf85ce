// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Requests real-time scheduling for a thread and locked memory for this process.
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

  /// Locks the current mappings of this process in memory: loaded pages at once, other pages when
  /// they are first used. The audio thread then need not wait for the kernel to read discarded
  /// program code from the disk again.
  ///
  /// Has no effect without the privilege (CAP_IPC_LOCK) or a sufficient limit on locked memory
  /// (RLIMIT_MEMLOCK).
  package static func lockPages() { _ = mlockall(MCL_CURRENT | lockOnFault) }

  /// Linux's MCL_ONFAULT: pages are locked when they are first used.
  private static let lockOnFault: Int32 = 4

  /// Linux's SCHED_RESET_ON_FORK.
  private static let resetOnFork: Int32 = 0x4000_0000
}
