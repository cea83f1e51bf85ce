// SPDX-License-Identifier: Apache-2.0

import Glibc
import Media

/// channels x frames.
typealias Planar = [[Float]]

/// White noise, quantised to `bits` bits. It is the same in every run and different in each
/// channel.
func noise(channels: Int, frames: Int, bits: Int = 24, peak: Float = 0.5) -> Planar {
  (0..<channels).map { channel in
    var state = UInt64(channel + 1) &* 0x9E37_79B9_7F4A_7C15
    return (0..<frames).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let unit = Float(Int32(truncatingIfNeeded: state >> 32)) * 0x1p-31
      let scale = Float(1 << (bits - 1))
      return (unit * peak * scale).rounded() / scale
    }
  }
}

func sine(_ hertz: Double, rate: Int, frames: Int, amplitude: Double = 0.5) -> [Float] {
  (0..<frames).map { Float(amplitude * sin(2 * .pi * hertz * Double($0) / Double(rate))) }
}

/// One tone per channel: 400 Hz plus 150 Hz times the channel index.
func tones(channels: Int, rate: Int, frames: Int) -> Planar {
  (0..<channels).map { sine(400 + 150 * Double($0), rate: rate, frames: frames, amplitude: 0.25) }
}

/// Returns the energy of a - b relative to that of b, in dB.
func residualDecibels(_ a: ArraySlice<Float>, _ b: ArraySlice<Float>) -> Double {
  var error = 0.0
  var energy = 0.0
  for (x, y) in zip(a, b) {
    error += (Double(x) - Double(y)) * (Double(x) - Double(y))
    energy += Double(y) * Double(y)
  }
  return 10 * log10(max(error, 1e-300) / max(energy, 1e-300))
}

/// Reads the remaining frames of `reader` in pieces of `step` frames.
func readAll(_ reader: AudioFileReader, step: Int = 1000) throws -> Planar {
  var result = Planar(repeating: [], count: reader.channels)
  while true {
    let piece = try read(reader, frames: step)
    for channel in 0..<reader.channels { result[channel] += piece[channel] }
    if piece[0].count < step { return result }
  }
}

func read(_ reader: AudioFileReader, frames: Int) throws -> Planar {
  let planes = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: reader.channels)
  let storage = UnsafeMutablePointer<Float>.allocate(capacity: reader.channels * frames)
  defer {
    planes.deallocate()
    storage.deallocate()
  }
  for channel in 0..<reader.channels {
    (planes + channel).initialize(to: storage + channel * frames)
  }
  let count = try reader.read(into: planes, frames: frames)
  return (0..<reader.channels).map {
    Array(UnsafeBufferPointer(start: storage + $0 * frames, count: count))
  }
}

func write(_ signal: Planar, with writer: WAVWriter) throws {
  let planes = UnsafeMutablePointer<UnsafePointer<Float>>.allocate(capacity: signal.count)
  let storage = UnsafeMutablePointer<Float>.allocate(capacity: signal.count * signal[0].count + 1)
  defer {
    planes.deallocate()
    storage.deallocate()
  }
  for (channel, plane) in signal.enumerated() {
    let start = storage + channel * plane.count
    start.initialize(from: plane, count: plane.count)
    (planes + channel).initialize(to: UnsafePointer(start))
  }
  try writer.write(planar: UnsafePointer(planes), frames: signal[0].count)
}
