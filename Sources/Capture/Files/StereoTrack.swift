// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The stereo track of a movie: a first-order soundfield as two channels of AAC.
final class StereoTrack {
  /// The sample rates, in Hz, that both AAC (ISO 14496-3, table 1.18) and a recording can have.
  static let sampleRates: Set<Int> = [
    96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000,
  ]
  static let packetFrames = 1024
  /// The number of frames that the encoder adds before the sound.
  static let delay = 1024

  /// The bit rate, in bit/s.
  let bitRate: Int
  private let encoder: AudioEncoder
  /// The weights of W, Y and X in the left channel. In the right channel, Y is negated.
  private let weights: (w: Float, y: Float, x: Float)
  /// The samples of the left and right channels that do not yet fill a packet.
  private var left: [Float] = []
  private var right: [Float] = []

  /// Opens the AAC encoder, with a bit rate of 4 bits per frame but at most 192 kbit/s.
  ///
  /// - Throws: `AudioEncoder.Failure` if the encoder cannot be opened.
  init(_ format: RecordingFormat) throws(AudioEncoder.Failure) {
    bitRate = min(192_000, 4 * format.sampleRate)
    encoder = try AudioEncoder(.aac(bitRate: bitRate), channels: 2, sampleRate: format.sampleRate)
    switch format.stereo {
    case .wy: weights = (0.5, 0.5, 0)
    case .xy:
      let angle = 55 * Double.pi / 180
      weights = (0.5, Float(0.5 * sin(angle)), Float(0.5 * cos(angle)))
    }
  }

  /// The AudioSpecificConfig of the AAC stream.
  var header: [UInt8] { encoder.header }

  /// Adds frames of the soundfield (frames x channels). Returns the packets that are now complete.
  func encode(_ field: UnsafeBufferPointer<Float>) throws(AudioEncoder.Failure) -> [[UInt8]] {
    var index = 0
    while index + 3 < field.count {
      let middle = weights.w * field[index] + weights.x * field[index + 3]
      let side = weights.y * field[index + 1]
      left.append(middle + side)
      right.append(middle - side)
      index += 4
    }
    var packets: [[UInt8]] = []
    while left.count >= Self.packetFrames { packets += try encode(frames: Self.packetFrames) }
    return packets
  }

  /// Encodes the remaining frames and returns the last packets.
  func finish() throws(AudioEncoder.Failure) -> [[UInt8]] {
    let rest = left.isEmpty ? [] : try encode(frames: left.count)
    return rest + (try encoder.drain())
  }

  private func encode(frames: Int) throws(AudioEncoder.Failure) -> [[UInt8]] {
    let packets = try encoder.encode(frames: frames) { planes in
      for (plane, samples) in [left, right].enumerated() {
        let target = UnsafeMutableRawPointer(planes[plane]!).assumingMemoryBound(to: Float.self)
        for index in 0..<frames { target[index] = samples[index] }
      }
    }
    left.removeFirst(frames)
    right.removeFirst(frames)
    return packets
  }
}
