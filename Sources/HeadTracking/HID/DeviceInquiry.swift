// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import Synchronization
import System

/// A question to a device. It is asked on a thread of its own, because the device can block the
/// thread for several seconds.
final class DeviceInquiry<Answer: Sendable>: Sendable {
  private let state = Mutex<Answer?>(nil)

  init(_ ask: @escaping @Sendable () -> Answer) {
    DetachedThread.run { [self] in
      let answer = ask()
      state.withLock { $0 = answer }
    }
  }

  var answer: Answer? { state.withLock { $0 } }
}

/// Lets threads wait for each other, for at most about 0.2 s.
///
/// While a request for a feature report waits for an answer, Linux does not let any program open
/// or close a hidraw device (`minors_rwsem` in drivers/hid/hidraw.c). Therefore, all devices are
/// opened before the first one is asked.
final class DeviceGate: Sendable {
  private let missing: Atomic<Int>

  init(count: Int) { missing = Atomic(count) }

  func arrive() { missing.subtract(1, ordering: .relaxed) }

  func pass() {
    for _ in 0..<400 where missing.load(ordering: .relaxed) > 0 { usleep(500) }
  }
}

final class DeviceInquiries<Answer: Sendable>: Sendable {
  struct Question: Sendable {
    /// Identifies the device until it is unplugged.
    var key: String
    var ask: @Sendable () -> Answer
  }

  private let running = Mutex<[String: DeviceInquiry<Answer>]>([:])

  /// Asks devices in parallel. A device that has not answered an earlier question is neither asked
  /// again nor waited for.
  ///
  /// - Parameters:
  ///   - milliseconds: the maximum wait for the answers.
  ///   - isEnough: returns whether the answers so far are enough.
  /// - Returns: the answers in the order of the questions; nil for each missing answer.
  func answers(
    to questions: [Question], milliseconds: Int64, isEnough: ([Answer?]) -> Bool
  ) -> [Answer?] {
    let asked = questions.map { question in
      running.withLock { running -> (inquiry: DeviceInquiry<Answer>, isNew: Bool) in
        if let old = running[question.key], old.answer == nil { return (old, false) }
        let new = DeviceInquiry(question.ask)
        running[question.key] = new
        return (new, true)
      }
    }
    let end = monotonic_nanoseconds() + milliseconds * 1_000_000
    var answers = asked.map(\.inquiry.answer)
    while zip(asked, answers).contains(where: { $0.isNew && $1 == nil }),
      monotonic_nanoseconds() < end, !isEnough(answers)
    {
      usleep(500)
      answers = asked.map(\.inquiry.answer)
    }
    running.withLock { running in running = running.filter { $1.answer == nil } }
    return answers
  }
}
