// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing

/// Separates a first-order soundfield into talkers and ambience.
///
/// The analysis is a short-time Fourier transform with windows of about 42.7 ms and hops of a
/// quarter window. `FieldDirections` and `SourceTracker` find up to three sources, `SourceBeams`
/// extracts them, and `SpeechEvidence` weights them. A `SpeechEnhancer` can attenuate what is not
/// speech in the beams.
///
/// The result does not depend on the number of frames in a call.
///
/// ## Threading
/// Use a separator from one thread at a time. Without an enhancer, `process` does not allocate,
/// lock or wait.
public struct SpatialSeparator: ~Copyable, @unchecked Sendable {
  /// The delay of the output, in frames.
  public let latencyFrames: Int
  /// The number of frames from the start of one analysis frame to the start of the next.
  public let hopFrames: Int
  /// If two separators start at different frames of a stream, and the starts differ by a multiple
  /// of this number of frames, the separators give practically the same result once they have
  /// settled (see `settlingFrames`).
  public let alignmentFrames: Int
  /// The number of frames after which earlier input has practically no effect.
  public let settlingFrames: Int
  /// The camera's horizontal field of view around the front in radians, 0 to 2 pi. It may change
  /// between calls of `process`.
  public var fieldOfView: Double {
    get { frames.fieldOfView }
    set { frames.fieldOfView = newValue }
  }

  private static let bound: Float = 1e4
  private static let outputs = 12

  private var frames: FrameSeparator
  /// The newest frames of 4 channels: unchanged (`history`), and with invalid samples set to 0
  /// (`clean`).
  private let history: AlignedFloats
  private let clean: AlignedFloats
  private let windowFrames: Int
  /// The overlap-add buffer of the images: `windowFrames` x 12; see `FrameSeparator.process`.
  private let sums: AlignedFloats
  private var fill = 0

  /// Prepares the separator.
  ///
  /// - Parameters:
  ///   - sampleRate: the sample rate in Hz, at least 1000.
  ///   - fieldOfView: the initial value of the property `fieldOfView`.
  ///   - enhancer: the speech enhancer, which requires a sample rate of 48000 Hz; nil for none.
  public init(
    sampleRate: Double, fieldOfView: Double, enhancer: (any SpeechEnhancer)? = nil
  ) {
    self.init(
      sampleRate: sampleRate, fieldOfView: fieldOfView, settings: SeparationSettings(),
      enhancer: enhancer)
  }

  package init(
    sampleRate: Double, fieldOfView: Double, settings: SeparationSettings,
    enhancer: (any SpeechEnhancer)? = nil
  ) {
    precondition(sampleRate >= 1000 && (enhancer == nil || sampleRate == 48000))
    hopFrames = max(8, Int((settings.hopSeconds * sampleRate).rounded()))
    windowFrames = 4 * hopFrames
    settlingFrames = Int((8 * sampleRate / Double(hopFrames)).rounded(.up)) * hopFrames
    frames = FrameSeparator(
      sampleRate: sampleRate, hopFrames: hopFrames, settings: settings, enhancer: enhancer)
    frames.fieldOfView = fieldOfView
    latencyFrames = windowFrames + frames.delayHops * hopFrames
    alignmentFrames = hopFrames * (enhancer == nil ? 1 : EnhancedFrames.alignmentHops)
    history = AlignedFloats(count: 4 * latencyFrames)
    clean = AlignedFloats(count: 4 * windowFrames)
    sums = AlignedFloats(count: Self.outputs * windowFrames)
  }

  /// Discards all earlier sound, so that a new stream can start. `fieldOfView` keeps its value.
  public mutating func reset() {
    frames.reset()
    history.clear()
    clean.clear()
    sums.clear()
    fill = 0
  }

  /// Takes the next frames of the stream and writes the same number of frames, delayed by
  /// `latencyFrames`.
  ///
  /// Samples that are NaN or have a magnitude above 10 000 count as silence in the separation, but
  /// remain in the `field` of the block.
  ///
  /// - Parameters:
  ///   - field: 4 channels x `frames`, in ACN order and SN3D scale.
  ///   - frames: the number of frames, at most the capacity of `block`.
  ///   - block: receives the output.
  public mutating func process(
    _ field: UnsafePointer<UnsafeMutablePointer<Float>>, frames count: Int,
    into block: SeparatedBlock
  ) {
    var done = 0
    while done < count {
      let part = min(count - done, hopFrames - fill)
      exchange(field, block, at: done, frames: part)
      done += part
      fill += part
      if fill == hopFrames {
        advance()
        fill = 0
      }
    }
  }

  /// Copies the oldest frames and the completed sums to the block, and replaces the oldest frames
  /// with the new ones.
  private func exchange(
    _ field: UnsafePointer<UnsafeMutablePointer<Float>>, _ block: SeparatedBlock, at offset: Int,
    frames part: Int
  ) {
    for c in 0..<4 {
      let (raw, sound) = (
        history.pointer + c * latencyFrames + fill, clean.pointer + c * windowFrames + fill
      )
      let (input, output) = (field[c] + offset, block.field[c] + offset)
      for i in 0..<part {
        let sample = input[i]
        output[i] = raw[i]
        raw[i] = sample
        // The comparison is also false for NaN.
        sound[i] = abs(sample) <= Self.bound ? sample : 0
      }
      let ready = sums.pointer + fill * Self.outputs + c
      let (image, framed, studio) = (
        block.image[c] + offset, block.framedImage[c] + offset, block.studioImage[c] + offset
      )
      for i in 0..<part {
        image[i] = ready[i * Self.outputs]
        framed[i] = ready[i * Self.outputs + 4]
        studio[i] = ready[i * Self.outputs + 8]
      }
    }
  }

  /// Separates the analysis frame that the newest hop completes.
  private mutating func advance() {
    rotate(history)
    rotate(clean)
    let kept = Self.outputs * (windowFrames - hopFrames)
    let step = Self.outputs * hopFrames
    for i in 0..<kept { sums.pointer[i] = sums.pointer[i + step] }
    for i in kept..<(kept + step) { sums.pointer[i] = 0 }
    frames.process(clean.pointer, addingTo: sums.pointer)
  }

  /// Moves the first hop of each channel, which is the newest, to the end of the channel. The
  /// frames are then in chronological order.
  private func rotate(_ samples: borrowing AlignedFloats) {
    let length = samples.count / 4
    for c in 0..<4 {
      let channel = samples.pointer + c * length
      for i in 0..<hopFrames {
        let newest = channel[i]
        for part in 1..<(length / hopFrames) {
          channel[(part - 1) * hopFrames + i] = channel[part * hopFrames + i]
        }
        channel[length - hopFrames + i] = newest
      }
    }
  }
}
