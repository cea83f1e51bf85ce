// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Glibc
import TestSupport
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

@Suite struct ConstantBusTests {
  private static let surround = ChannelLayout.speakers([
    .frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight,
  ])
  private static let fade = 960

  /// Returns noise for parts of the given numbers of channels and frames.
  private func noise(
    _ sizes: (channels: Int, frames: Int)..., name: String = #function
  ) -> [[[Float]]] {
    var random = SeededGenerator.forTest(#fileID, name)
    return sizes.map { size in
      (0..<size.channels).map { _ in
        (0..<size.frames).map { _ in Float.random(in: -0.5...0.5, using: &random) }
      }
    }
  }

  private func tone(_ hertz: Double, _ frames: Range<Int>) -> [Float] {
    frames.map { Float(0.25 * sin(2 * .pi * hertz * Double($0) / 48_000)) }
  }

  /// Plays 5.1, an advert in stereo, and 5.1 again.
  @Test func everyFrameKeepsItsPositionAndLayout() throws {
    let lengths = [20_011, 7_001, 15_013]
    let parts = noise((6, lengths[0]), (2, lengths[1]), (6, lengths[2]))
    let bus = try ConstantBusSource(
      SegmentSource([
        .init(layout: Self.surround, sound: parts[0]), .init(layout: .stereo, sound: parts[1]),
        .init(layout: Self.surround, sound: parts[2]),
      ]))
    #expect(bus.layout == Self.surround)
    let heard = try readAll(bus)
    #expect(heard[0].count == lengths.reduce(0, +))
    var start = 0
    for (index, part) in parts.enumerated() {
      let skipped = index == 0 ? 0 : Self.fade
      for channel in 0..<6 {
        let expected =
          channel < part.count ? part[channel] : [Float](repeating: 0, count: lengths[index])
        let found = heard[channel][start..<start + lengths[index]]
        #expect(found.dropFirst(skipped).elementsEqual(expected.dropFirst(skipped)))
      }
      start += lengths[index]
    }
    #expect(bus.contentLayout(atFrame: lengths[0] - 1) == Self.surround)
    #expect(bus.contentLayout(atFrame: lengths[0]) == .stereo)
    #expect(bus.contentLayout(atFrame: lengths[0] + lengths[1] - 1) == .stereo)
    #expect(bus.contentLayout(atFrame: lengths[0] + lengths[1]) == Self.surround)
  }

  /// Continues a programme in fewer channels, so that the surrounds end; neither change may click.
  @Test func layoutChangesDoNotClick() throws {
    let (a, b, c) = (0..<30_000, 30_000..<60_007, 60_007..<90_000)
    func full(_ frames: Range<Int>) -> [[Float]] {
      let silence = [Float](repeating: 0, count: frames.count)
      return [
        tone(1000, frames), tone(440, frames), silence, silence, tone(1000, frames), silence,
      ]
    }
    let bus = try ConstantBusSource(
      SegmentSource([
        .init(layout: Self.surround, sound: full(a)),
        .init(layout: .stereo, sound: [tone(1000, b), tone(440, b)]),
        .init(layout: Self.surround, sound: full(c)),
      ]))
    let heard = try readAll(bus)
    // Channels that continue must show no trace of the changes.
    for (channel, hertz) in [(0, 1000.0), (1, 440)] {
      let error = zip(heard[channel], tone(hertz, 0..<90_000)).map { abs($0 - $1) }.max() ?? 1
      print(
        "tone of \(hertz) Hz through two changes: off by at most", 20 * log10(error / 0.25), "dB")
      #expect(error < 0.25e-3)
    }
    // A channel that ends and begins again must stay a tone.
    var worst = -200.0
    for boundary in [30_000, 60_007] {
      for start in stride(from: boundary - 2400, to: boundary + 2400, by: 240) {
        worst = max(worst, spurious(heard[4][start..<start + 2400], beside: 1000))
      }
    }
    print("a surround ends and begins: beyond 500 Hz of its tone \(worst) dB")
    #expect(worst < -60)
  }

  /// Returns the energy further than 500 Hz from a tone, relative to the full tone, in dB.
  private func spurious(_ samples: ArraySlice<Float>, beside hertz: Double) -> Double {
    let count = samples.count
    let windowed = samples.enumerated().map { index, sample -> Double in
      let angle = 2 * Double.pi * Double(index) / Double(count)
      return Double(sample)
        * (0.35875 - 0.48829 * cos(angle) + 0.14128 * cos(2 * angle) - 0.01168 * cos(3 * angle))
    }
    let total = windowed.reduce(0) { $0 + $1 * $1 }
    let center = Int((hertz * Double(count) / 48_000).rounded())
    let near = (center - 25...center + 25).reduce(0.0) { sum, bin in
      let step = 2 * Double.pi * Double(bin) / Double(count)
      var (real, imaginary) = (0.0, 0.0)
      for (index, value) in windowed.enumerated() {
        real += value * cos(step * Double(index))
        imaginary += value * sin(step * Double(index))
      }
      return sum + 2 * (real * real + imaginary * imaginary) / Double(count)
    }
    // The energy of a full tone in this window.
    let full = 0.25 * 0.25 / 2 * 0.258 * Double(count)
    return 10 * log10(max(1e-20, (total - near) / full))
  }

  @Test func seekIsFrameExact() throws {
    let parts = noise((6, 9000), (2, 5000), (1, 4000), (6, 9000))
    let segments = zip([Self.surround, .stereo, .mono, Self.surround], parts).map {
      SegmentSource.Segment(layout: $0, sound: $1)
    }
    let whole = try readAll(ConstantBusSource(SegmentSource(segments)))
    for frame in [0, 4000, 9000, 12_000, 15_000, 20_000, 26_999] {
      let bus = try ConstantBusSource(SegmentSource(segments))
      _ = try readAll(bus)
      try bus.seek(toFrame: frame)
      let rest = try readAll(bus)
      #expect(rest[0].count == whole[0].count - frame)
      // If the seek target is within the fade of a change, that fade starts again.
      for boundary in [9000, 14_000, 18_000] where frame <= boundary {
        let next = boundary + Self.fade..<boundary + 3000
        for c in 0..<6 { #expect(rest[c][next.shifted(-frame)] == whole[c][next]) }
      }
      #expect(bus.contentLayout(atFrame: frame) == segmentLayout(frame))
    }
  }

  private func segmentLayout(_ frame: Int) -> ChannelLayout {
    frame < 9000 ? Self.surround : frame < 14_000 ? .stereo : frame < 18_000 ? .mono : Self.surround
  }

  /// A run can be converted to more channels before it enters the bus.
  @Test func runsArePreparedBeforeTheBus() throws {
    final class Doubled: SoundSource {
      let layout = ChannelLayout.speakers([.frontLeft, .frontRight, .backLeft, .backRight])
      let source: any SoundSource
      init(_ source: any SoundSource) { self.source = source }
      var sampleRate: Int { source.sampleRate }
      var duration: Int? { nil }
      var title: String? { nil }
      var warnings: [String] { [] }
      func read(
        into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
      ) throws(PlaybackError) -> Int {
        let count = try source.read(into: planes, frames: frames)
        for i in 0..<count { (planes[2][i], planes[3][i]) = (planes[0][i], planes[1][i]) }
        return count
      }
      func seek(toFrame frame: Int) throws(PlaybackError) { try source.seek(toFrame: frame) }
    }
    let parts = noise((6, 6000), (2, 5000))
    let bus = try ConstantBusSource(
      SegmentSource(
        [.init(layout: Self.surround, sound: parts[0]), .init(layout: .stereo, sound: parts[1])],
        expecting: [.stereo])
    ) { $0.layout == .stereo ? Doubled($0) : $0 }
    // The backs of the quad are the surrounds of the bus: a single pair has either name.
    #expect(bus.layout == Self.surround)
    let heard = try readAll(bus)
    let second = 6000 + Self.fade..<11_000
    #expect(heard[0][second].elementsEqual(parts[1][0][Self.fade...]))
    #expect(heard[4][second].contains { abs($0) > 0.1 })
    #expect(bus.contentLayout(atFrame: 7000) == .stereo)
  }

  @Test func unknownLayoutIsSilentAndCausesAWarning() throws {
    let bus = try ConstantBusSource(
      SegmentSource([
        .init(layout: .stereo, sound: noise((2, 3000))[0]),
        .init(layout: .unknown(channels: 3), sound: noise((3, 3000))[0]),
      ]))
    let heard = try readAll(bus)
    #expect(heard[0].count == 6000)
    #expect(heard[0][(3000 + Self.fade)...].allSatisfy { $0 == 0 })
    #expect(bus.warnings.count == 1)
  }
}

extension Range<Int> {
  fileprivate func shifted(_ by: Int) -> Range<Int> { lowerBound + by..<upperBound + by }
}
