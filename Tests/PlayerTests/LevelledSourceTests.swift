// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Geometry
import Glibc
import Loudness
import Media
import Synchronization
import TestSupport
import Testing

@testable import Laboratory
@testable import Playback
@testable import Rendering
@testable import SoundSources

/// The loudness of the output: runs the chain of `play` without a sound server.
@Suite struct LevelledSourceTests {
  private static let rate = 48_000

  /// The HRTF set of a rigid sphere at first order: quick, and different for every direction.
  private static let hrtf = HRTFChoice(set: RigidSphereHead().hrtfSet(sampleRate: Double(rate)))

  private struct Heard {
    var ears: [[Float]]
    var reports: [LoudnessReport]

    /// Returns LUFS and dBTP of a range in seconds.
    func measured(fromSecond start: Int = 0, until end: Int? = nil) -> LoudnessMeasurement? {
      let meter = LoudnessMeter(weights: [.main, .main], sampleRate: rate, measuresPeak: true)
      let range = start * rate..<(end.map { $0 * rate } ?? ears[0].count)
      let part = PlanarSignal(ears.map { Array($0[range]) })
      meter.add(UnsafePointer(part.channels), frames: part.frames)
      return meter.integrated.map {
        LoudnessMeasurement(ears: $0, source: nil, truePeak: meter.truePeak)
      }
    }
  }

  /// Plays a source with normalisation and returns the output of the limiter.
  private func play(
    _ raw: any SoundSource, target: Double? = -16
  ) throws -> Heard {
    var settings = RenderSettings()
    settings.busOrder = 1
    settings.loudness = target
    try raw.seek(toFrame: 0)
    let source = try prepared(raw, settings: settings)
    let filters = try Self.hrtf.filters(
      for: source.layout, settings: settings, sampleRate: Double(Self.rate))
    let reports = Mutex<[LoudnessReport]>([])
    let level = Playback.levelled(
      source, from: raw, filters: filters, settings: settings, patienceMilliseconds: 60_000
    ) { report in
      reports.withLock { $0.append(report) }
    }
    let renderer = Renderer(
      layout: source.layout, filters: filters, busOrder: settings.busOrder,
      mode: raw.isBinaural ? .plain : .spatial, finish: .safe)
    let input = PlanarSignal(channelCount: source.layout.channelCount, frames: 1024)
    let output = PlanarSignal(channelCount: 2, frames: 1024)
    var ears: [[Float]] = [[], []]
    while true {
      let count = try (level ?? source).read(into: input.channels, frames: 1024)
      guard count > 0 else { break }
      let poses = renderer.gridPoints(forNext: count).map { _ in Quaternion.identity }
      renderer.process(
        input: UnsafePointer(input.channels), frames: count, poses: poses, left: output[0],
        right: output[1])
      for ear in 0..<2 { ears[ear] += UnsafeBufferPointer(start: output[ear], count: count) }
    }
    return Heard(ears: ears, reports: reports.withLock { $0 })
  }

  // MARK: Programmes

  /// Returns speech-like noise in the centre with independent ambience around it.
  private func programme(
    _ layout: ChannelLayout, seconds: Int, gain: Float = 1
  ) -> SignalSource {
    var generator = SeededGenerator(7)
    let frames = seconds * Self.rate
    var parts = (0..<5).map { _ in brown(frames, &generator) }
    for i in 0..<frames {
      let syllable = Float(pow(sin(Double(i) * 2 * .pi * 2.5 / Double(Self.rate)), 2))
      parts[2][i] *= syllable
      for part in [0, 1] { parts[part][i] *= 0.6 }
      for part in [3, 4] { parts[part][i] *= 0.3 }
    }
    let silence = [Float](repeating: 0, count: frames)
    let bed = [parts[0], parts[1], parts[2], silence, parts[3], parts[4]]
    let channels: [[Float]]
    switch layout {
    case .stereo:
      // The fold-down of ITU-R BS.775 has centre and surrounds at 0.7071.
      channels = [0, 1].map { side in
        (0..<frames).map { bed[side][$0] + 0.70710677 * (bed[2][$0] + bed[4 + side][$0]) }
      }
    case .ambisonics:
      channels = encode(bed)
    default: channels = bed
    }
    return SignalSource(layout, channels.map { $0.map { $0 * gain } })
  }

