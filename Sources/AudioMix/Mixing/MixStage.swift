// SPDX-License-Identifier: Apache-2.0

private import Ambisonics
internal import SignalProcessing

/// Separates a soundfield of order 1 or higher into the planes that `StemMixer` mixes.
///
/// Channels after the fourth are only delayed.
///
/// ## Threading
/// Use a stage from one thread at a time. Without a speech enhancer, `process` does not allocate,
/// lock or wait.
public struct MixStage: ~Copyable, @unchecked Sendable {
  /// The number of input channels, including head-locked channels.
  public let channels: Int
  /// The delay of the output, in frames.
  public let latencyFrames: Int
  /// The hop of the separation, in frames.
  public let hopFrames: Int
  /// See `SpatialSeparator.alignmentFrames`.
  public let alignmentFrames: Int
  /// See `SpatialSeparator.settlingFrames`.
  public let settlingFrames: Int
  /// The largest number of frames in one call of `process`.
  public let capacity: Int

  private var separator: SpatialSeparator
  private let block: SeparatedBlock
  /// A ring buffer of `latencyFrames` frames for each channel after the fourth.
  private let past: AlignedFloats
  private var place = 0
  private let shelf: Biquad?
  private var state = (0.0, 0.0)

  /// The gain of the studio style's low shelf.
  static let shelfDecibels = 3.0
  /// The corner frequency of the studio style's low shelf.
  static let shelfHertz = 200.0

  /// Prepares the stage.
  ///
  /// - Parameters:
  ///   - channels: the number of input channels, including head-locked channels; 4 or more.
  ///   - sampleRate: the sample rate in Hz, at least 1000.
  ///   - fieldOfView: the field of view in radians; see `MixSettings`.
  ///   - capacity: the largest number of frames in one call of `process`.
  ///   - enhancer: the speech enhancer, which requires a sample rate of 48000 Hz; nil for none.
  public init(
    channels: Int, sampleRate: Double, fieldOfView: Double, capacity: Int,
    enhancer: (any SpeechEnhancer)? = nil
  ) {
    precondition(channels >= 4 && capacity > 0)
    (self.channels, self.capacity) = (channels, capacity)
    separator = SpatialSeparator(
      sampleRate: sampleRate, fieldOfView: fieldOfView, enhancer: enhancer)
    latencyFrames = separator.latencyFrames
    hopFrames = separator.hopFrames
    alignmentFrames = separator.alignmentFrames
    settlingFrames = separator.settlingFrames
    block = SeparatedBlock(capacity: capacity)
    past = AlignedFloats(count: max(1, (channels - 4) * latencyFrames))
    shelf = ParametricFilter(
      .lowShelf, frequency: Self.shelfHertz, gain: Self.shelfDecibels, quality: 0.5.squareRoot()
    ).biquad(sampleRate: sampleRate)
  }

  /// Discards all earlier sound, so that a new stream can start.
  public mutating func reset() {
    separator.reset()
    past.clear()
    place = 0
    state = (0, 0)
  }

  /// Takes the next frames of the stream and writes the same number of frames, delayed by
  /// `latencyFrames`.
  ///
  /// - Parameters:
  ///   - field: `channels` x `frames`, in ACN order and SN3D scale.
  ///   - frames: the number of frames, at most `capacity`.
  ///   - output: `channels` + `StemPlanes.count` planes, which must not overlap the input.
  public mutating func process(
    _ field: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int,
    into output: UnsafePointer<UnsafeMutablePointer<Float>>
  ) {
    separator.process(field, frames: frames, into: block)
    for c in 0..<4 {
      copyFrames(block.field[c], output[c], frames)
      copyFrames(block.image[c], output[channels + StemPlanes.image + c], frames)
      copyFrames(block.framedImage[c], output[channels + StemPlanes.framedImage + c], frames)
      copyFrames(block.studioImage[c], output[channels + StemPlanes.studioImage + c], frames)
    }
    raise(block.studioImage[0], into: output[channels + StemPlanes.studioSpeech], frames)
    delay(field, into: output, frames)
  }

  private mutating func raise(
    _ input: UnsafePointer<Float>, into output: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    guard let shelf else { return copyFrames(input, output, frames) }
    var (s1, s2) = state
    for i in 0..<frames {
      let x = Double(input[i])
      let y = shelf.b0 * x + s1
      s1 = shelf.b1 * x - shelf.a1 * y + s2
      s2 = shelf.b2 * x - shelf.a2 * y
      output[i] = Float(y)
    }
    // Denormal numbers would slow the filter down.
    state = (abs(s1) > 1e-30 ? s1 : 0, abs(s2) > 1e-30 ? s2 : 0)
  }

  private mutating func delay(
    _ field: UnsafePointer<UnsafeMutablePointer<Float>>,
    into output: UnsafePointer<UnsafeMutablePointer<Float>>, _ frames: Int
  ) {
    guard channels > 4, latencyFrames > 0 else {
      for c in 4..<max(4, channels) { copyFrames(field[c], output[c], frames) }
      return
    }
    for c in 4..<channels {
      let ring = past.pointer + (c - 4) * latencyFrames
      var slot = place
      for i in 0..<frames {
        output[c][i] = ring[slot]
        ring[slot] = field[c][i]
        slot = slot + 1 == latencyFrames ? 0 : slot + 1
      }
    }
    place = (place + frames) % latencyFrames
  }
}
