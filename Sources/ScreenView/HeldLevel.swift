// SPDX-License-Identifier: Apache-2.0

/// The highest recent level, which stays for a while and then falls.
package struct HeldLevel: Sendable {
  /// How long a peak stays, in seconds.
  static let pause = 1.5
  /// How fast the level falls after the pause, in dB/s.
  static let fall = 20.0

  /// The held level, in dBFS.
  package private(set) var level = -200.0
  private var age = 0.0

  package init() {}

  /// Adds a level in dBFS, `seconds` after the previous one.
  package mutating func add(_ newest: Double, seconds: Double) {
    let fallen = max(0, min(seconds, age + seconds - Self.pause))
    age += seconds
    level -= fallen * Self.fall
    if newest >= level { (level, age) = (newest, 0) }
  }
}

/// A level that rises at once and falls slowly, for a bar that is easy to read.
package struct FallingLevel: Sendable {
  /// How fast the level falls, in dB/s.
  static let fall = 40.0

  /// The level, in dBFS.
  package private(set) var level = -200.0

  package init() {}

  /// Adds a level in dBFS, `seconds` after the previous one.
  package mutating func add(_ newest: Double, seconds: Double) {
    level = max(newest, level - Self.fall * seconds)
  }
}
