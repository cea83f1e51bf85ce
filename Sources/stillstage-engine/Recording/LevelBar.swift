// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Rendering

/// Levels as text.
enum LevelBar {
  private static let lowest = -60.0

  /// Returns the levels in dBFS, such as "-12.0 -13.5"; "--" stands for a level below -100 dBFS.
  static func numbers(_ peaks: [Float]) -> String {
    peaks.map { $0 < 1e-5 ? "--" : decimal(Double(decibels($0)), 1) }.joined(separator: " ")
  }

  /// Returns a bar on a scale from -60 to 0 dBFS.
  ///
  /// - Parameters:
  ///   - peak: the level that the bar shows, linear.
  ///   - hold: the held peak, linear. The character `|` shows it, unless the bar covers that
  ///     character or the held peak is rounded to the lower end of the scale.
  ///   - width: the number of characters.
  static func bar(_ peak: Float, hold: Float, width: Int) -> String {
    let (level, mark) = (position(peak, width), position(hold, width))
    return String(
      (0..<width).map { index -> Character in
        if index < level { return "#" }
        return index == mark - 1 ? "|" : "."
      })
  }

  private static func position(_ level: Float, _ width: Int) -> Int {
    guard level > 1e-5 else { return 0 }
    let part = 1 - Double(decibels(level)) / lowest
    return max(0, min(width, Int((part * Double(width)).rounded())))
  }
}

/// The held peak of each channel. A peak is held for 2 s, or until a peak arrives that is at least
/// as high.
struct PeakHold {
  private static let seconds = 2.0
  private var held: [(level: Float, time: Double)] = []

  var levels: [Float] { held.map(\.level) }

  mutating func add(_ peaks: [Float], at time: Double) {
    if held.count != peaks.count { held = peaks.map { ($0, time) } }
    for (i, peak) in peaks.enumerated()
    where peak >= held[i].level || time - held[i].time > Self.seconds {
      held[i] = (peak, time)
    }
  }
}
