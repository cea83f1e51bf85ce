// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CFFmpeg

/// Decodes one track of a file into continuous frames. Silence replaces missing sound.
final class TrackDecoder {
  private static let silenceStep: Int64 = 4096
  /// The largest number of consecutive errors that are tolerated.
  private static let longestErrorRun = 1000

  /// The sample rate of the frames that `fill` last appended, in Hz; at first, the rate of the
  /// track.
  private(set) var sampleRate: Int
  private(set) var clock: StreamClock
  var warnings: WarningCollector
  var runs = LayoutRuns()
  let demuxer: Demuxer
  let decoder: Decoder
  private let track: AudioTrack
  private var losses = PacketLosses()
  private var silenceDue: Int64 = 0
  /// The first wanted frame. Earlier frames are dropped without a warning.
  private var firstWanted: Int64 = 0

  /// Opens the decoder of `track`.
  ///
  /// - Throws: `MediaError.unplayable` if no decoder can be opened; `.openFailed` if no packet can
  ///   be allocated.
  init(
    _ demuxer: Demuxer, track: AudioTrack, dynamicRange: DynamicRange, warnings: WarningCollector
  ) throws(MediaError) {
    self.demuxer = demuxer
    self.track = track
    self.warnings = warnings
    sampleRate = track.sampleRate
    clock = StreamClock(
      base: demuxer.streams[track.streamIndex].pointee.time_base, sampleRate: track.sampleRate,
      countsPackets: demuxer.isBareStream)
    decoder = try Decoder(demuxer, track: track, dynamicRange: dynamicRange)
  }

  /// Returns a new decoder of `track` at the start of the reopened file.
  ///
  /// - Throws: `.trackLost` if the file no longer has the track; the errors of `init` and of
  ///   opening and reading the file.
  func restarted(as track: AudioTrack) throws(MediaError) -> TrackDecoder {
    let demuxer = try Demuxer(reopening: demuxer)
    guard demuxer.streams.indices.contains(track.streamIndex) else {
      throw .trackLost(path: demuxer.name)
    }
    let fresh = try TrackDecoder(
      demuxer, track: track, dynamicRange: decoder.dynamicRange, warnings: warnings)
    fresh.runs.areFollowed = runs.areFollowed
    _ = try fresh.prime()
    return fresh
  }

  /// The stated length, in frames at the track's rate; nil if it is unknown or only estimated.
  var statedLength: Int64? {
    if let frames = track.statedFrames { return frames }
    guard demuxer.context.pointee.duration_estimation_method != AVFMT_DURATION_FROM_BITRATE,
      let duration = demuxer.selected?.pointee.duration, duration != FF_NO_TIMESTAMP, duration > 0
    else { return nil }
    return clock.frames(ticks: duration)
  }

  /// Decodes the first frame and keeps it for `fill`. Returns the track, corrected by that frame;
  /// unchanged if no frame decodes.
  func prime() throws(MediaError) -> AudioTrack {
    try decodeFrame()
    guard decoder.state == .frame else { return track }
    // In a fragmented movie, libavformat subtracts the encoder delay from the timestamps but leaves
    // the delay in the sound. The frames before 0 are dropped.
    if demuxer.format == .quickTime { clock.startEarly(at: decoder.frame.pointee.pts) }
    runs.begin(with: ChannelLayout(decoder.frame.pointee.ch_layout))
    return track.corrected(by: decoder.frame)
  }

  /// Appends frames to `queue`, which must be empty. Returns false at the end of the track. At a
  /// new run, returns true without appending anything.
  ///
  /// - Throws: `.interrupted` and the errors of the source.
  func fill(_ queue: PlanarQueue) throws(MediaError) -> Bool {
    while queue.count == 0 {
      if demuxer.isInterrupted { throw .interrupted }
      if silenceDue > 0 {
        appendSilence(queue)
        continue
      }
      switch decoder.state {
      case .packets: try decodeStep()
      case .frame:
        if runs.isEnded(by: decoder.frame, of: track) { return true }
        appendFrame(queue)
      case .end: return false
      }
    }
    return true
  }

  func beginRun() { runs.beginNext(with: ChannelLayout(decoder.frame.pointee.ch_layout)) }

  /// The index of the next frame that `fill` appends, at the track's rate.
  var nextFrame: Int64 { max(clock.position, firstWanted == .max ? 0 : firstWanted) }

  /// Makes `frame`, at the track's rate, the next frame that `fill` appends.
  ///
  /// - Returns: false if the file must be reopened to reach `frame`.
  func seek(to frame: Int64) throws(MediaError) -> Bool {
    if frame >= clock.position, decoder.state != .end,
      frame - clock.position < 2 * Int64(track.sampleRate) || !clock.isSampleExact
    {
      firstWanted = frame
      return true
    }
    let start = frame - Self.preroll(sampleRate: track.sampleRate)
    guard start > 0, clock.isSampleExact, clock.isTrusted,
      let timestamp = clock.timestamp(frame: start), demuxer.seek(timestamp: timestamp)
    else { return false }
    return try settle(before: frame)
  }

  /// Makes `fill` drop the frames before `frame`.
  func skip(to frame: Int64) { firstWanted = frame }

  /// Returns the number of frames to decode before the target of a seek. Opus needs 80 ms. MP3
  /// needs a few packets because of its bit reservoir.
  private static func preroll(sampleRate: Int) -> Int64 { max(16384, Int64(sampleRate) / 5) }

