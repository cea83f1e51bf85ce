// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import CommandSupport

@Suite struct SignalTests {
  private func actions(_ signals: [(Int32, Double)]) -> [SignalRepetition.Action] {
    var repetition = SignalRepetition()
    return signals.map { repetition.action(for: $0.0, at: Int64($0.1 * 1e9)) }
  }

  /// The kernel sends SIGHUP twice, and `timeout` sends SIGTERM to the process and its group.
  @Test(arguments: [SIGHUP, SIGTERM, SIGINT])
  func secondSignalDoesNotSkipTheCleanEnd(signal: Int32) {
    #expect(
      actions([(signal, 5), (signal, 5.0), (SIGTERM, 5.4), (SIGHUP, 5.99)])
        == [.stop, .ignore, .ignore, .ignore])
  }

  @Test func thirdInterruptEndsAtOnce() {
    #expect(
      actions([(SIGINT, 1), (SIGINT, 1.2), (SIGINT, 1.4)]) == [.stop, .ignore, .endAtOnce])
    #expect(
      actions([(SIGTERM, 1), (SIGINT, 1.2), (SIGINT, 1.4), (SIGINT, 1.6)])
        == [.stop, .ignore, .ignore, .endAtOnce])
  }

  @Test func signalAfterASecondEndsAtOnce() {
    #expect(actions([(SIGTERM, 1), (SIGTERM, 2.1)]) == [.stop, .endAtOnce])
    #expect(actions([(SIGHUP, 1), (SIGTERM, 1.5), (SIGHUP, 2.1)]).last == .endAtOnce)
  }
}
