// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Foundation
import SignalProcessing
import Surround
import TestSupport
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

/// A stereo pair with a common and an unrelated part, readable in pieces of any size.
private final class PairSource: SoundSource {
  let layout = ChannelLayout.stereo
  let sampleRate = 16_000
  var duration: Int? { frames }
  let title: String? = nil
  let warnings: [String] = []
  let frames: Int
  private let piece: Int
  private var next = 0

  init(frames: Int, piece: Int = .max) { (self.frames, self.piece) = (frames, piece) }

  static func value(_ channel: Int, _ frame: Int) -> Float {
    let t = Double(frame) / 16_000
    let voice = sin(2 * .pi * 220 * t) * (1 + 0.5 * sin(2 * .pi * 3 * t))
    // Noise that is a function of the frame.
    var random = SeededGenerator(UInt64(frame) &* 2 &+ UInt64(channel))
    let noise = Double(random.next() >> 11) * 0x1p-52 - 1
    return Float(0.2 * voice + 0.1 * noise)
  }

  func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames count: Int
  ) throws(PlaybackError) -> Int {
    let got = min(count, piece, frames - next)
    for c in 0..<2 { for i in 0..<got { planes[c][i] = Self.value(c, next + i) } }
    next += got
    return got
  }

  func seek(toFrame frame: Int) throws(PlaybackError) { next = max(0, min(frame, frames)) }
}

@Suite struct UpmixedSourceTests {
  private func upmixed(frames: Int, piece: Int = .max) throws -> any SoundSource {
    try prepared(PairSource(frames: frames, piece: piece), settings: RenderSettings())
  }

  private func read(_ source: any SoundSource, _ count: Int, sizes: [Int]) throws -> [[Float]] {
    let scratch = PlanarScratch(channels: 6, frames: 5000)
    var sound = [[Float]](repeating: [], count: 6)
    var turn = 0
    while sound[0].count < count {
      let size = min(sizes[turn % sizes.count], count - sound[0].count)
      let got = try source.read(into: scratch.planes, frames: size)
      if got == 0 { break }
      for c in 0..<6 { sound[c] += UnsafeBufferPointer(start: scratch.planes[c], count: got) }
      turn += 1
    }
    return sound
  }

  @Test(arguments: [0, 1, 2, 169, 170, 171, 5000, 16_000])
  func upmixHasTheSourceLengthAndFoldsDownToIt(frames: Int) throws {
    let source = try upmixed(frames: frames)
    #expect(source.layout == Upmixer.layout)
    #expect(source.duration == frames)
    let sound = try read(source, .max, sizes: [256])
    #expect(sound[0].count == frames)
    let half = Float(0.5.squareRoot())
    for i in 0..<frames {
      for c in 0..<2 {
        let folded = sound[c][i] + half * (sound[2][i] + sound[4 + c][i])
        #expect(abs(folded - PairSource.value(c, i)) < 1e-6)
      }
    }
  }

  @Test func outputIsIndependentOfTheReadSize() throws {
    let whole = try read(upmixed(frames: 20_000), .max, sizes: [4096])
    #expect(try read(upmixed(frames: 20_000), .max, sizes: [1, 7, 100, 1024, 3]) == whole)
    #expect(try read(upmixed(frames: 20_000, piece: 13), .max, sizes: [256]) == whole)
  }

  @Test(arguments: [0, 1, 5000, 23_999, 24_001, 40_000, 63_990])
  func seekEqualsContinuousReading(frame: Int) throws {
    let frames = 64_000
    let whole = try read(upmixed(frames: frames), .max, sizes: [1024])
    let source = try upmixed(frames: frames)
    _ = try read(source, 3000, sizes: [256])
    try source.seek(toFrame: frame)
    let rest = try read(source, .max, sizes: [256])
    #expect(rest[0].count == frames - frame)
    for c in 0..<6 {
      for (i, x) in rest[c].enumerated() { #expect(abs(x - whole[c][frame + i]) < 2e-6) }
    }
  }

  @Test func onlySpatialStereoIsUpmixed() throws {
    var settings = RenderSettings()
    for (spatialization, upmix, expected) in [
      (Spatialization.all, Upmix.on, Upmixer.layout), (.monoAndStereo, .lowLatency, Upmixer.layout),
      (.multichannel, .on, .stereo), (.off, .on, .stereo), (.all, .off, .stereo),
    ] {
      (settings.spatialization, settings.upmix) = (spatialization, upmix)
      let source = try prepared(PairSource(frames: 10), settings: settings)
      #expect(source.layout == expected)
    }
  }
}
