// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import HeadTracking
import Media
import Synchronization
import TestSupport
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

/// Files whose channel layout changes, through the complete chain.
@Suite struct FileLayoutTests {
  private static let folder = TemporaryFolder()
  /// The lengths are multiples of an AC-3 frame.
  private static let lengths = [40, 20, 30].map { $0 * 1536 }

  private func ffmpeg(_ arguments: [String]) throws {
    let run = try ProgramRun.of("ffmpeg", ["-nostdin", "-v", "error", "-y"] + arguments)
    try #require(run.exitCode == 0, "\(run.errors)")
  }

  /// Makes 5.1, stereo and 5.1; returns the paths of the pieces and of the complete stream.
  private func makeStream(_ folder: TemporaryFolder) throws -> (pieces: [String], whole: String) {
    var pieces: [String] = []
    for (index, length) in Self.lengths.enumerated() {
      let layout = index == 1 ? "stereo" : "5.1(side)"
      let path = folder.file("\(index).ac3")
      let seconds = Double(length) / 48_000
      try ffmpeg([
        "-f", "lavfi", "-i", "anoisesrc=d=\(seconds):r=48000:a=0.1:seed=\(index + 1)",
        "-af", "aformat=channel_layouts=\(layout)", "-c:a", "ac3", "-b:a", "448k", path,
      ])
      pieces.append(path)
    }
    let whole = folder.file("whole.ac3")
    let joined = try ProgramRun.of("sh", ["-c", "cat \(pieces.joined(separator: " ")) > \(whole)"])
    try #require(joined.exitCode == 0)
    return (pieces, whole)
  }

  private func offline(
    _ path: String, _ settings: RenderSettings, block: Int = 256
  ) throws -> OfflineRenderer {
    var settings = settings
    settings.blockFrames = block
    return try OfflineRenderer(
      source: FileSource(path: path, settings: settings), head: HeadTrajectory(.identity),
      hrtf: HRTFChoice(set: RigidSphereHead().hrtfSet(sampleRate: 48_000)), settings: settings,
      isLimited: false)
  }

  private func ears(_ renderer: OfflineRenderer) throws -> [[Float]] {
    var ears: [[Float]] = [[], []]
    while true {
      let count = try renderer.next()
      if count == 0 { return ears }
      for ear in 0..<2 {
        ears[ear] += UnsafeBufferPointer(start: renderer.output[ear], count: count)
      }
    }
  }

  @Test func streamOfChangingLayoutRendersLikeItsParts() throws {
    let folder = TemporaryFolder()
    let (pieces, whole) = try makeStream(folder)
    var settings = RenderSettings()
    settings.busOrder = 1
    let renderer = try offline(whole, settings)
    let heard = try ears(renderer)
    let total = Self.lengths.reduce(0, +)
    #expect(heard[0].count == total + renderer.renderer.tailFrames)
    #expect(renderer.layoutChanges.map(\.layout.name) == ["stereo", "5.1"])
    #expect(
      renderer.layoutChanges.map(\.seconds)
        == [Double(Self.lengths[0]) / 48_000, Double(Self.lengths[0] + Self.lengths[1]) / 48_000])
    // The first part equals the first file sample by sample. The later parts equal their files once
    // the filters have forgotten the part before. AC-3's decoder adds noise 80 dB below.
    var start = 0
    for (index, piece) in pieces.enumerated() {
      let alone = try ears(offline(piece, settings))
      let from = index == 0 ? 0 : 8000
      let error =
        (from..<Self.lengths[index] - 1000).map {
          abs(alone[0][$0] - heard[0][start + $0])
        }.max() ?? 1
      #expect(error < (index == 0 ? 1e-6 : 1e-4), "part \(index)")
      start += Self.lengths[index]
    }
  }

  /// The policy follows the content at the exact frame, for any block size.
  @Test func spatializationFollowsTheLayoutOfTheContent() throws {
    let folder = TemporaryFolder()
    let (_, whole) = try makeStream(folder)
    var settings = RenderSettings()
    settings.busOrder = 1
    settings.spatialization = .multichannel
    let heard = try ears(offline(whole, settings))
    let other = try ears(offline(whole, settings, block: 1000))
    let error = zip(heard[0], other[0]).map { abs($0 - $1) }.max() ?? 1
    #expect(error < 1e-6)
    // The noise is the same on both sides of the advert, so plain stereo gives equal ears.
    let advert = Self.lengths[0] + 6000..<Self.lengths[0] + Self.lengths[1]
    var plain = settings
    plain.spatialization = .off
    let truth = try ears(offline(whole, plain))
    #expect(advert.allSatisfy { abs(heard[0][$0] - truth[0][$0]) < 1e-6 })
    #expect((20_000..<30_000).contains { abs(heard[0][$0] - truth[0][$0]) > 1e-3 })
  }

  @Test func multichannelTrackIsOffered() throws {
    let folder = TemporaryFolder()
    let path = folder.file("two.mkv")
    try ffmpeg([
      "-f", "lavfi", "-i", "anoisesrc=d=1:r=48000:a=0.1", "-filter_complex",
      "[0]asplit[a][b];[a]aformat=channel_layouts=stereo[c];[b]aformat=channel_layouts=5.1[d]",
      "-map", "[c]", "-map", "[d]", "-c:a", "flac", path,
    ])
    var settings = RenderSettings()
    #expect(try FileSource(path: path, settings: settings).multichannelOffer == nil)
    settings.track = 1
    let offer = try FileSource(path: path, settings: settings).multichannelOffer
    guard case .track(2, let layout) = offer else {
      Issue.record("\(String(describing: offer))")
      return
    }
    #expect(layout.name.contains("5.1"))
    #expect(
      offer?.description
        == "track 2 of the file has the layout \(layout.name); choose it with track 2")
  }
}
