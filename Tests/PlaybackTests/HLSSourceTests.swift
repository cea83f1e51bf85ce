// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import HLS
import Media
import SignalProcessing
import Synchronization
import TestSupport
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

/// Presentations packaged by the program ffmpeg and read as one continuous sound.
@Suite struct HLSSourceTests {
  private static let packed = Packed()
  /// From 7 s on, the programme is 14 dB louder. The LFE stays the same.
  private static let gettingLouder = Packed(programme: "if(lt(t\\,7)\\,0.2\\,1)", effects: "1")
  /// Settings with a target loudness, so that the levels of renditions are matched.
  private static let normalised = {
    var settings = RenderSettings()
    settings.loudness = -16
    return settings
  }()
  /// Copies of presentations, kept for the duration of the test.
  private let folders = Folders()

  private final class Folders: Sendable {
    private let all = Mutex<[TemporaryFolder]>([])
    func keep(_ folder: TemporaryFolder) { all.withLock { $0.append(folder) } }
  }

  /// Twelve seconds of bursts and tones: 5.1 as E-AC-3, and its stereo fold-down as AAC, 6 dB
  /// louder. The fold-down lacks the LFE, which is twice as strong in the last third of a segment.
  private final class Packed: Sendable {
    let folder = TemporaryFolder()
    let problem: String?

