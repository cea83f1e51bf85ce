// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Determines from the levels of lateral sources which channel belongs to the left ear.
///
/// The file's ReceiverPosition is used only if the levels do not distinguish the ears, because it
/// is wrong in many public sets (CIPIC, LISTEN, MIT KEMAR large pinna, TH Koeln KU100).
struct EarOrder {
  enum Ear: String {
    case left, right
  }

  /// The ear of channel 0.
  let channelZero: Ear
  /// The ear that the file declares for channel 0; nil if it declares none.
  let declared: Ear?
  let notes: [String]

  var isExchanged: Bool { channelZero == .right }

  /// The smallest mean level difference that identifies the ears, as the natural logarithm of an
  /// energy ratio.
  private static let leastEvidence = 0.02

  init(_ contents: SofaContents) {
    let declared: Ear? =
      contents.declaredSide > 0 ? .left : contents.declaredSide < 0 ? .right : nil
    let evidence = Self.evidence(contents)
    self.declared = declared
    guard abs(evidence) >= Self.leastEvidence else {
      channelZero = declared ?? .left
      notes = [
        "the levels of lateral sources do not distinguish the ears; channel 0 is assumed to be "
          + "the \(channelZero.rawValue) ear"
      ]
      return
    }
    let heard: Ear = evidence > 0 ? .left : .right
    channelZero = heard
    if let declared, declared != heard {
      notes = [
        "the set declares that channel 0 is the \(declared.rawValue) ear, but the levels of "
          + "lateral sources show that it is the \(heard.rawValue) ear"
      ]
    } else {
      notes = []
    }
  }

  /// Returns the sum over the measurements of y ln(energy of channel 0 / energy of channel 1),
  /// divided by the sum of |y|, where y is the leftward component of the direction to the source.
  /// Skips measurements with a silent channel; returns 0 if no lateral measurements remain. A
  /// positive value indicates that channel 0 is the left ear.
  private static func evidence(_ contents: SofaContents) -> Double {
    var (sum, weight) = (0.0, 0.0)
    contents.impulseResponses.withUnsafeBufferPointer { samples in
      for index in 0..<contents.measurements {
        let position = contents.positions[index]
        let y = position.y / position.length
        let start = index * 2 * contents.taps
        let first = energy(samples, start, contents.taps)
        let second = energy(samples, start + contents.taps, contents.taps)
        guard first > 0, second > 0 else { continue }
        sum += y * log(first / second)
        weight += abs(y)
      }
    }
    return weight > 0 ? sum / weight : 0
  }
}

/// Returns the sum of squares of `count` samples from `start` on.
func energy(_ samples: UnsafeBufferPointer<Float>, _ start: Int, _ count: Int) -> Double {
  var sum = 0.0
  for index in start..<start + count {
    let value = Double(samples[index])
    sum += value * value
  }
  return sum
}
