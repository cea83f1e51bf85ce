// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Dispatch
import Glibc
import Playback
import TestSupport
import Testing

/// Changes of the decoder during playback.
@Suite struct RendererExchangeTests {
  private static let rate = 48_000.0
  private static let head = HRTFChoice(set: RigidSphereHead().hrtfSet(sampleRate: rate))
  /// The same head with its ears exchanged, which is the largest possible change.
  private static let other = {
    var set = head.set
    let taps = set.taps
    for direction in set.directions.indices {
      for tap in 0..<taps {
        let left = 2 * direction * taps + tap
        set.impulseResponses.swapAt(left, left + taps)
      }
    }
    return HRTFChoice(set: set)
  }()

  private static func filters(
    _ hrtf: HRTFChoice, _ order: Int, _ method: DecoderDesign.Method = .magnitudeLeastSquares
  ) throws -> BinauralFilters {
    var settings = RenderSettings()
    settings.method = method
    return try hrtf.filters(order: order, settings: settings, sampleRate: rate)
  }

  private static func tone(_ frames: Int) -> PlanarSignal {
    PlanarSignal(channelCount: 2, frames: frames) { channel, frame in
      channel == 0 ? 0.5 * Float(sin(2 * .pi * 1000 * Double(frame) / rate)) : 0
    }
  }

  /// A change to another head, order and design: no energy beyond 100 Hz from the tone.
  @Test(arguments: [64, 700])
  func decoderExchangeAddsNoSpectralEnergyToATone(block: Int) throws {
    let changes = [
      (30_000, try Self.filters(Self.other, 3)), (80_000, try Self.filters(Self.other, 7)),
      (130_000, try Self.filters(Self.head, 1, .leastSquares)),
    ]
    let first = try Self.filters(Self.head, 3)
    let renderer = Renderer(layout: .stereo, filters: first, busOrder: 3, blockFrames: block)
    var waiting = changes[...]
    let ears = render(Self.tone(190_000), with: renderer, sizes: [block], head: stillHead) { at in
      guard let next = waiting.first, at >= next.0 else { return }
      renderer.exchange(filters: next.1, busOrder: next.1.order)
      waiting.removeFirst()
    }
    #expect(!renderer.isExchanging)
    for ear in ears {
      for (at, _) in changes {
        #expect(spuriousDecibels(Array(ear[(at - 22_000)...].prefix(65_536))) < -80)
      }
    }
  }

  /// After the fade, the output equals that of a renderer with the new filters from the start.
  @Test func exchangedDecoderMatchesOneUsedFromTheStart() throws {
    let (old, new) = (noiseFilters(order: 3, taps: 300), noiseFilters(order: 3, taps: 700))
    let field = noise(channels: 16, frames: 12_000)
    let truth = Renderer(layout: ambiX(3), filters: new, busOrder: 3)
    let expected = render(field, with: truth, head: turningHead)
    let renderer = Renderer(layout: ambiX(3), filters: old, busOrder: 3)
    let ears = render(field, with: renderer, sizes: [100], head: turningHead) { at in
      if at == 5000 { renderer.exchange(filters: new, busOrder: 3) }
    }
    // 5000 frames, 700 to fill the filters, and 3200 of the fade at 16 kHz.
    let late = (ears.map { Array($0[9000...]) }, expected.map { Array($0[9000...]) })
    #expect(residualDecibels(late.0, late.1) < -120)
  }

  /// Of several exchanges before the first frame is rendered, the last one takes effect.
  @Test func lastOfSeveralExchangesTakesEffect() throws {
    let filters = (0..<5).map { _ in noiseFilters(order: 2) }
    let field = noise(channels: 9, frames: 9_000)
    let expected = render(
      field, with: Renderer(layout: ambiX(2), filters: filters[4], busOrder: 2),
      head: turningHead)
    let renderer = Renderer(layout: ambiX(2), filters: filters[0], busOrder: 2)
    for i in 1..<5 { renderer.exchange(filters: filters[i], busOrder: 2) }
    let ears = render(field, with: renderer, head: turningHead)
    let late = (ears.map { Array($0[5000...]) }, expected.map { Array($0[5000...]) })
    #expect(residualDecibels(late.0, late.1) < -120)
    #expect(!renderer.isExchanging)
  }

  /// An exchange that is requested while the previous one ends is in progress until it also ends.
  @Test func exchangeAtTheEndOfAnotherIsInProgress() throws {
    let filters = noiseFilters(order: 1)
    let renderer = Renderer(layout: ambiX(1), filters: filters, busOrder: 1)
    @Sendable func renderBlock() { _ = render(noise(channels: 4, frames: 64), with: renderer) }
    for _ in 0..<50 {
      renderer.exchange(filters: filters, busOrder: 1)
      var blocks = 0
      while renderer.isExchanging {
        renderBlock()
        blocks += 1
      }
      renderer.exchange(filters: filters, busOrder: 1)
      for _ in 1..<blocks { renderBlock() }
      #expect(renderer.isExchanging)
      DispatchQueue.concurrentPerform(iterations: 2) { part in
        if part == 0 { renderBlock() } else { renderer.exchange(filters: filters, busOrder: 1) }
      }
      #expect(renderer.isExchanging)
      for _ in 0..<blocks { renderBlock() }
      #expect(!renderer.isExchanging)
    }
  }
}

/// Returns the energy beyond 100 Hz from 1 kHz relative to the rest, in dB.
private func spuriousDecibels(_ samples: [Float]) -> Double {
  let signal = ComplexSignal(samples.count)
  for (i, sample) in samples.enumerated() {
    let angle = 2 * Double.pi * (Double(i) + 0.5) / Double(samples.count)
    // Nuttall's window with continuous first derivative: sidelobes below -93 dB.
    let window =
      0.355768 - 0.487396 * cos(angle) + 0.144232 * cos(2 * angle) - 0.012604 * cos(3 * angle)
    signal.re[i] = Double(sample) * window
  }
  signal.transform(sign: -1)
  var (near, far) = (0.0, 0.0)
  for k in 0..<(samples.count / 2) {
    let energy = signal.re[k] * signal.re[k] + signal.im[k] * signal.im[k]
    if abs(Double(k) * 48_000 / Double(samples.count) - 1000) > 100 {
      far += energy
    } else {
      near += energy
    }
  }
  return 10 * log10(far / near)
}
