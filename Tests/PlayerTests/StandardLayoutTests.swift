// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Geometry
import Glibc
import Media
import TestSupport
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

/// Checks that each channel of every layout sounds from its standard direction.
///
/// The layouts are those that FFmpeg names, and those with heights that it does not name.
@Suite struct StandardLayoutTests {
  /// Returns name and channels of the layouts that the installed `ffmpeg` lists, and of beds with
  /// heights.
  private static func layouts() throws -> [(name: String, channels: [String])] {
    let run = try ProgramRun.of("ffmpeg", ["-hide_banner", "-layouts"])
    let standard = run.output.split(separator: "\n")
      .drop { !$0.hasPrefix("Standard") }.dropFirst(2)
    let named = standard.compactMap { line -> (String, [String])? in
      let words = line.split(separator: " ")
      return words.count == 2
        ? (String(words[0]), words[1].split(separator: "+").map(String.init)) : nil
    }
    let bed = ["FL", "FR", "FC", "LFE", "BL", "BR"]
    let sides = ["SL", "SR"]
    let (topFront, topBack) = (["TFL", "TFR"], ["TBL", "TBR"])
    return named + [
      ("5.1.2", bed + topFront), ("5.1.4", bed + topFront + topBack),
      ("7.1.2", bed + sides + topFront), ("7.1.4", bed + sides + topFront + topBack),
      ("9.1.6", bed + sides + topFront + topBack + ["WL", "WR", "TSL", "TSR"]),
    ]
  }

  /// Returns the direction by ITU-R BS.775-4 and BS.2051-3, written independently of the product;
  /// nil for low-frequency effects. Channels in neither standard are between their neighbours.
  private static func truth(_ channel: String, in layout: [String]) -> Direction? {
    let places: [String: (Double, Double)] = [
      "FC": (0, 0), "BC": (180, 0), "TC": (0, 90), "TFC": (0, 45), "TBC": (180, 45),
      "BFC": (0, -30), "WL": (60, 0), "TFL": (45, 45), "TBL": (135, 45), "TSL": (90, 45),
      "BFL": (45, -30),
    ]
    if channel.hasPrefix("LFE") { return nil }
    if channel == "DL" || channel == "DR" { return Direction(azimuth: channel == "DL" ? 30 : -30) }
    if let place = places[channel] { return Direction(azimuth: place.0, elevation: place.1) }
    // Right mirrors left.
    if channel.contains("R") {
      let left = truth(channel.replacing("R", with: "L"), in: layout)
      return left.map { Direction(azimuth: -$0.azimuth, elevation: $0.elevation) }
    }
    let isSystemH = layout.contains("BFL")
    let isQuad = !layout.contains("FC") && !layout.contains("FLC")
    let hasBoth = layout.contains("SL") && layout.contains("BL")
    switch channel {
    case "FL": return Direction(azimuth: isSystemH ? 60 : 30)
    case "FLC": return Direction(azimuth: isSystemH ? 30 : 15)
    case "SL": return Direction(azimuth: hasBoth ? 90 : isQuad ? 135 : 110)
    case "BL": return Direction(azimuth: hasBoth ? 135 : isQuad ? 135 : 110)
    default: return nil
    }
  }

  private static let rate = 48_000.0
  private static let filters = Result {
    try DecoderDesign(method: .magnitudeLeastSquares, order: 5).filters(
      for: RigidSphereHead().hrtfSet(sampleRate: rate))
  }

  /// Returns the signals at both ears for an impulse on one channel.
  private func ears(
    _ layout: ChannelLayout, _ channel: Int, gains: [Double]? = nil, head: Quaternion = .identity
  ) throws -> [[Float]] {
    let renderer = Renderer(layout: layout, filters: try Self.filters.get(), busOrder: 5)
    let signal = PlanarSignal(channelCount: layout.channelCount, frames: 1024) { c, frame in
      guard frame == 64 else { return 0 }
      return gains.map { Float($0[c]) } ?? (c == channel ? 1 : 0)
    }
    let output = PlanarSignal(channelCount: 2, frames: 1024) { _, _ in 0 }
    let poses = renderer.gridPoints(forNext: 1024).map { _ in head }
    renderer.process(
      input: signal.channels, frames: 1024, poses: poses, left: output[0], right: output[1])
    return output.arrays
  }