  private func settle(before frame: Int64) throws(MediaError) -> Bool {
    decoder.flush()
    runs.next = nil
    firstWanted = .max
    try decodeFrame()
    silenceDue = 0
    guard decoder.state == .frame, let position = clock.settle(at: decoder.frame.pointee.pts),
      position <= frame
    else { return false }
    firstWanted = frame
    return true
  }
}

extension TrackDecoder {
  private func decodeFrame() throws(MediaError) {
    while decoder.state == .packets { try decodeStep() }
  }

  private func decodeStep() throws(MediaError) {
    switch try decoder.step(demuxer) {
    case .frame:
      losses.noteFrame(decoder.lastPacket)
      let gap = clock.gap(before: decoder.frame.pointee.pts)
      if gap.isUnexplained { warn(.missingAudio) }
      silenceDue = gap.frames
    case .packet: break
    case .refused: losePacket()
    case .invalid:
      losses.errorRun += 1
      losePacket()
      if losses.errorRun > Self.longestErrorRun { end() }
    case .damaged:
      losses.errorRun += 1
      clock.noteDamage()
      if losses.errorRun == 1 { warn(.corruptPackets) }
      if losses.errorRun > Self.longestErrorRun { decoder.drain() }
    case .noPacket: decoder.drain()
    case .end: end()
    }
  }

  private func losePacket() {
    let packet = decoder.lastPacket
    guard !packet.isFragment else { return }
    warn(.corruptPackets)
    let count = demuxer.isBareStream ? losses.frames(in: packet) : 1
    for _ in 0..<count { clock.lose(duration: packet.duration) }
  }

  private func end() {
    decoder.end()
    silenceDue = clock.gapAtEnd()
    guard clock.isTrusted, let length = statedLength else { return }
    let missing = length - clock.position - silenceDue
    // Some containers round the length up to whole packets.
    let tolerance = max(Int64(track.sampleRate) / 10, 2 * clock.lastFrameLength)
    guard missing > tolerance, firstWanted <= clock.position else { return }
    let seconds = [clock.position, length].map {
      fixed(Double($0) / Double(track.sampleRate), decimals: 2)
    }
    warn(.truncated, detail: "\(seconds[0]) of \(seconds[1]) s")
  }

  private func warn(
    _ kind: MediaWarning.Kind, count: Int = 1, at frame: Int64? = nil, detail: String = ""
  ) {
    let frame = frame ?? clock.position
    guard frame >= firstWanted else { return }
    warnings.add(
      kind, at: Double(frame) / Double(track.sampleRate), count: count, detail: detail)
  }

  private func appendSilence(_ queue: PlanarQueue) {
    let frames = min(silenceDue, Self.silenceStep)
    decoder.appendSilence(Int(frames), to: queue)
    silenceDue -= frames
    deliver(queue, isFrame: false)
  }

  private func appendFrame(_ queue: PlanarQueue) {
    noteRate(Int(decoder.frame.pointee.sample_rate))
    let mixed = decoder.mixedChannels
    let outcome = decoder.append(to: queue)
    if let channels = decoder.mixedChannels, channels != mixed {
      warn(.channelChange, detail: "\(track.channels) to \(channels)")
    }
    switch outcome {
    case .damage(let frames):
      warn(.corruptPackets)
      silenceDue += Int64(frames)
    case .sound(let muted):
      if muted.count > 0 {
        warn(.invalidSamples, count: muted.count, at: clock.position + Int64(muted.first))
      }
      trimPadding(queue)
      deliver(queue, isFrame: true)
    }
  }

  /// Trims the padding at the end of an MP4 file: the frames beyond the stated length, unless the
  /// duration of the packet includes them.
  private func trimPadding(_ queue: PlanarQueue) {
    let ticks = decoder.lastPacket.duration
    guard clock.isTrusted, demuxer.format == .quickTime, ticks > 0,
      let length = statedLength, clock.position + Int64(queue.count) > length
    else { return }
    queue.truncate(to: Int(max(0, clock.frames(ticks: ticks), length - clock.position)))
  }

  /// Advances the clock by the appended frames and drops the frames before `firstWanted`.
  private func deliver(_ queue: PlanarQueue, isFrame: Bool) {
    let start = clock.position
    clock.advance(Int64(queue.count), isFrame: isFrame)
    if start < firstWanted { queue.consume(Int(min(Int64(queue.count), firstWanted - start))) }
  }

  private func noteRate(_ rate: Int) {
    guard rate != sampleRate, AudioTrack.sampleRates.contains(rate) else { return }
    warn(.sampleRateChange, detail: "\(sampleRate) to \(rate) Hz")
    sampleRate = rate
    clock.distrust()
  }
}

/// Counts decoding errors, and estimates how many regular packets a damaged packet contains.
private struct PacketLosses {
  /// The number of errors since the last frame that decoded; packets that the codec refused do not
  /// count.
  var errorRun = 0
  /// The moving average of the size of decoded packets, in bytes.
  private var meanByteCount = 0.0

  mutating func noteFrame(_ packet: Decoder.PacketFacts) {
    errorRun = 0
    let weight = meanByteCount == 0 ? 1 : 0.05
    meanByteCount += weight * (Double(packet.byteCount) - meanByteCount)
  }

  /// Returns the estimated number of regular packets that a damaged packet contains, 1 to 100.
  func frames(in packet: Decoder.PacketFacts) -> Int {
    let frames = (Double(packet.byteCount) / max(1, meanByteCount)).rounded()
    return Int(min(max(1, frames), 100))
  }
}
