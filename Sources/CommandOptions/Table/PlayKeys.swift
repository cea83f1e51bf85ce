// SPDX-License-Identifier: Apache-2.0

/// One or more keys of `play` and `demo`, with a description of what they do.
public struct KeyDescription: Sendable, Equatable {
  /// The names of the keys, such as "up, down".
  public let keys: String
  /// The function in a few words, for the list that `?` shows.
  public let short: String
  /// The function as a sentence, for the help and the manual.
  public let sentence: String
}

/// The keys of `play` and `demo`.
public enum PlayKeys {
  public static let all = [
    key("space, p", "pause, resume", "Pause or resume."),
    key("left, right", "10 s back, forward", "Skip 10 s back or forward."),
    key("Page Up", "60 s forward", "Skip 60 s forward."),
    key("Page Down", "60 s back", "Skip 60 s back."),
    key("up, down", "louder, quieter", "Change the volume by 1 dB."),
    key("m", "mute, unmute", "Mute or unmute."),
    key(
      "c", "recentre to where you face now",
      "Recentre: turn the front to the direction that the head faces."),
    key(
      "t", "next mode of the stage",
      "Select the next mode: stage fixed in the room, stage fixed to the head, plain stereo."),
    key("d", "next decoder", "Select the next decoder design."),
    key("h", "next HRTF set", "Select the next HRTF set."),
    key(
      "1 to 7", "order of the bus",
      "Set the order of the ambisonic bus, unless the source is ambisonic."),
    key(
      "x", "next mix style",
      "Select the next style of the Audio Mix, if the source is a soundfield."),
    key(", and .", "less, more mix", "Decrease or increase the amount of the Audio Mix by 0.1."),
    key(
      "f", "enter or leave full screen",
      "Show the full-screen view, or return to the status line."),
    key("Escape", "leave full screen", "Return from the full-screen view to the status line."),
    key("?", "show or hide the keys", "Show or hide the list of keys."),
    key("q", "quit", "Quit."),
  ]

  /// The line that `play` and `demo` print at the start on a terminal, unless `--quiet` is set. It
  /// lists the most important keys.
  public static let first = "space pause, c recentre, up/down volume, f full screen, ? keys, q quit"

  /// Keys with their functions in a few words, for the full-screen view, the most important first.
  public static let hints = [
    "q quit", "space pause", "up/down volume", "c recentre", "? all keys", "Esc close view",
    "m mute", "left/right 10 s", "t mode", "d decoder", "h HRTF", "x , . mix", "1-7 order",
    "PgDn/PgUp 60 s",
  ]

  /// The lines of the list that `?` shows, at most 48 characters each.
  public static var list: [String] {
    all.map { key in
      key.keys + String(repeating: " ", count: 15 - key.keys.count) + key.short
    }
  }

  private static func key(_ keys: String, _ short: String, _ sentence: String) -> KeyDescription {
    KeyDescription(keys: keys, short: short, sentence: sentence)
  }
}

extension CommandSpecification {
  /// The keys that the command's help lists under KEYS; empty if the command has no keys or if its
  /// discussion describes them.
  public var keys: [KeyDescription] {
    switch name {
    case .play, .demo: PlayKeys.all
    default: []
    }
  }
}
