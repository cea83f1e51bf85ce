// SPDX-License-Identifier: Apache-2.0

private import Synchronization

/// The requests to a recorder's writing thread, and the state that this thread reports.
///
/// ## Threading
/// Any thread may use an instance.
final class RecorderBoard: Sendable {
  struct Requests {
    var isPaused = false
    var gain: Float = 1
    /// The requested end of the recording, on CLOCK_MONOTONIC [s]; nil if there is none.
    var stopTime: Double?
    /// The name of the source to change to; nil for no change.
    var input: String?
  }

  private struct Content {
    var requests = Requests()
    var status = RecorderStatus()
    var levels = ChannelLevels(peaks: [], energies: [], frames: 0)
    var intensity = FieldIntensity()
  }

  private let content: Mutex<Content>

  init(gain: Float) {
    var first = Content()
    first.requests.gain = gain
    content = Mutex(first)
  }

  var requests: Requests { content.withLock { $0.requests } }
  func request(_ change: @Sendable (inout Requests) -> Void) {
    content.withLock { change(&$0.requests) }
  }

  /// Returns and clears the name of the requested source; nil if there is none.
  func takeInput() -> String? {
    content.withLock { content in
      defer { content.requests.input = nil }
      return content.requests.input
    }
  }

  var status: RecorderStatus { content.withLock { $0.status } }
  func publish(_ change: (inout RecorderStatus) -> Void) {
    content.withLock { change(&$0.status) }
  }

  func add(_ levels: ChannelLevels, _ intensity: FieldIntensity) {
    content.withLock { content in
      content.levels += levels
      content.intensity += intensity
    }
  }

  func takeLevels() -> RecorderLevels {
    content.withLock { content in
      defer { content.levels = ChannelLevels(peaks: [], energies: [], frames: 0) }
      return RecorderLevels(
        peaks: content.levels.peaks, rms: content.levels.rms,
        direction: content.intensity.take().direction)
    }
  }
}