    init(programme: String = "1", effects: String = "(1+gt(mod(t\\,1.92)\\,1.3))") {
      let tones = [500, 700, 900, 50, 1100, 1300]
      let channels = tones.enumerated().map { c, hertz in
        let bursts = "0.15*(random(\(c))-0.5)*lt(mod(t*3.7+\(c)*0.3\\,1)\\,0.2)"
        return c == 3
          ? "\(effects)*0.1*sin(2*PI*50*t)" : "\(programme)*(0.1*sin(2*PI*\(hertz)*t)+\(bursts))"
      }
      let fold = "pan=stereo|c0=0.8*c0+0.57*c2+0.57*c4|c1=0.8*c1+0.57*c2+0.57*c5"
      let source = "aevalsrc=\(channels.joined(separator: "|")):c=5.1:s=48000:d=12"
      var commands = [
        ["-f", "lavfi", "-i", source, "-c:a", "pcm_f32le", folder.file("a.wav")],
        ["-i", folder.file("a.wav"), "-c:a", "eac3", "-b:a", "256k", folder.file("six.eac3")],
        [
          "-i", folder.file("a.wav"), "-af", "\(fold),volume=6dB", "-c:a", "aac", "-b:a", "128k",
          folder.file("two.m4a"),
        ],
      ]
      for (name, file) in [("six", "six.eac3"), ("two", "two.m4a")] {
        mkdir(folder.file(name), 0o700)
        commands.append([
          "-i", folder.file(file), "-c", "copy", "-f", "hls", "-hls_time", "1.92",
          "-hls_list_size", "0", "-hls_playlist_type", "vod", "-hls_segment_filename",
          folder.file("\(name)/s%02d.ts"), folder.file("\(name)/p.m3u8"),
        ])
      }
      var problem: String?
      for command in commands where problem == nil {
        let run = try? ProgramRun.of("ffmpeg", ["-v", "error", "-y"] + command, timeoutSeconds: 60)
        if run?.exitCode != 0 { problem = run?.errors ?? "ffmpeg cannot be started" }
      }
      let master = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="s",NAME="a",CHANNELS="6",URI="six/p.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="t",NAME="a",CHANNELS="2",URI="two/p.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=280000,CODECS="ec-3",AUDIO="s"
        six/p.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=140000,CODECS="mp4a.40.2",AUDIO="t"
        two/p.m3u8
        """
      _ = try? folder.write(master, to: "master.m3u8")
      self.problem = problem
    }
  }

  /// Selects renditions by a plan. Some segments are fetched again in another rendition.
  private struct Plan: AdaptationRule {
    var renditions: [Int]
    var again: [Int: Int] = [:]
    var asked = 0

    mutating func next(_ situation: PlaySituation) -> Int {
      defer { asked += 1 }
      return renditions[min(asked, renditions.count - 1)]
    }
    mutating func record(_ timing: SegmentTiming, rendition: Int) {}
    mutating func replacement(
      _ situation: PlaySituation, queue: [ReplaceableSegment]
    ) -> Replacement? {
      for segment in queue {
        if let rendition = again.removeValue(forKey: segment.number) {
          return Replacement(number: segment.number, rendition: rendition)
        }
      }
      return nil
    }
  }

  private func source(
    _ plan: Plan, of packed: Packed = packed, settings: RenderSettings = normalised,
    change: (TemporaryFolder) throws -> Void = { _ in }
  ) throws -> HLSSource {
    #expect(packed.problem == nil)
    let copy = TemporaryFolder()
    folders.keep(copy)
    _ = try ProgramRun.of("cp", ["-r", packed.folder.path + "/.", copy.path])
    try change(copy)
    let folder = try #require(PresentationFolder(copy.path))
    let fetcher = FolderFetcher(folder)
    let loader = PlaylistLoader(fetcher, folder: folder)
    let presentation = try OpenPresentation(
      loader.open(.file(folder.path + "/master.m3u8")), loader: loader, fetcher: fetcher,
      wishes: RenditionWishes(), describe: { _ in nil }, goesOn: { true })
    let supply = SegmentSupply(
      presentation, clock: { Double(monotonic_nanoseconds()) * 1e-9 },
      pause: { usleep(useconds_t($0 * 1e6)) }, rule: { plan })
    return try HLSSource(supply, settings: settings)
  }

  /// Settings cannot restore channels that a downloaded presentation does not contain.
  @Test func aFolderWithOnlyStereoOffersNoMultichannelSound() throws {
    let source = try source(Plan(renditions: [0])) { copy in
      _ = try ProgramRun.of("rm", ["-r", copy.file("six")])
    }
    #expect(source.layout == .stereo && source.multichannelOffer == nil)
  }

  /// Returns the complete sound of a source on a bus.
  private func sound(of source: HLSSource) throws -> [[Float]] {
    let bus = try prepared(source, settings: source.settings)
    var result = [[Float]](repeating: [], count: bus.layout.channelCount)
    let scratch = PlanarScratch(channels: bus.layout.channelCount, frames: 1000)
    while true {
      let count = try bus.read(into: scratch.planes, frames: 1000)
      if count == 0 { return result }
      for c in result.indices {
        result[c] += UnsafeBufferPointer(start: scratch.planes[c], count: count)
      }
    }
  }

  /// Returns the loudness in dB, with a weight for the LFE.
  private func loudness(_ planes: [[Float]], lfe: Double) -> Double {
    let weights = planes.count == 6 ? [1, 1, 1, lfe, 1, 1] : [1, 1]
    let energy = zip(planes, weights).reduce(0) { sum, plane in
      sum + plane.1 * plane.0.reduce(0) { $0 + Double($1 * $1) }
    }
    return 10 * log10(energy / Double(planes[0].count))
  }

  private func read(
    _ plan: Plan, of packed: Packed = packed, lfe: Double = 0,
    settings: RenderSettings = normalised,
    change: (TemporaryFolder) throws -> Void = { _ in }
  ) throws -> (sound: [[Float]], news: [RenditionNews], HLSSource) {
    let source = try source(plan, of: packed, settings: settings, change: change)
    source.loudnessAsHeard = { loudness($1, lfe: lfe) }
    let sound = try sound(of: source)
    let news = source.takeNews(upTo: .max).compactMap { news -> RenditionNews? in
      if case .rendition(let rendition) = news { rendition } else { nil }
    }
    return (sound, news, source)
  }

  private func decibels(_ sound: ArraySlice<Float>) -> Double {
    10 * log10(sound.reduce(1e-12) { $0 + Double($1 * $1) } / Double(sound.count))
  }

  /// Returns the level of the difference relative to the wanted sound, in dB.
  private func difference(_ sound: ArraySlice<Float>, _ wanted: ArraySlice<Float>) -> Double {
    let rest = zip(sound, wanted).map { $0 - $1 }
    return decibels(rest[...]) - decibels(wanted)
  }

  @Test func renditionIsBitIdenticalToItsDecodedFile() throws {
    let six = try sound(of: source(Plan(renditions: [1])))
    #expect(six.count == 6 && six[0].count == 12 * 48000)
    #expect(try six == decoded("six.eac3"))
  }

  /// Returns the sound of a packaged file, read directly.
  private func decoded(_ name: String, of packed: Packed = packed) throws -> [[Float]] {
    let file = try AudioFileReader(path: packed.folder.file(name))
    let channels = file.layout.channelCount
    let scratch = PlanarScratch(channels: channels, frames: 13 * 48000)
    let count = try file.read(into: scratch.planes, frames: 13 * 48000)
    return (0..<channels).map { c in
      Array(UnsafeBufferPointer(start: scratch.planes[c], count: count))
    }
  }

  @Test func replacementSegmentJoinsAlignedAndAtEqualLoudness() throws {
    let six = try sound(of: source(Plan(renditions: [1])))
    let (sound, news, _) = try read(Plan(renditions: [0, 0, 0, 1], again: [2: 1]))
    #expect(news.map(\.isMultichannel) == [false, true])
    let change = try #require(news.last)
    // Aligned to the frame, although AAC and E-AC-3 are 768 frames apart at equal time stamps.
    #expect(change.shift.map { abs($0) } == 768)
    #expect(try #require(change.agreement) > 0.9)
    // The fade ends 0.1 s before the end of the segment at 5.76 s. The preferred join, 3 s into a
    // segment, does not fit in this one.
    #expect(abs(change.at - 5.66) < 0.03)
    // After the join, the sound is the 5.1 at the same position with a constant gain.
    let start = Int((change.at + 0.1) * 48000)
    let shift = try #require(change.shift)
    let gain = Float(pow(10, change.gain / 20))
    for c in [0, 1, 2, 4, 5] {
      let wanted = six[c][(start - shift)..<(start - shift + 96000)].map { $0 * gain }
      #expect(difference(sound[c][start..<start + 96000], wanted[...]) < -40)
    }
    // The 6 dB, less what the fold-down loses of five equal channels.
    #expect(abs(change.gain - 3.13) < 0.3)
  }

  /// The stereo sound is as loud as the 5.1 would have been at the same time, if that is known.
  @Test(arguments: [
    (Plan(renditions: [1, 1, 1, 0]), 2, false),
    (Plan(renditions: [0, 0, 0, 1], again: [2: 1]), 2, true),
  ])
  private func stereoMatchesMultichannelLoudnessAtTheJoin(
    _ plan: Plan, segment: Int, isReturn: Bool
  ) throws {
    let change = try #require(read(plan, lfe: 5).news.last)
    let (start, end) = (Double(segment) * 1.92, Double(segment + 1) * 1.92)
    let join = change.at - 0.15
    #expect(start < join && join < end)
    func stereoExcess(_ range: Range<Double>) throws -> Double {
      let frames = Int(range.lowerBound * 48000)..<Int(range.upperBound * 48000)
      let versions = try ["six.eac3", "two.m4a"].map { name in
        try loudness(decoded(name).map { Array($0[frames]) }, lfe: 5)
      }
      return versions[0] - versions[1]
    }
    let known = isReturn ? start..<join : join..<end
    let (exact, mean) = try (stereoExcess(known), stereoExcess(start..<end))
    #expect(abs(exact - mean) > 0.3)
    let share = (known.upperBound - known.lowerBound) / 3
    let stereo = mean + share * (exact - mean)
    #expect(abs(change.gain - (isReturn ? -stereo : stereo)) < 0.2)
  }

  /// The stereo sound is about 3 dB louder. Both plans contain the two renditions in all segments.
  @Test(arguments: [
    Plan(renditions: [0, 0, 0, 1], again: [2: 1]), Plan(renditions: [1, 1, 1, 0]),
  ])
  private func withoutNormalisationEachRenditionHasItsOriginalLevel(_ plan: Plan) throws {
    let six = try decoded("six.eac3")
    let (sound, news, _) = try read(plan, lfe: 5, settings: RenderSettings())
    #expect(news.count == 2 && news.allSatisfy { $0.gain == 0 })
    let change = try #require(news.last).at
    let frames =
      news[0].isMultichannel
      ? 24000..<Int((change - 0.3) * 48000) : Int((change + 0.3) * 48000)..<480_000
    let (own, its) = (sound.map { Array($0[frames]) }, six.map { Array($0[frames]) })
    #expect(abs(loudness(own, lfe: 0) - loudness(its, lfe: 0)) < 0.2)
  }

  /// If the runs only meet, the level is predicted. The programme is 14 dB louder than when the two
  /// were compared, and the LFE, which the fold-down lacks, is unchanged.
  @Test func stereoMatchesMultichannelLoudnessWithoutOverlap() throws {
    var settings = Self.normalised
    settings.upmix = .off
    let plan = Plan(renditions: [0, 0, 0, 1, 1, 0], again: [2: 1])
    let (sound, news, _) = try read(plan, of: Self.gettingLouder, lfe: 20, settings: settings) {
      truncate($0.file("two/s04.ts"), 0)
    }
    #expect(news.map(\.isMultichannel) == [false, true, false])
    let change = try #require(news.last)
    #expect(abs(change.at - 9.6) < 0.05)
    let frames = Int(change.at * 48000) + 12000..<Int((change.at + 1.8) * 48000)
    let wanted = try decoded("six.eac3", of: Self.gettingLouder).map { Array($0[frames]) }
    let first = try #require(news.first { $0.isMultichannel }).gain
    let step =
      loudness(sound.map { Array($0[frames]) }, lfe: 20) - loudness(wanted, lfe: 20) - first
    #expect(abs(step) < 0.5)
  }

  @Test func renditionChangesCauseNoClickOrLevelStep() throws {
    let plans = [
      Plan(renditions: [0, 0, 0, 1], again: [2: 1]), Plan(renditions: [1, 1, 1, 0], again: [:]),
      Plan(renditions: [0, 0, 1, 1, 0, 0]),
    ]
    for plan in plans {
      let (sound, news, source) = try read(plan)
      #expect(source.warnings.isEmpty)
      #expect(news.count >= 2)
      // The second difference of the sum of all channels shows clicks above the tones and the
      // bursts.
      let sum = sound[0].indices.map { i in sound.reduce(0) { $0 + $1[i] } }
      let edges = zip(sum, sum.dropFirst(2)).enumerated().map { i, pair in
        abs(pair.0 - 2 * sum[i + 1] + pair.1)
      }
      let places = news.dropFirst().map { Int($0.at * 48000) }
      let isNear = { (i: Int) in places.contains { abs($0 - i) < 12000 } }
      let usual = try #require(edges.indices.filter { !isNear($0) }.map { edges[$0] }.max())
      let sharpest = try #require(edges.indices.filter(isNear).max { edges[$0] < edges[$1] })
      #expect(edges[sharpest] < 1.3 * usual, "at \(Double(sharpest) / 48000) s, \(news.map(\.at))")
      for change in news.dropFirst() {
        let place = Int(change.at * 48000)
        guard place > 48000, place < sum.count - 60000 else { continue }
        let before = sound.reduce(0) {
          $0 + pow(10, decibels($1[place - 38400..<place - 9600]) / 10)
        }
        let after = sound.reduce(0) {
          $0 + pow(10, decibels($1[place + 9600..<place + 38400]) / 10)
        }
        #expect(abs(10 * log10(after / before)) < 3)
      }
    }
  }

  @Test func missingSegmentIsSilentAndReported() throws {
    let whole = try sound(of: source(Plan(renditions: [1])))
    let source = try source(Plan(renditions: [1])) { folder in
      for rendition in ["six", "two"] { unlink(folder.file("\(rendition)/s02.ts")) }
    }
    let sound = try sound(of: source)
    #expect(sound[0].count == whole[0].count)
    #expect(source.warnings.count == 1)
    #expect(source.warnings.first?.contains("1.92 s of sound is missing") == true)
    let after = (6 * 48000)..<(10 * 48000)
    for c in 0..<6 { #expect(difference(sound[c][after], whole[c][after]) < -40) }
    #expect(sound[0][(4 * 48000)..<(5 * 48000)].allSatisfy { $0 == 0 })
  }

  /// Every part of a gap counts once, whether a seek leads into the gap before or after the whole
  /// gap is reached.
  @Test(arguments: [[4.5, 3, 4.5], [3, 4.5, 5]]) func seekIntoAGapDoesNotCountItTwice(
    _ seconds: [Double]
  ) throws {
    let source = try source(Plan(renditions: [1])) { folder in
      for rendition in ["six", "two"] { unlink(folder.file("\(rendition)/s02.ts")) }
    }
    let bus = try prepared(source, settings: source.settings)
    let scratch = PlanarScratch(channels: 6, frames: 4096)
    for second in seconds {
      let frame = Int(second * 48000)
      try bus.seek(toFrame: frame)
      var at = frame
      while at < 7 * 48000 { at += try bus.read(into: scratch.planes, frames: 4096) }
    }
    #expect(abs(source.missingSeconds - 1.92) < 0.03)
  }

  @Test(arguments: [0, 1000, 48000 * 5 + 77, 48000 * 11, 48000 * 12, 48000 * 13])
  func seekIsFrameExact(_ frame: Int) throws {
    let whole = try sound(of: source(Plan(renditions: [1])))
    let source = try source(Plan(renditions: [1]))
    let bus = try prepared(source, settings: source.settings)
    let scratch = PlanarScratch(channels: 6, frames: 20000)
    _ = try bus.read(into: scratch.planes, frames: 20000)
    try bus.seek(toFrame: frame)
    let count = try bus.read(into: scratch.planes, frames: 20000)
    #expect(count == max(0, min(20000, whole[0].count - frame)))
    guard count > 0 else { return }
    for c in 0..<6 {
      let sound = Array(UnsafeBufferPointer(start: scratch.planes[c], count: count))
      #expect(difference(sound[...], whole[c][frame..<frame + count]) < -40)
    }
  }

  @Test func abandonedSourceThrowsOnRead() throws {
    let source = try source(Plan(renditions: [1]))
    source.abandon()
    #expect(throws: PlaybackError.self) { try sound(of: source) }
  }
}