  private func encode(_ bed: [[Float]]) -> [[Float]] {
    var field = [[Float]](repeating: [Float](repeating: 0, count: bed[0].count), count: 4)
    for (channel, speaker) in Self.surround.enumerated() {
      guard let direction = speaker.direction(in: Self.surround) else { continue }
      let gains = SphericalHarmonics.evaluate(order: 1, direction.unitVector)
      for acn in 0..<4 {
        for i in bed[channel].indices { field[acn][i] += Float(gains[acn]) * bed[channel][i] }
      }
    }
    return field
  }

  private static let surround: [Speaker] = [
    .frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight,
  ]

  private func brown(_ frames: Int, _ generator: inout SeededGenerator) -> [Float] {
    var state: Float = 0
    return (0..<frames).map { _ in
      state = 0.95 * state + Float.random(in: -0.08...0.08, using: &generator)
      return state
    }
  }

  // MARK: Equal loudness

  @Test func everySourceReachesTheTargetLoudness() throws {
    let foa = ChannelLayout.ambisonics(order: 1, convention: .ambiX, headLocked: false)
    let bed = ChannelLayout.speakers(Self.surround)
    let sources = [
      programme(bed, seconds: 14), programme(.stereo, seconds: 14),
      programme(.stereo, seconds: 14, gain: 2), programme(foa, seconds: 14),
      programme(bed, seconds: 14, gain: 0.25),
    ]
    for source in sources {
      let heard = try play(source)
      let loudness = heard.measured()?.ears ?? -.infinity
      #expect(abs(loudness + 16) < 0.25, "\(source.layout): \(loudness), \(heard.reports)")
      #expect(heard.reports.last?.origin == .scan)
    }
  }

  /// Sound made for headphones plays as plain stereo and is measured in the same way.
  @Test func soundMadeForHeadphonesReachesTheTargetLoudness() throws {
    let source = programme(.stereo, seconds: 14)
    source.isBinaural = true
    let heard = try play(source)
    #expect(abs((heard.measured()?.ears ?? 0) + 16) < 0.25)
    #expect(heard.reports.last?.origin == .scan)
  }

