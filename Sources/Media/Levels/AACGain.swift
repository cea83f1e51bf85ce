// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// Applies the levels that AAC transmits to the decoded frames.
struct AACGain {
  let mode: DynamicRange
  private var levels = AACLevels()
  private var last: Float?

  init(mode: DynamicRange) { self.mode = mode }

  /// Whether the stream states a reference level, so that the programme is brought to the dialogue
  /// level of `mode`.
  var hasReference: Bool { levels.newest?.reference != nil }

  /// Takes the access unit from which the next frame is decoded.
  mutating func add(_ unit: some Collection<UInt8>) { levels.add(unit) }

  /// Forgets the previous frame, as after a seek.
  mutating func cut() { last = nil }

  /// Applies the gain of its access unit to a decoded frame. The gain fades from that of the
  /// previous frame by a sine-squared curve, like the transform's window.
  mutating func apply(to queue: PlanarQueue) {
    let gain = linear
    let before = last ?? gain
    last = gain
    let count = queue.count
    guard count > 0, gain != 1 || before != 1 else { return }
    for i in 0..<count {
      let turn = Double(i) / Double(count) * .pi / 2
      let weight = Float(sin(turn) * sin(turn))
      let now = before + (gain - before) * weight
      for channel in 0..<queue.channels { queue.plane(channel)[i] *= now }
    }
  }

  private var linear: Float {
    guard let newest = levels.newest else { return 1 }
    var decibels = newest.reference.map { Double(mode.dialogueLevel) - $0 } ?? 0
    if mode != .off { decibels += newest.gain ?? 0 }
    return decibels == 0 ? 1 : Float(pow(10, decibels / 20))
  }
}
