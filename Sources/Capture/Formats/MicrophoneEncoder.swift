// SPDX-License-Identifier: Apache-2.0

private import Ambisonics

/// Converts the channels of a microphone to those of the recording.
///
/// The filters for an A-format microphone need input that follows the frame to be converted. The
/// encoder therefore holds back the last frames (`TetrahedralFilter.delay`) until it receives more
/// input or `finish` is called. Each frame has the same position in the output as in the input.
final class MicrophoneEncoder {
  private enum Method {
    case copy
    /// For each output channel, the input channel and the gain.
    case pick([(channel: Int, gain: Float)])
    case tetrahedral(TetrahedralFilter)
  }

  private let method: Method

  init(_ format: MicrophoneFormat, sampleRate: Int) {
    switch format {
    case .mono, .stereo, .ambiX, .plain: method = .copy
    case .fuMa:
      var picks = [(channel: Int, gain: Float)](repeating: (0, 0), count: 4)
      for (index, target) in AmbisonicConvention.fuMa.conversion(order: 1).enumerated() {
        picks[target.channel] = (index, Float(target.gain))
      }
      method = .pick(picks)
    case .aFormat(let microphone):
      method = .tetrahedral(TetrahedralFilter(microphone, sampleRate: sampleRate))
    }
  }

  var isConverting: Bool {
    if case .copy = method { false } else { true }
  }

  /// The number of frames that the encoder holds back now.
  var heldFrames: Int {
    if case .tetrahedral(let filter) = method { filter.heldFrames } else { 0 }
  }

  /// Converts a block. The first results have fewer frames than their blocks if the encoder holds
  /// frames back.
  func process(_ planes: PlanarBlock) -> PlanarBlock {
    switch method {
    case .copy: return planes
    case .pick(let picks):
      let result = PlanarBlock(channels: picks.count, frames: planes.frames)
      for (channel, pick) in picks.enumerated() {
        for i in 0..<planes.frames { result[channel][i] = planes[pick.channel][i] * pick.gain }
      }
      return result
    case .tetrahedral(let filter): return filter.process(planes)
    }
  }

  /// Returns the frames that were held back; nil if the format needs no filters. Call this last.
  func finish() -> PlanarBlock? {
    guard case .tetrahedral(let filter) = method else { return nil }
    return filter.process(PlanarBlock(channels: 4, frames: filter.delay))
  }
}

/// A block of samples, stored as channels x frames.
final class PlanarBlock {
  let channels: Int
  private(set) var frames: Int
  let planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
  private let memory: UnsafeMutablePointer<Float>

  init(channels: Int, frames: Int) {
    (self.channels, self.frames) = (channels, frames)
    memory = .allocate(capacity: max(1, channels * frames))
    memory.initialize(repeating: 0, count: channels * frames)
    planes = .allocate(capacity: channels)
    for channel in 0..<channels {
      (planes + channel).initialize(to: memory + channel * frames)
    }
  }

  deinit {
    memory.deallocate()
    planes.deallocate()
  }

  subscript(channel: Int) -> UnsafeMutablePointer<Float> { planes[channel] }

  /// Drops frames at the end so that at most `count` are left.
  func truncate(to count: Int) { frames = min(frames, max(0, count)) }

  /// Drops the first `count` frames; all frames if there are fewer.
  func dropFirst(_ count: Int) {
    let count = min(count, frames)
    for channel in 0..<channels { planes[channel] += count }
    frames -= count
  }
}

/// The matrix and the equaliser of a tetrahedral microphone.
final class TetrahedralFilter {
  let delay: Int
  private let matrix: [[Float]]
  private let filters: [[Float]]
  /// The latest input samples of each filter, which are needed again for the next block.
  private var history: [[Float]]
  /// The number of output frames that are still to be dropped because they precede the first input
  /// frame.
  private var toDrop: Int
  /// The number of input frames whose output has not been returned yet.
  var heldFrames: Int { delay - toDrop }

  init(_ microphone: TetrahedralMicrophone, sampleRate: Int) {
    let equalizer = TetrahedralEqualizer(microphone, sampleRate: Double(sampleRate))
    matrix = Self.matrix(microphone)
    let direct = equalizer.directional
    filters = [equalizer.omnidirectional, direct, direct, direct]
    delay = equalizer.omnidirectional.count / 2
    history = Array(repeating: Array(repeating: 0, count: 2 * delay), count: 4)
    toDrop = delay
  }

  /// Returns the gains from the capsules (columns) to W, Y, Z and X (rows).
  ///
  /// For coincident cardioids with gains of 1, W is 1/2 times the sum of the capsules' signals. X,
  /// Y and Z are sqrt(3)/2 times sums in which two of the signals are negated (Gerzon, 1975).
  static func matrix(_ microphone: TetrahedralMicrophone) -> [[Float]] {
    let a = microphone.omnidirectionalPart
    let rows: [(Capsule) -> Double] = [
      { _ in 1 / (4 * a) },
      { 0.75 / (1 - a) * $0.direction.y },
      { 0.75 / (1 - a) * $0.direction.z },
      { 0.75 / (1 - a) * $0.direction.x },
    ]
    return rows.map { row in
      zip(microphone.capsules, microphone.gains).map { Float(row($0) * $1) }
    }
  }

  func process(_ planes: PlanarBlock) -> PlanarBlock {
    let result = PlanarBlock(channels: 4, frames: planes.frames)
    let frames = planes.frames
    for channel in 0..<4 {
      var input = history[channel]
      input.reserveCapacity(input.count + frames)
      let row = matrix[channel]
      for i in 0..<frames {
        input.append(
          row[0] * planes[0][i] + row[1] * planes[1][i] + row[2] * planes[2][i]
            + row[3] * planes[3][i])
      }
      convolve(input, with: filters[channel], into: result[channel], frames)
      history[channel] = Array(input.suffix(2 * delay))
    }
    let early = min(toDrop, frames)
    toDrop -= early
    result.dropFirst(early)
    return result
  }

  /// Convolves tap by tap, so that the compiler can vectorise the loop over the frames.
  private func convolve(
    _ input: [Float], with filter: [Float], into output: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    input.withUnsafeBufferPointer { input in
      filter.withUnsafeBufferPointer { filter in
        let last = filter.count - 1
        for tap in 0...last {
          let gain = filter[last - tap]
          for i in 0..<frames { output[i] += gain * input[i + tap] }
        }
      }
    }
  }
}
