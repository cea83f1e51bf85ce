// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Glibc
import Playback
import SignalProcessing
import TestSupport
import Testing

@Suite struct RendererFinishTests {
  private static let rampFrames = Int(testRate * 0.05)

  @Test(arguments: RendererFaultTests.layouts, Renderer.Mode.allCases)
  func linearFinishScalesExactlyWithTheInput(
    layout: ChannelLayout, mode: Renderer.Mode
  ) {
    let filters = noiseFilters(order: 1, taps: 100)
    let field = noise(channels: 6, frames: 1500, amplitude: 50)
    let twice = PlanarSignal(channelCount: 6, frames: 1500) { 2 * field[$0][$1] }
    let results = [field, twice].map { input in
      render(
        input, with: Renderer(layout: layout, filters: filters, busOrder: 1, mode: mode),
        head: turningHead)
    }
    #expect(results[0].map { $0.map { 2 * $0 } } == results[1])
    #expect(peak(results[0][0]) > 50, "a limiter would have been at work")
  }

  @Test func safeFinishFadesInOver50MillisecondsThenEqualsLinear() {
    let (filters, field) = (
      noiseFilters(order: 1), noise(channels: 4, frames: 4000, amplitude: 0.05)
    )
    let linear = render(field, with: Renderer(layout: ambiX(1), filters: filters, busOrder: 1))
    let renderer = Renderer(layout: ambiX(1), filters: filters, busOrder: 1, finish: .safe)
    let latency = renderer.latencyFrames
    let ears = render(field, with: renderer, sizes: [400])
    #expect(latency > 0)
    for (ear, truth) in zip(ears, linear) {
      #expect(peak(ear[..<latency]) == 0)
      for frame in 0..<(4000 - latency) {
        #expect(abs(ear[latency + frame] - rise(frame) * truth[frame]) < 1e-6)
      }
    }
  }

  /// Noise, square waves and jumps, all far too loud.
  static let loud: [@Sendable (_ channel: Int, _ frame: Int) -> Float] = [
    { _, _ in Float.random(in: -4...4) },
    { channel, frame in sin(Double((channel + 3) * frame) * 0.11) < 0 ? -4 : 4 },
    { _, frame in
      frame % 700 == 650 ? 100 : (frame < 800 ? 0.01 : 1) * Float.random(in: -1...1)
    },
  ]

  @Test(arguments: loud.indices, RendererFaultTests.layouts)
  func safeFinishKeepsTruePeakBelowTheCeiling(signal: Int, layout: ChannelLayout) {
    let raw = PlanarSignal(channelCount: 6, frames: 1600) { Self.loud[signal]($0, $1) }
    // Remove energy at half the sample rate, where no meter of finite length sees peaks between
    // samples.
    let smooth = PlanarSignal(channelCount: 6, frames: 1600) { channel, frame in
      let x = raw[channel] + frame
      return frame < 2 ? 0 : (x[0] + 2 * x[-1] + x[-2]) / 4
    }
    let (levels, gain) = limitedLevels(of: smooth, layout: layout)
    #expect(levels.allSatisfy { $0 <= -1 }, "\(levels) dBTP")
    #expect(levels.max()! > -3, "\(levels) dBTP: too quiet to prove anything")
    #expect(gain < 0.5)
  }

  /// Meters may read noise that is white up to half the sample rate too low. Those of BS.1770 have
  /// a tolerance of 0.5 dB.
  @Test func whiteNoiseStaysWithinTheMeterToleranceOfTheCeiling() {
    let noise = PlanarSignal(channelCount: 6, frames: 1600) { Self.loud[0]($0, $1) }
    let (levels, _) = limitedLevels(of: noise, layout: ambiX(1, headLocked: true))
    #expect(levels.allSatisfy { $0 <= -0.5 }, "\(levels) dBTP")
  }

  /// Returns the true peaks in dBTP, and the factor by which the limiter reduced the loudest
  /// sample.
  private func limitedLevels(
    of signal: PlanarSignal, layout: ChannelLayout
  ) -> (levels: [Double], gain: Float) {
    let padded = PlanarSignal(channelCount: 6, frames: signal.frames + 300) {
      $1 < signal.frames ? signal[$0][$1] : 0
    }
    let filters = noiseFilters(order: 1)
    let linear = render(
      padded, with: Renderer(layout: layout, filters: filters, busOrder: 1), head: turningHead)
    let renderer = Renderer(layout: layout, filters: filters, busOrder: 1, finish: .safe)
    let ears = render(padded, with: renderer, head: turningHead)
    let meter = renderer.levels()
    #expect((0..<2).allSatisfy { meter.peak[$0] == peak(ears[$0]) })
    return (ears.map { TruePeakMeter.decibels($0) }, peak(ears.joined()) / peak(linear.joined()))
  }

  @Test func gainChangeIsSmoothAndEndsExact() {
    let field = PlanarSignal(channelCount: 2, frames: 4000) { _, _ in 0.125 }
    let renderer = Renderer(
      layout: .stereo, filters: noiseFilters(order: 1), busOrder: 1, mode: .plain)
    let ears = render(
      field, with: renderer, sizes: [500],
      before: {
        if $0 == 1500 { renderer.gain = 4 }
      })
    #expect(ears[0][1499] == 0.125)
    #expect(ears[0][1500 + Self.rampFrames] == 0.5)
    #expect(largestStep(Array(ears[0][1000...])) < 0.375 * .pi / 2 / Float(Self.rampFrames) * 1.01)
  }

  private func rise(_ frame: Int) -> Float {
    frame + 1 >= Self.rampFrames
      ? 1 : Float(0.5 - 0.5 * cos(.pi * Double(frame + 1) / Double(Self.rampFrames)))
  }
}
