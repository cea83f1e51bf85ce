// SPDX-License-Identifier: Apache-2.0

extension Console {
  /// A key press, by its function.
  package enum Key: Equatable {
    case pause
    /// 10 s back.
    case back
    /// 10 s forward.
    case forward
    /// 60 s back.
    case backMinute
    /// 60 s forward.
    case forwardMinute
    case louder
    case softer
    case mute
    case recenter
    case mode
    /// The next decoder design.
    case decoder
    /// The next HRTF set.
    case hrtf
    /// The ambisonic order of the bus.
    case order(Int)
    /// The next style of the Audio Mix.
    case mixStyle
    case lessMix
    case moreMix
    case help
    /// Open the full-screen view, or return to the status line.
    case fullScreen
    case quit
    /// The next input of a recording.
    case next
    /// Start or end listening to a recording.
    case listen
    case plus
    case minus
    case enter
    /// A key without a function, by its character or its name.
    case other(String)
  }
}
