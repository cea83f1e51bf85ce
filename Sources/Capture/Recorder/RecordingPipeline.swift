// SPDX-License-Identifier: Apache-2.0

/// Recorded frames, valid during the call that delivers them.
public struct RecordedBlock {
  /// The samples, channels x frames, with full scale 1.
  public let planes: UnsafePointer<UnsafeMutablePointer<Float>>
  public let frames: Int
  public let channelCount: Int
  /// The position of the block's first frame in the recording, in frames.
  public let position: Int64
  /// The intensity of a first-order soundfield; nil for other sound.
  public let intensity: FieldIntensity?
  /// The approximate time at which the block's last frame arrived, or at which silence was put in
  /// its place, on CLOCK_MONOTONIC, in nanoseconds.
  public let timeNanoseconds: Int64
}

/// Converts the sound from a timeline, applies the gain, and passes the result to the sink.
final class RecordingPipeline: TimelineOutput {
  let format: RecorderFormat
  private let microphone: MicrophoneFormat
  private let selection: [Int]?
  private let sink: any RecordingSink
  private let onBlock: ((RecordedBlock) -> Void)?
  private let onGap: (Gap) -> Void
  private let encoder: MicrophoneEncoder
  private var converter: SourceConverter?

  /// The number of frames that the sink has received.
  private(set) var frames: Int64 = 0
  private var hasFinished = false
  /// The fraction of a frame by which the written silence is still too short.
  private var silenceRest = 0.0
  /// The start of the silence that `note` has not reported yet, in frames of the recording; nil if
  /// there is none.
  private var silenceStart: Int64?
  /// The largest number of frames that the recording may have; nil for no limit.
  var limit: Int64?

  private(set) var invalidSamples = 0
  private(set) var clippedSamples = 0
  private(set) var peak: Float = 0
  private(set) var meter: ChannelMeter
  private var intensityMeter = IntensityMeter()
  private var intensity = FieldIntensity()
  private var annotation: Annotation

  /// The `RecordedBlock.timeNanoseconds` of the frames that are appended next.
  var arrival: Int64 = 0
  /// The linear gain at the end of the next block.
  var gain: Float
  /// The linear gain of the last frame; before the first frame, the gain that `init` received.
  private var currentGain: Float

  /// The least magnitude that counts as clipped: that of the largest positive 16-bit sample.
  private static let clippingLevel = 1 - Float(0x1p-15)
  private static let silenceFrames = 4096

  init(
    format: RecorderFormat, microphone: MicrophoneFormat, selection: [Int]?, gain: Float,
    sink: any RecordingSink, onBlock: ((RecordedBlock) -> Void)?, onGap: @escaping (Gap) -> Void
  ) {
    (self.format, self.microphone, self.selection) = (format, microphone, selection)
    (self.gain, currentGain) = (gain, gain)
    (self.sink, self.onBlock, self.onGap) = (sink, onBlock, onGap)
    encoder = MicrophoneEncoder(microphone, sampleRate: format.sampleRate)
    meter = ChannelMeter(channels: format.channelCount)
    annotation = Annotation(sampleRate: format.sampleRate)
  }

  /// The position that the next frame from the timeline will have in the recording, provided that
  /// the resampler is empty.
  var position: Int64 { frames + Int64(encoder.heldFrames) }
  var isFull: Bool { limit.map { frames >= $0 } ?? false }

  func takeLevels() -> ChannelLevels { meter.take() }
  func takeIntensity() -> FieldIntensity { intensity.take() }

  /// Prepares for frames of a source with this format. First writes the frames of the previous
  /// source that the resampler still contains.
  func open(channels: Int, sampleRate: Int) throws {
    try flushConverter()
    converter = SourceConverter(
      source: (channels, sampleRate), recording: (microphone.channelCount, format.sampleRate),
      selection: selection, single: microphone.single)
  }