  /// The ears hear the channels of sound made for headphones, but not those of other stereo sound.
  @Test(arguments: [true, false])
  func onlyPlainStereoIsAsLoudAtTheEarsAsInItsChannels(_ isBinaural: Bool) throws {
    var settings = RenderSettings()
    settings.busOrder = 1
    let filters = try Self.hrtf.filters(
      for: .stereo, settings: settings, sampleRate: Double(Self.rate))
    let meter = EarMeter(
      layout: .stereo, content: .stereo, isBinaural: isBinaural, filters: filters,
      settings: settings)
    let sound = PlanarSignal(programme(.stereo, seconds: 4).channels)
    meter.add(UnsafePointer(sound.channels), frames: sound.frames)
    let measured = try #require(meter.measurement)
    let difference = abs(measured.ears - (try #require(measured.source)))
    #expect(isBinaural ? difference < 0.01 : difference > 0.1, "\(difference)")
  }

  /// Plays a source that states its true loudness.
  @Test func correctMetadataYieldsTheTargetLoudness() throws {
    let source = programme(.stereo, seconds: 12)
    let meter = LoudnessMeter(weights: [.main, .main], sampleRate: Self.rate)
    source.measure(by: meter)
    source.stated = StatedLoudness(origin: .r128, loudness: meter.integrated ?? 0)
    let heard = try play(source)
    #expect(abs((heard.measured()?.ears ?? 0) + 16) < 0.25)
    #expect(heard.reports.last?.origin == .metadata)
    #expect(heard.reports.last?.statement == .r128)
  }

  @Test func tagsAreTrustedAndImplausibleDialnormIsIgnored() throws {
    let source = programme(.stereo, seconds: 12)
    let meter = LoudnessMeter(weights: [.main, .main], sampleRate: Self.rate)
    source.measure(by: meter)
    let loudness = meter.integrated ?? 0
    source.stated = StatedLoudness(origin: .replayGain, loudness: loudness - 5)
    #expect(abs((try play(source).measured()?.ears ?? 0) + 11) < 0.3)
    source.stated = StatedLoudness(origin: .dialnorm, loudness: loudness - 2)
    #expect(abs((try play(source).measured()?.ears ?? 0) + 14) < 0.3)
    source.stated = StatedLoudness(origin: .dialnorm, loudness: loudness - 8)
    #expect(abs((try play(source).measured()?.ears ?? 0) + 16) < 0.3)
  }

  // MARK: No jumps

  private func read(
    _ level: LevelledSource, channels: Int = 2, until limit: Int = .max,
    during: (Int) -> Void = { _ in }
  ) throws -> [[Float]] {
    let input = PlanarSignal(channelCount: channels, frames: 1024)
    var all = [[Float]](repeating: [], count: channels)
    while all[0].count < limit {
      during(all[0].count)
      let count = try level.read(into: input.channels, frames: 1024)
      guard count > 0 else { break }
      for c in 0..<channels { all[c] += UnsafeBufferPointer(start: input[c], count: count) }
    }
    return all
  }

  private func levelled(_ source: any SoundSource, target: Double = -16) throws -> LevelledSource {
    var settings = RenderSettings()
    settings.busOrder = 1
    settings.loudness = target
    let filters = try Self.hrtf.filters(
      for: source.layout, settings: settings, sampleRate: Double(Self.rate))
    let level = Playback.levelled(
      source, from: source, filters: filters, settings: settings, patienceMilliseconds: 60_000,
      tell: { _ in })
    return try #require(level)
  }

  /// For a tone of constant loudness that can be opened only once, the gain moves slowly to its
  /// goal.
  @Test func aRunningMeasurementMovesTheGainSlowly() throws {
    let source = SignalSource(.stereo, tone(seconds: 30, level: 0.02), canBeOpenedAgain: false)
    let level = try levelled(source)
    let output = try read(level)
    // Compare the tone at its crests: a pilot beside it would affect the measurement.
    let ratios = stride(from: 12, to: output[0].count, by: 48).map {
      20 * log10(Double(output[0][$0]) / Double(source.channels[0][$0]))
    }
    for (before, after) in zip(ratios, ratios.dropFirst()) {
      #expect(abs(after - before) <= 0.001 + 2e-4)
    }
    #expect(abs((ratios.first ?? 0) + 2) < 0.01)
    let report = try #require(level.board.content.withLock { $0.report })
    #expect(report.origin == .running)
    #expect(abs((ratios.last ?? 0) - report.goal) < 0.1)
  }

  private func tone(seconds: Int, level: Float) -> [[Float]] {
    let wave = (0..<seconds * Self.rate).map { level * Float(sin(2 * .pi * Double($0) / 48)) }
    return [wave, wave]
  }

  @Test func aSeekKeepsTheGain() throws {
    let source = SignalSource(.stereo, tone(seconds: 20, level: 0.02), canBeOpenedAgain: false)
    let level = try levelled(source)
    func gain(_ output: [[Float]], at frame: Int, from start: Int) -> Double {
      20 * log10(Double(output[0][frame]) / Double(source.channels[0][start + frame]))
    }
    let before = try read(level, until: 6 * Self.rate)
    let last = (before[0].count - 48) / 48 * 48 + 12
    try level.seek(toFrame: 48_000)
    let after = try read(level, until: 4800)
    #expect(
      abs(gain(after, at: 12, from: 48_000) - gain(before, at: last, from: 0)) < 0.01)
  }

  @Test func aNewTargetIsApproachedSlowly() throws {
    let source = SignalSource(.stereo, tone(seconds: 20, level: 0.2))
    let level = try levelled(source)
    let output = try read(level) { frame in
      if frame < Self.rate { usleep(2000) }
      if frame == 4096 { level.board.content.withLock { $0.target = -22 } }
    }
    let ratios = stride(from: 12, to: output[0].count, by: 480).map {
      20 * log10(Double(output[0][$0]) / Double(source.channels[0][$0]))
    }
    for (before, after) in zip(ratios, ratios.dropFirst()) {
      #expect(abs(after - before) <= 0.01 + 2e-4)
    }
    #expect(abs((ratios.first ?? 0) - (ratios.last ?? 0) - 6) < 0.3)
  }

  /// During silence the gain may change at once.
  @Test func gainSettlesDuringInitialSilence() throws {
    var wave = tone(seconds: 12, level: 0.02)
    for c in 0..<2 { for i in 0..<2 * Self.rate { wave[c][i] = 0 } }
    let source = SignalSource(.stereo, wave)
    let output = try read(levelled(source)) { frame in if frame < 2 * Self.rate { usleep(20_000) } }
    let first = 20 * log10(Double(output[0][100_812] / wave[0][100_812]))
    let last = 20 * log10(Double(output[0][500_012] / wave[0][500_012]))
    #expect(abs(first - last) < 0.2)
  }

  // MARK: Peak limit

  @Test func extremeSignalsStayBelowTheCeiling() throws {
    let frames = 12 * Self.rate
    let square = (0..<frames).map { Float($0 / 60 % 2 == 0 ? 1 : -1) }
    var step = (0..<frames).map { 0.005 * Float(sin(2 * .pi * Double($0) / 97)) }
    for i in frames / 2..<frames { step[i] *= 100 }
    var broken = square.map { $0 * 0.25 }
    for i in stride(from: 1000, to: frames, by: 4999) {
      broken[i] = [Float.nan, .infinity, -.infinity, 1e30][i % 4]
    }
    let hot = square.map { $0 * 16 }
    for canBeOpenedAgain in [true, false] {
      for wave in [square, step, broken, hot] {
        let heard = try play(
          SignalSource(.stereo, [wave, wave], canBeOpenedAgain: canBeOpenedAgain))
        #expect(heard.ears.allSatisfy { $0.allSatisfy(\.isFinite) })
        let peak = heard.measured()?.truePeak ?? -.infinity
        #expect(peak <= -0.95, "\(peak) dBTP")
      }
    }
  }

  /// A step of 40 dB raises the output by at most 40 dB.
  @Test func levelStepIsNotAmplified() throws {
    let frames = 16 * Self.rate
    for canBeOpenedAgain in [true, false] {
      var step = (0..<frames).map { 0.004 * Float(sin(2 * .pi * Double($0) / 97)) }
      for i in frames / 2..<frames { step[i] *= 100 }
      let heard = try play(
        SignalSource(.stereo, [step, step], canBeOpenedAgain: canBeOpenedAgain))
      func level(_ range: Range<Int>) -> Double {
        10 * log10(range.reduce(0) { $0 + pow(Double(heard.ears[0][$1]), 2) } / 4800)
      }
      let border = frames / 2
      let (before, after) = (level(border - 4800..<border), level(border + 480..<border + 5280))
      #expect(after - before <= 40.2, "\(before) to \(after)")
    }
  }

  @Test func playerReportsItsLoudness() throws {
    try PrivatePulseServer.withServer { server in
      var options = PlayerOptions()
      options.serverAddress = server.address
      options.head = .none
      options.render.busOrder = 1
      options.render.loudness = -20
      let source = SignalSource(.stereo, tone(seconds: 3, level: 0.1))
      let player = try Player(options: options) { _ in source }
      try player.start()
      defer { player.stop() }
      for _ in 0..<4000 where player.status.loudness == nil { usleep(1000) }
      let report = try #require(player.status.loudness)
      #expect(report.goal.isFinite)
      #expect(player.loudnessTarget == -20)
      player.loudnessTarget = -26
      for _ in 0..<100 { usleep(1000) }
      #expect(player.loudnessTarget == -26)
      let hasEvent = player.takeEvents().contains { if case .loudness = $0 { true } else { false } }
      #expect(hasEvent)
    }
  }

  @Test func silenceStaysSilent() throws {
    let silence = [Float](repeating: 0, count: 2 * Self.rate)
    let heard = try play(SignalSource(.stereo, [silence, silence]))
    #expect(heard.ears.allSatisfy { $0.allSatisfy { $0 == 0 } })
  }

  @Test func disabledLoudnessReportsNothing() throws {
    #expect(try play(programme(.stereo, seconds: 2), target: nil).reports.isEmpty)
  }
}
