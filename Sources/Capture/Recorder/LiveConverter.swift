// SPDX-License-Identifier: Apache-2.0

/// Converts frames of a source to the channels and the rate of a recording, and applies the gain.
///
/// ## Threading
/// Use it from one thread at a time.
final class LiveConverter {
  /// The properties of the recording that determine the conversion.
  struct Form: Sendable {
    let microphone: MicrophoneFormat
    let selection: [Int]?
    /// The sample rate of the recording [Hz].
    let sampleRate: Int
  }

  private let source: (channels: Int, rate: Int)
  private let converter: SourceConverter
  private let encoder: MicrophoneEncoder
  /// The linear gain at the end of the next block.
  var gain: Float = 1
  /// The linear gain of the last frame; nil before the first block.
  private var currentGain: Float?
  private var output: [Float] = []

  init(_ form: Form, source: (channels: Int, rate: Int)) {
    self.source = source
    converter = SourceConverter(
      source: source, recording: (form.microphone.channelCount, form.sampleRate),
      selection: form.selection, single: form.microphone.single)
    encoder = MicrophoneEncoder(form.microphone, sampleRate: form.sampleRate)
  }

  /// Returns whether the converter was made for a source with this many channels and this rate.
  func takes(_ source: (channels: Int, rate: Int)) -> Bool { self.source == source }

  /// Converts frames and passes them to `receive`. If the conversion fails, the frames are left
  /// out.
  ///
  /// - Parameter samples: frames x channels of the source.
  func convert(_ samples: [Float], frames: Int, _ receive: LiveFeed.Listener) {
    var invalid = 0
    let made = samples.withUnsafeBufferPointer { samples -> PlanarBlock? in
      guard let start = samples.baseAddress else { return nil }
      return try? converter.process(start, frames: frames, invalid: &invalid)
    }
    guard let made else { return }
    let block = encoder.process(made)
    let channels = block.channels
    guard block.frames > 0 else { return }
    let count = block.frames * channels
    if output.count < count { output = [Float](repeating: 0, count: count) }
    let first = currentGain ?? gain
    let step = (gain - first) / Float(block.frames)
    for channel in 0..<channels {
      let plane = block[channel]
      for frame in 0..<block.frames {
        output[frame * channels + channel] = plane[frame] * (first + step * Float(frame + 1))
      }
    }
    currentGain = gain
    output.withUnsafeBufferPointer {
      if let start = $0.baseAddress { receive(start, block.frames) }
    }
  }
}
