// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Foundation
import Rendering
import SignalProcessing
import Testing

@testable import AudioMix
@testable import SoundSources

/// A soundfield in memory: noise, with a talker-like part in front.
private final class FieldSource: SoundSource {
  let layout: ChannelLayout
  let sampleRate = 48000
  let duration: Int?
  let title: String? = nil
  let warnings: [String] = []
  let planes: [[Float]]
  private var position = 0
  /// The largest number of frames that a call returns.
  var step = 700

  init(frames: Int, order: Int = 1, headLocked: Bool = false, mono: Bool = false) {
    layout = mono ? .mono : .ambisonics(order: order, convention: .ambiX, headLocked: headLocked)
    duration = frames
    var state: UInt64 = 7
    planes = (0..<layout.channelCount).map { c in
      (0..<frames).map { i in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let noise = Float(Int32(truncatingIfNeeded: state >> 32)) / Float(Int32.max)
        let voice = Float(sin(Double(i) * 0.05) * (sin(Double(i) * 0.0006) > 0 ? 1 : 0))
        return 0.05 * noise + (c == 0 || c == 3 ? 0.3 * voice : 0)
      }
    }
  }

  func read(
    into output: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int {
    let count = max(0, min(frames, step, planes[0].count - position))
    for c in planes.indices {
      for i in 0..<count { output[c][i] = planes[c][position + i] }
    }
    position += count
    return count
  }

  func seek(toFrame frame: Int) throws(PlaybackError) { position = min(frame, planes[0].count) }
}

@Suite struct MixedSourceTests {
  private func read(
    _ source: any SoundSource, channels: Int, blockFrames: Int = 1000, atMost: Int = .max
  ) throws -> [[Float]] {
    let scratch = PlanarScratch(channels: channels, frames: blockFrames)
    var result = [[Float]](repeating: [], count: channels)
    while result[0].count < atMost {
      let wanted = min(blockFrames, atMost - result[0].count)
      let count = try source.read(into: scratch.planes, frames: wanted)
      if count == 0 { break }
      for c in 0..<channels { result[c] += (0..<count).map { scratch.planes[c][$0] } }
    }
    return result
  }

  private func decibels(_ a: [[Float]], _ b: [[Float]]) -> Double {
    var (error, energy) = (0.0, 1e-300)
    for (x, y) in zip(a, b) {
      for (p, q) in zip(x, y) {
        error += Double(p - q) * Double(p - q)
        energy += Double(q) * Double(q)
      }
    }
    return 10 * log10(max(error / energy, 1e-30))
  }

  @Test(arguments: [1, 100, 5000, 100_000])
  func lengthIsKeptAndAmountZeroIsTheInput(frames: Int) throws {
    let field = FieldSource(frames: frames)
    let mixed = try MixedSource(field, settings: MixSettings(style: .cinematic, amount: 0))
    let result = try read(mixed, channels: 4)
    let isSame = result == field.planes
    #expect(isSame)
  }

  @Test func stemsAddUpAtTheSameFrame() throws {
    let field = FieldSource(frames: 60_000)
    let five = try read(
      try MixedSource(
        field, settings: MixSettings(style: .standard), target: .ambienceAndSpeech), channels: 5)
    let speech = try read(
      try MixedSource(
        FieldSource(frames: 60_000), settings: MixSettings(style: .cinematicForeground)),
      channels: 4)
    let areSame = five[4] == speech[0] && speech[0] == speech[3]
    #expect(areSame)
    let sum = [zip(five[0], five[4]).map { $0 + $1 }]
    #expect(decibels(sum, [field.planes[0]]) < -130)
    #expect(decibels([five[4]], [[Float](repeating: 0, count: 60_000)]) > 0)
  }

  @Test(arguments: [64, 1024, 4096])
  func blockSizeDoesNotMatter(blockFrames: Int) throws {
    let settings = MixSettings(style: .studio, amount: 0.7)
    let truth = try read(
      try MixedSource(FieldSource(frames: 96_000), settings: settings), channels: 4)
    let other = FieldSource(frames: 96_000)
    other.step = blockFrames == 64 ? 13 : 100_000
    let result = try read(
      try MixedSource(other, settings: settings), channels: 4, blockFrames: blockFrames)
    #expect(decibels(result, truth) < -100)
  }

