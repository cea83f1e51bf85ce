// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Geometry
import Glibc
import Playback
import TestSupport
import Testing

/// Loudspeakers in the soundfield, and sound that bypasses it.
@Suite struct RendererBedTests {
  /// Azimuths of ITU-R BS.775 and BS.2051 in channel order; nil for low-frequency effects.
  static let beds: [(speakers: [Speaker], azimuths: [Double?])] = [
    ([.frontCenter], [0]),
    ([.frontLeft, .frontRight], [30, -30]),
    (surround51, [30, -30, 0, nil, 110, -110]),
    (
      surround51.dropLast(2) + [.backLeft, .backRight, .sideLeft, .sideRight],
      [30, -30, 0, nil, 135, -135, 90, -90]
    ),
  ]

  @Test(arguments: beds.indices)
  func speakerChannelsRenderAsPlaneWaves(bed: Int) {
    let (speakers, azimuths) = Self.beds[bed]
    let (filters, sound) = (noiseFilters(order: 3), noise(channels: 1, frames: 200))
    for (channel, azimuth) in azimuths.enumerated() {
      guard let azimuth else { continue }
      let renderer = Renderer(
        layout: .speakers(speakers), filters: filters, busOrder: 3, blockFrames: 32)
      let ears = render(
        alone(sound, in: channel, of: speakers.count), with: renderer, head: turningHead)
      let direction = Direction(azimuth: azimuth).unitVector
      let truth = render(
        planeWave(sound, order: 3, from: direction),
        with: Renderer(layout: ambiX(3), filters: filters, busOrder: 1, blockFrames: 32),
        head: turningHead)
      #expect(residualDecibels(ears, truth) < -120, "\(speakers[channel])")
    }
  }

  @Test(arguments: [2, 3])
  func lfeIsEqualInBothEarsAndIndependentOfThePose(bed: Int) {
    let speakers = Self.beds[bed].speakers
    let sound = PlanarSignal(channelCount: 1, frames: 3000) { _, frame in
      0.1 * Float(sin(2 * .pi * 40 * Double(frame) / testRate))
    }
    let input = alone(sound, in: 3, of: speakers.count)
    let results = [stillHead, turningHead].map { head in
      let renderer = Renderer(
        layout: .speakers(speakers), filters: noiseFilters(order: 1), busOrder: 1)
      return render(input, with: renderer, head: head)
    }
    #expect(results[0] == results[1])
    #expect(results[0][0] == results[0][1])
    // +10 dB relative to a main channel in band.
    let level = 20 * log10(peak(results[0][0].suffix(800)) / 0.1)
    #expect(abs(level - 10) < 0.3)
  }

  @Test func lfeRejectsHighFrequencies() {
    let sound = PlanarSignal(channelCount: 1, frames: 3000) { _, frame in
      Float(sin(2 * .pi * 1200 * Double(frame) / testRate))
    }
    let renderer = Renderer(
      layout: .speakers(surround51), filters: noiseFilters(order: 1), busOrder: 1)
    let ears = render(alone(sound, in: 3, of: 6), with: renderer)
    // At ten times the corner frequency: 80 dB below, plus 10 dB.
    #expect(20 * log10(peak(ears[0].suffix(800))) < -60)
  }

  @Test(arguments: [16_000, 44_100, 48_000] as [Double])
  func headLockedStereoIsOnlyDelayed(sampleRate: Double) {
    var filters = noiseFilters(order: 1)
    filters = BinauralFilters(
      order: 1, sampleRate: sampleRate, left: filters.left, right: filters.right)
    let sound = noise(channels: 2, frames: 400)
    let input = PlanarSignal(channelCount: 6, frames: 400) { channel, frame in
      channel < 4 ? 0 : sound[channel - 4][frame]
    }
    let renderer = Renderer(
      layout: ambiX(1, headLocked: true), filters: filters, busOrder: 1, blockFrames: 64)
    let ears = render(input, with: renderer, sizes: [77], head: turningHead)
    let delay = Int((BinauralFilters.delaySeconds * sampleRate).rounded())
    let silence = [Float](repeating: 0, count: delay)
    #expect(ears == sound.arrays.map { silence + $0.dropLast(delay) })
  }

  private func alone(_ sound: PlanarSignal, in channel: Int, of count: Int) -> PlanarSignal {
    PlanarSignal(channelCount: count, frames: sound.frames) { $0 == channel ? sound[0][$1] : 0 }
  }
}
