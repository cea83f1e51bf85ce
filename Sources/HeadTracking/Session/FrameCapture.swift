// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Records packets that the program receives from a tracker or sends to it.
///
/// ## Threading
/// A capture may be used from any thread.
package final class FrameCapture: Sendable {
  package enum Direction: Character, Sendable {
    case received = "<"
    case sent = ">"
  }

  /// A recorded packet.
  package struct Frame: Sendable, Equatable {
    /// Seconds since the first packet.
    package var time: Double
    package var direction: Direction
    package var bytes: [UInt8]

    package init(time: Double, direction: Direction, bytes: [UInt8]) {
      self.time = time
      self.direction = direction
      self.bytes = bytes
    }
  }

  private struct State {
    var source: String?
    var first: Int64?
    var frames: [Frame] = []
  }

  private let state = Mutex(State())

  package init() {}

  /// The protocol of the packets, as in the first line of a `FrameFile`; nil before a tracker is
  /// opened.
  package var source: String? {
    get { state.withLock { $0.source } }
    set { state.withLock { $0.source = newValue } }
  }

  package func add(_ bytes: [UInt8], _ direction: Direction, time: Int64) {
    state.withLock { state in
      let first = state.first ?? time
      state.first = first
      state.frames.append(
        Frame(time: Double(time - first) * 1e-9, direction: direction, bytes: bytes))
    }
  }

  /// Returns the packets that were added since the last call.
  package func take() -> [Frame] {
    state.withLock { state in
      defer { state.frames = [] }
      return state.frames
    }
  }
}
