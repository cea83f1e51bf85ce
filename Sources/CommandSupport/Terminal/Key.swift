// SPDX-License-Identifier: Apache-2.0

extension Console {
  /// A key, named after its function if it has one.
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
    /// Use the next decoder design.
    case decoder
    /// Use the next HRTF set.
    case hrtf
    /// Set the ambisonic order of the bus, 1 to 7.
    case order(Int)
    /// Use the next style of the Audio Mix.
    case mixStyle
    case lessMix
    case moreMix
    case help
    /// Open the full-screen view, or return to the status line.
    case fullScreen
    case quit
    /// Change to the next input of the sound server.
    case next
    /// Start or stop listening to the sound that is being recorded.
    case listen
    case plus
    case minus
    case enter
    case escape
    /// A key without a function, by its character or its name.
    case other(String)
  }
}