  func append(_ samples: UnsafePointer<Float>, frames: Int) throws {
    guard let converter else { return }
    let block = try converter.process(samples, frames: frames, invalid: &invalidSamples)
    try encode(block)
  }

  func appendSilence(seconds: Double) throws {
    try flushConverter()
    silenceStart = silenceStart ?? position
    let exact = seconds * Double(format.sampleRate) + silenceRest
    var left = Int(exact)
    silenceRest = exact - Double(left)
    while left > 0 {
      let count = min(left, Self.silenceFrames)
      annotation.lostFrames += count
      try encode(PlanarBlock(channels: microphone.channelCount, frames: count))
      left -= count
    }
  }

  func note(_ cause: Gap.Cause, seconds: Double) {
    let start = silenceStart ?? position
    silenceStart = nil
    let rest = limit.map { Double(max(0, $0 - start)) / Double(format.sampleRate) } ?? seconds
    guard min(seconds, rest) > 0 else { return }
    onGap(Gap(cause: cause, position: start, seconds: min(seconds, rest)))
  }

  /// Writes the remaining frames and completes the sink, even if writing fails. Further calls do
  /// nothing.
  func finish() throws {
    guard !hasFinished else { return }
    hasFinished = true
    let rest = Result {
      try flushConverter()
      if let rest = encoder.finish() { try write(rest) }
    }
    try sink.finish()
    try rest.get()
  }

  func flush() throws { try sink.flush() }

  /// The duration of sound for which the sink still has space [s]; nil if it is unknown.
  var secondsLeft: Double? { sink.secondsLeft }

  private func flushConverter() throws {
    if let rest = converter?.flush() { try encode(rest) }
  }

  private func encode(_ block: PlanarBlock) throws {
    guard block.frames > 0 else { return }
    for channel in 0..<block.channels { countClipping(block[channel], block.frames) }
    try write(encoder.process(block))
  }

  private func write(_ block: PlanarBlock) throws {
    if let limit { block.truncate(to: Int(min(limit - frames, Int64(block.frames)))) }
    guard block.frames > 0 else { return }
    // The output of the encoder can exceed full scale although its input does not.
    if encoder.isConverting {
      for channel in 0..<block.channels { countClipping(block[channel], block.frames) }
    }
    applyGain(block)
    meter.add(block.planes, frames: block.frames)
    let measured =
      microphone.isSoundfield
      ? intensityMeter.measure(block.planes, frames: block.frames) : nil
    if let measured {
      intensity += measured
      annotation.intensity += measured
    }
    if let note = annotation.next(frames: block.frames) { sink.annotate(note) }
    for channel in 0..<block.channels {
      for i in 0..<block.frames { peak = max(peak, abs(block[channel][i])) }
    }
    try sink.append(block.planes, frames: block.frames)
    onBlock?(
      RecordedBlock(
        planes: block.planes, frames: block.frames, channelCount: block.channels,
        position: frames, intensity: measured, timeNanoseconds: arrival))
    frames += Int64(block.frames)
  }

  /// Multiplies the block by a gain that changes linearly from `currentGain` to `gain`. Counts the
  /// samples that clip because of the gain.
  private func applyGain(_ block: PlanarBlock) {
    guard gain != 1 || currentGain != 1 else { return }
    let step = (gain - currentGain) / Float(block.frames)
    for channel in 0..<block.channels {
      let plane = block[channel]
      for i in 0..<block.frames {
        let before = plane[i]
        plane[i] *= currentGain + step * Float(i + 1)
        if abs(plane[i]) >= 1, abs(before) < Self.clippingLevel { clippedSamples += 1 }
      }
    }
    currentGain = gain
  }

  private func countClipping(_ plane: UnsafePointer<Float>, _ count: Int) {
    var clipped = 0
    for i in 0..<count where abs(plane[i]) >= Self.clippingLevel { clipped += 1 }
    clippedSamples += clipped
  }
}
