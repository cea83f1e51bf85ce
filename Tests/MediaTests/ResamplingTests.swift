// SPDX-License-Identifier: Apache-2.0

import Glibc
import Media
import Testing

@Suite struct ResamplingTests {
  @Test(arguments: [8000, 11025, 22050, 44100, 48000, 88200, 96000, 192_000, 384_000])
  func everyRateIsReadUnchangedAndAt48Kilohertz(rate: Int) throws {
    let scratch = Scratch()
    let signal = [sine(997, rate: rate, frames: rate / 4 + 17)]
    let path = scratch.write(RawWAV(signal: signal, rate: rate).bytes, to: "a.wav")
    let own = try AudioFileReader(path: path)
    #expect(own.sampleRate == rate)
    #expect(try readAll(own, step: 8192) == signal)
    let reader = try AudioFileReader(path: path, sampleRate: 48000)
    let resampled = try readAll(reader)
    let expected = (signal[0].count * 48000 + rate - 1) / rate
    #expect(resampled[0].count == expected && reader.duration == expected)
    let ideal = sine(997, rate: 48000, frames: expected)
    let residual = residualDecibels(
      resampled[0].dropFirst(2000).dropLast(2000), ideal.dropFirst(2000).dropLast(2000))
    #expect(residual < -110, "\(residual) dB")
  }

  @Test(arguments: [
    (44100, 48000), (48000, 44100), (44100, 96000), (48000, 384_000), (384_000, 8000),
    (47999, 48000), (44100, 44101), (8000, 11025),
  ])
  func resampledLengthsAreExact(from: Int, to: Int) throws {
    let scratch = Scratch()
    for frames in [0, 1, 2, 100, 4799, 10007] {
      let signal = noise(channels: 1, frames: frames)
      let path = scratch.write(RawWAV(signal: signal, rate: from).bytes, to: "a.wav")
      let resampled = try readAll(AudioFileReader(path: path, sampleRate: to))
      #expect(resampled[0].count == (frames * to + from - 1) / from)
    }
  }

  /// Tones up to 0.9 of the lower Nyquist frequency keep their level, and those from 1.02 on
  /// vanish.
  @Test func passbandIsFlatAndAliasesAreSuppressed() throws {
    let scratch = Scratch()
    for (from, to) in [(44100, 48000), (96000, 48000), (48000, 44100), (47999, 44100)] {
      let nyquist = Double(min(from, to)) / 2
      for share in [0.01, 0.5, 0.8, 0.9] {
        let level = try toneLevel(scratch, nyquist * share, from, to)
        #expect(abs(level) < 0.01, "\(from) to \(to), \(nyquist * share) Hz: \(level) dB")
      }
      for share in [1.02, 1.1, 1.5] where nyquist * share < Double(from) / 2 {
        let level = try toneLevel(scratch, nyquist * share, from, to)
        #expect(level < -100, "\(from) to \(to), \(nyquist * share) Hz: \(level) dB")
      }
    }
  }

  private func toneLevel(
    _ scratch: Scratch, _ hertz: Double, _ from: Int, _ to: Int
  ) throws -> Double {
    let signal = [sine(hertz, rate: from, frames: from / 5)]
    let path = scratch.write(RawWAV(signal: signal, rate: from).bytes, to: "tone.wav")
    let resampled = try readAll(AudioFileReader(path: path, sampleRate: to))[0]
    let middle = resampled.dropFirst(to / 20).dropLast(to / 20)
    let energy = middle.reduce(0.0) { $0 + Double($1) * Double($1) }
    return 10 * log10(max(1e-30, energy / Double(middle.count) / 0.125))
  }

  /// The signal counts as zero before and after, so an impulse near an edge is not mirrored there.
  @Test func impulsesKeepTheirTimeAndAreNotMirroredAtTheEdges() throws {
    let scratch = Scratch()
    var signal = [Float](repeating: 0, count: 4410)
    for frame in [0, 1470, 4407] { signal[frame] = 1 }
    let path = scratch.write(RawWAV(signal: [signal], rate: 44100).bytes, to: "a.wav")
    let resampled = try readAll(AudioFileReader(path: path, sampleRate: 48000))[0]
    let middle = resampled[1600]
    #expect(abs(resampled[0] - middle) < 1e-4)
    for offset in 1..<150 {
      #expect(abs(resampled[offset] - resampled[1600 + offset]) < 1e-4)
      #expect(abs(resampled[1600 - offset] - resampled[1600 + offset]) < 1e-4)
    }
    #expect(resampled[0...200].max() == resampled[0])
  }

  @Test func channelsStaySeparateForAnyReadSize() throws {
    let scratch = Scratch()
    let signal = tones(channels: 66, rate: 44100, frames: 8000)
    let path = scratch.write(RawWAV(signal: signal, rate: 44100).bytes, to: "a.wav")
    let whole = try readAll(AudioFileReader(path: path, sampleRate: 48000), step: 10000)
    let pieces = try readAll(AudioFileReader(path: path, sampleRate: 48000), step: 37)
    #expect(whole == pieces)
    for channel in 0..<66 {
      let ideal = sine(
        400 + 150 * Double(channel), rate: 48000, frames: whole[0].count, amplitude: 0.25)
      let residual = residualDecibels(
        whole[channel].dropFirst(1000).dropLast(1000), ideal.dropFirst(1000).dropLast(1000))
      #expect(residual < -110, "channel \(channel): \(residual) dB")
    }
  }

  @Test(arguments: [7999, 384_001, 0, -1])
  func unsupportedOutputRatesAreRefused(rate: Int) throws {
    let scratch = Scratch()
    let path = scratch.write(RawWAV(signal: [[0]]).bytes, to: "a.wav")
    #expect(throws: MediaError.outputRate(rate)) {
      try AudioFileReader(path: path, sampleRate: rate)
    }
  }
}