  @Test(arguments: [0, 1, 47_999, 300_001, 650_000])
  func seekGivesTheSameSound(target: Int) throws {
    let settings = MixSettings(style: .studio, amount: 0.7)
    let truth = try read(
      try MixedSource(FieldSource(frames: 700_000), settings: settings), channels: 4)
    let mixed = try MixedSource(FieldSource(frames: 700_000), settings: settings)
    _ = try read(mixed, channels: 4, atMost: 10_000)
    try mixed.seek(toFrame: target)
    let result = try read(mixed, channels: 4, atMost: 48_000)
    #expect(result[0].count == min(48_000, 700_000 - target))
    #expect(decibels(result, truth.map { Array($0[target...].prefix(48_000)) }) < -100)
  }

  @Test func higherOrdersFollowTheAmbienceAndStereoStays() throws {
    let field = FieldSource(frames: 30_000, order: 2, headLocked: true)
    let mixed = try MixedSource(field, settings: MixSettings(style: .cinematic, amount: 0.5))
    #expect(mixed.layout == .ambisonics(order: 2, convention: .ambiX, headLocked: true))
    let result = try read(mixed, channels: 11)
    let gain = Float(pow(10, -12.0 / 20))
    let truth = field.planes[4..<9].map { $0.map { gain * $0 } }
    #expect(decibels(Array(result[4..<9]), Array(truth)) < -120)
    let isSame = Array(result[9...]) == Array(field.planes[9...])
    #expect(isSame)
  }

  @Test func onlySoundfieldsAreAccepted() {
    let error = #expect(throws: PlaybackError.self) {
      _ = try MixedSource(
        FieldSource(frames: 10, mono: true), settings: MixSettings(style: .cinematic))
    }
    #expect(error == .mixNeedsSoundfield(.mono))
    #expect(
      error?.description.hasPrefix("only soundfields of order 1 or higher can be separated")
        == true)
  }

  @Test func inactiveStemsAreSilentUntilASeek() throws {
    let field = FieldSource(frames: 50_000)
    let stems = try MixStemSource(
      field, settings: MixSettings(style: .standard), separates: false)
    let before = try read(stems, channels: 17, atMost: 20_000)
    #expect(decibels(Array(before[0..<4]), field.planes.map { Array($0.prefix(20_000)) }) < -290)
    #expect(before[4...].allSatisfy { $0.allSatisfy { $0 == 0 } })
    stems.isActive = true
    try stems.seek(toFrame: 20_000)
    let after = try read(stems, channels: 17)
    #expect(decibels(Array(after[0..<4]), field.planes.map { Array($0[20_000...]) }) < -290)
    #expect(after[0].count == 30_000)
    #expect(after[4].contains { $0 != 0 })
  }

  // MARK: Tuning

  @Test func tuningSurvivesJSON() throws {
    let tuning = MixTuning(
      speech: .init(
        gainDecibels: 1.5,
        equaliser: [.init(.peak, frequency: 250, gain: -2.5, quality: 0.8)]),
      ambience: .init(
        gainDecibels: -3, equaliser: [.init(.highPass, frequency: 80, quality: 0.707)])
    )
    #expect(try MixTuning(json: Array(tuning.json.utf8)) == tuning)
    #expect(try MixTuning(json: Array(#"{"version":1}"#.utf8)) == MixTuning())
  }

  @Test(arguments: [
    "", "[]", "{}", #"{"version":2}"#, #"{"version":1,"speech":{"gain_db":"x"}}"#,
    #"{"version":1,"speech":{"gain_db":61}}"#,
    #"{"version":1,"speech":{"eq":[{"type":"bell","frequency":100}]}}"#,
    #"{"version":1,"ambience":{"eq":[{"type":"peak","frequency":0,"gain_db":1,"q":1}]}}"#,
    #"{"version":1,"ambience":{"eq":[{"type":"peak","frequency":100,"gain_db":1,"q":0}]}}"#,
  ])
  func brokenTuningIsRefused(text: String) {
    #expect(throws: (any Error).self) { try MixTuning(json: Array(text.utf8)) }
  }
}
