// SPDX-License-Identifier: Apache-2.0

/// Decides when to pause playback because both earphones were taken out, and when to resume it
/// because one was put back.
package struct RemovalPause {
  package enum Action {
    case pause
    case resume
  }

  /// Whether playback is still paused because of a removal.
  private var isActive = false

  package init() {}

  /// Notes that playback is not paused, for example because the user has resumed it.
  package mutating func notePlaying() { isActive = false }

  /// Returns what to do when both earphones have been taken out or one has been put back; nil for
  /// nothing. Playback resumes only if it is still paused because of a removal.
  package mutating func action(isOut: Bool, isPaused: Bool) -> Action? {
    if isOut {
      guard !isPaused else { return nil }
      isActive = true
      return .pause
    }
    defer { isActive = false }
    return isActive && isPaused ? .resume : nil
  }
}
