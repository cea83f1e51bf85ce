// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// Applies the level metadata of an AAC stream to decoded frames: the reference level and, unless
/// `mode` is `.off`, the gains.
struct AACGain {
  let mode: DynamicRange
  private var levels = AACLevels()
  private var last: Float?

  init(mode: DynamicRange) { self.mode = mode }

  /// Whether the stream has stated a reference level.
  var hasReference: Bool { levels.newest?.reference != nil }

  /// Takes the access unit from which the next frame is decoded.
  mutating func add(_ unit: some Collection<UInt8>) { levels.add(unit) }

  /// Makes the next frame start without a fade.
  mutating func cut() { last = nil }

  /// Applies the current gain to the frame in `queue`. The gain fades from the previous frame's
  /// gain along a sine-squared curve, like the overlap of the codec's transform.
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
