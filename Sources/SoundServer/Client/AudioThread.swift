// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The conditions that a thread needs to handle sound in real time.
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

  /// Locks the pages that this process uses or maps now, so that no sound waits until the kernel has
  /// read discarded program code from the disk again.
  ///
  /// Has no effect without the privilege (CAP_IPC_LOCK) or a sufficient limit of locked memory
  /// (RLIMIT_MEMLOCK).
  package static func lockPages() { _ = mlockall(MCL_CURRENT | lockOnFault) }

  /// Linux's MCL_ONFAULT: pages are locked once they are used.
  private static let lockOnFault: Int32 = 4

  /// Linux's SCHED_RESET_ON_FORK.
  private static let resetOnFork: Int32 = 0x4000_0000
}
