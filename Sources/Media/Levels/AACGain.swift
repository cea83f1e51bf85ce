// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// Scales the decoded frames of an AAC stream according to the reference level and the gains that
/// the stream transmits.
struct AACGain {
  let mode: DynamicRange
  private var levels = AACLevels()
  private var last: Float?

  init(mode: DynamicRange) { self.mode = mode }

  /// Whether the stream has stated a reference level. If so, `apply` brings the programme to the
  /// dialogue level of `mode`.
  var hasReference: Bool { levels.newest?.reference != nil }

  /// Takes the access unit from which the next frame is decoded.
  mutating func add(_ unit: some Collection<UInt8>) { levels.add(unit) }

  /// Forgets the gain of the previous frame after a seek, so that the next frame starts without a
  /// fade.
  mutating func cut() { last = nil }

  /// Applies the current gain to the decoded frame in `queue`. Within the frame, the gain fades
  /// from the previous frame's gain to the current gain. The fade is a sine-squared curve, like the
  /// overlap of the codec's transform.
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