  private func energy(_ x: [Float]) -> Double { x.reduce(0) { $0 + Double($1 * $1) } }

  /// Returns the lead of the left ear, in frames: the peak of the correlation below 1 kHz, where
  /// phase gives the delay.
  private func lead(_ ears: [[Float]]) -> Int {
    let low = ears.map { smoothed(smoothed($0.map(Double.init))) }
    func correlation(_ lag: Int) -> Double {
      (50..<low[0].count - 50).reduce(0) { $0 + low[0][$1] * low[1][$1 + lag] }
    }
    return (-45...45).max { correlation($0) < correlation($1) } ?? 0
  }

  /// Returns the running mean of 24 frames.
  private func smoothed(_ x: [Double]) -> [Double] {
    var sum = 0.0
    return x.indices.map { i in
      sum += x[i] - (i >= 24 ? x[i - 24] : 0)
      return sum / 24
    }
  }

  @Test func everyChannelComesFromItsStandardDirection() throws {
    let layouts = try Self.layouts()
    #expect(layouts.count >= 34)
    let sphere = ChannelLayout.ambisonics(order: 5, convention: .ambiX, headLocked: false)
    var heard: [Direction: [[Float]]] = [:]
    var count = 0
    for (name, channels) in layouts {
      // Newer FFmpeg versions name more layouts; the test of their own names covers these.
      guard channels.allSatisfy({ Self.truth($0, in: channels) != nil || $0.hasPrefix("LFE") })
      else { continue }
      let layout = try LayoutOption(name).resolve(.unknown(channels: channels.count))
      #expect(layout.channelCount == channels.count)
      for (index, channel) in channels.enumerated() where layout != .mono {
        let sound = try ears(layout, index)
        guard let place = Self.truth(channel, in: channels) else {
          #expect(sound[0] == sound[1])
          #expect(energy(sound[0]) > 0)
          let turned = try ears(layout, index, head: YawPitchRoll(yaw: 90).quaternion)
          #expect(turned == sound)
          continue
        }
        let wave =
          try heard[place]
          ?? ears(
            sphere, 0, gains: SphericalHarmonics.evaluate(order: 5, place.unitVector))
        heard[place] = wave
        let error = zip(sound.joined(), wave.joined()).map { Double(abs($0 - $1)) }.max() ?? 1
        #expect(error < 1e-5, "\(channel) of \(name)")
        let side = place.unitVector.y
        if abs(side) > 0.2 {
          #expect(lead(sound) * (side > 0 ? 1 : -1) > 3, "\(channel) of \(name)")
          #expect((energy(sound[0]) > energy(sound[1])) == (side > 0), "\(channel) of \(name)")
        } else {
          #expect(abs(lead(sound)) <= 1)
          #expect(abs(10 * log10(energy(sound[0]) / energy(sound[1]))) < 0.1)
        }
        count += 1
      }
    }
    print("\(count) channels of \(layouts.count) layouts")
    #expect(count > 180)
  }

  @Test func layoutsHaveReadableNames() throws {
    for (name, expected) in [
      ("mono", "mono"), ("stereo", "stereo"), ("5.1", "5.1"), ("7.1.4", "7.1.4"), ("quad", "4.0"),
      ("22.2", "13.2.9"), ("9.1.6", "9.1.6"), ("2.1", "2.1"),
    ] {
      let count = try Self.layouts().first { $0.name == name }?.channels.count ?? 0
      #expect(try LayoutOption(name).resolve(.unknown(channels: count)).name == expected)
    }
    let field = ChannelLayout.ambisonics(order: 2, convention: .ambiX, headLocked: true)
    #expect(field.name == "ambisonic, order 2 with stereo")
  }
}
