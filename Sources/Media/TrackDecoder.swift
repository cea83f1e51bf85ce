// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CFFmpeg

/// One track as an unbroken run of frames: what does not decode or is missing becomes silence of
/// the same length, what is invalid is muted.
final class TrackDecoder {
  private static let silenceStep: Int64 = 4096
  /// Above this (+30 dB) the output of a lossy decoder is damage, not sound.
  private static let lossyLimit: Float = 32
  /// A damaged container that yields this many errors in a row has no more to give.
  private static let longestErrorRun = 1000

  /// In Hz, of the frames that the latest `fill` appended; the track's own until it changes.
  private(set) var sampleRate: Int
  /// False once timestamps no longer count frames, because the sample rate has changed.
  private(set) var isTimelineTrusted = true
  private(set) var clock: StreamClock
  var warnings: WarningCollector
  /// Of the first frame of AC-3 or E-AC-3; nil for other codecs.
  private(set) var syncframe: SyncframeHeader?
  /// Where channels are not mixed to the first ones: `fill` stops before a frame with others, and goes
  /// on after `beginRun`.
  var followsLayout = false
  /// What the channels of the next frames are, where `fill` has stopped before them.
  private(set) var nextRun: ChannelLayout?
  /// Whether dialogue is decoded at the level that the mode has for it.
  var hasDialogueLevel: Bool { syncframe != nil || aacGain.hasReference }

  private var aacGain: AACGain
  private let demuxer: Demuxer
  private let decoder: Decoder
  private let stream: UnsafeMutablePointer<AVStream>
  private let track: AudioTrack
  private let interrupt: InterruptFlag?
  private var packet: UnsafeMutablePointer<AVPacket>?
  private var finite = FiniteGuard()
  private var remix: (channels: Int, mixer: ChannelRemix, input: PlanarQueue)?
  private var home = AVChannelLayout()
  private var silenceDue: Int64 = 0
  private var isFrameHeld = false
  /// What the frames of the run say of themselves, and what the first frame of all said.
  private var runLabel = ChannelLayout.unknown(channels: 0)
  private var homeLabel = ChannelLayout.unknown(channels: 0)
  private var hasEnded = false
  private var errorRun = 0
  /// Whether the latest packet ends within a frame of PCM.
  private var isFragment = false
  /// Of the latest packet, in ticks; 0 if unknown.
  private var lastDuration: Int64 = 0
  private var lastPacketSize = 0
  /// Of packets that decoded, in bytes.
  private var meanPacketSize = 0.0
  /// Frames before this one are decoded and dropped, and not worth a warning.
  private var firstWanted: Int64 = 0

  /// - Throws: `MediaError.unplayable` when the decoder refuses the track.
  init(
    demuxer: Demuxer, track: AudioTrack, dynamicRange: DynamicRange, path: String,
    interrupt: InterruptFlag?, warnings: WarningCollector
  ) throws(MediaError) {
    self.demuxer = demuxer
    self.track = track
    self.interrupt = interrupt
    self.warnings = warnings
    aacGain = AACGain(mode: dynamicRange)
    stream = demuxer.streams[track.streamIndex]
    sampleRate = track.sampleRate
    clock = StreamClock(
      base: stream.pointee.time_base, sampleRate: track.sampleRate,
      countsPackets: demuxer.isBareStream)
    decoder = try Decoder(
      stream: stream, track: track, dynamicRange: dynamicRange, path: path)
    home.nb_channels = Int32(track.channels)
    packet = av_packet_alloc()
    demuxer.select(stream: track.streamIndex)
  }

  deinit { av_packet_free(&packet) }

  /// The stated length in frames; nil where it is not known or only guessed from the bit rate.
  var statedLength: Int64? {
    if let frames = track.statedFrames { return frames }
    guard demuxer.context.pointee.duration_estimation_method != AVFMT_DURATION_FROM_BITRATE,
      stream.pointee.duration != FF_NO_TIMESTAMP, stream.pointee.duration > 0
    else { return nil }
    return av_rescale_q(
      stream.pointee.duration, stream.pointee.time_base,
      AVRational(num: 1, den: Int32(track.sampleRate)))
  }

  /// Decodes the first frame and keeps it for `fill`; the track as that frame shows it.
  func prime() throws(MediaError) -> AudioTrack {
    while !isFrameHeld, !hasEnded { try decodeStep() }
    if isFrameHeld {
      homeLabel = ChannelLayout(decoder.frame.pointee.ch_layout)
      runLabel = homeLabel
    }
    return isFrameHeld ? track.corrected(by: decoder.frame) : track
  }

  /// Appends frames to `queue`, which must be empty; false at the end of the track. Nothing is appended
  /// where a new run begins (see `followsLayout`).
  ///
  /// - Throws: `.interrupted` and the source's errors.
  func fill(_ queue: PlanarQueue) throws(MediaError) -> Bool {
    while true {
      if interrupt?.isRaised == true { throw .interrupted }
      if silenceDue > 0 {
        appendSilence(queue)
      } else if isFrameHeld {
        if followsLayout, isNewRun() { return true }
        isFrameHeld = false
        appendFrame(queue)
      } else if hasEnded {
        return false
      } else {
        try decodeStep()
      }
      if queue.count > 0 { return true }
    }
  }

  /// Goes on with the run that `nextRun` tells of.
  func beginRun() {
    guard nextRun != nil else { return }
    runLabel = ChannelLayout(decoder.frame.pointee.ch_layout)
    nextRun = nil
  }

  /// The frame at the track's rate that the next one appended is.
  var nextFrame: Int64 { max(clock.position, firstWanted == .max ? 0 : firstWanted) }

  private func isNewRun() -> Bool {
    let label = ChannelLayout(decoder.frame.pointee.ch_layout)
    guard label != runLabel, (1...AudioTrack.maximumChannels).contains(label.channelCount) else {
      return false
    }
    // Channels without names are those from before, if they are as many.
    if case .unknown(runLabel.channelCount) = label { return false }
    nextRun = label == homeLabel ? track.layout : label
    return true
  }

  /// Makes `frame` the next one that `fill` appends.
  ///
  /// - Returns: false when the file must be opened anew for that.
  func seek(to frame: Int64) throws(MediaError) -> Bool {
    if frame >= clock.position, !hasEnded,
      frame - clock.position < 2 * Int64(track.sampleRate) || !clock.isSampleExact
    {
      firstWanted = frame
      return true
    }
    let start = frame - Self.preroll(sampleRate: track.sampleRate)
    guard start > 0, clock.isSampleExact, isTimelineTrusted,
      let timestamp = clock.timestamp(frame: start),
      demuxer.seek(stream: track.streamIndex, timestamp: timestamp)
    else { return false }
    return try settle(before: frame)
  }

  /// Drops what lies before `frame`, which is still to come.
  func skip(to frame: Int64) { firstWanted = frame }

  /// Longer than any codec's memory: Opus needs 80 ms, MP3 some frames of its bit reservoir.
  private static func preroll(sampleRate: Int) -> Int64 { max(16384, Int64(sampleRate) / 5) }

  private func settle(before frame: Int64) throws(MediaError) -> Bool {
    decoder.flush()
    aacGain.cut()
    finite.reset()
    silenceDue = 0
    isFrameHeld = false
    hasEnded = false
    firstWanted = .max
    while !isFrameHeld {
      guard !hasEnded else { return false }
      try decodeStep()
    }
    silenceDue = 0
    guard let position = clock.settle(at: decoder.frame.pointee.pts), position <= frame else {
      return false
    }
    firstWanted = frame
    return true
  }
}

extension TrackDecoder {
  private func decodeStep() throws(MediaError) {
    switch decoder.receive() {
    case .frame:
      noteGoodPacket()
      let timestamp = isTimelineTrusted ? decoder.frame.pointee.pts : FF_NO_TIMESTAMP
      let gap = clock.gap(before: timestamp)
      if gap.isUnexplained { warn(.missingAudio) }
      silenceDue = gap.frames
      isFrameHeld = true
    case .needsPacket: try sendPacket()
    case .invalid:
      errorRun += 1
      if !isFragment { losePacket() }
      if errorRun > Self.longestErrorRun { end() }
    case .end: end()
    }
  }

  private func sendPacket() throws(MediaError) {
    guard let packet else { return end() }
    switch try demuxer.next(into: packet) {
    case .end: _ = decoder.send(nil)
    case .damaged:
      errorRun += 1
      clock.noteDamage()
      if errorRun == 1 { warn(.corruptPackets) }
      if errorRun > Self.longestErrorRun { _ = decoder.send(nil) }
    case .packet:
      defer { av_packet_unref(packet) }
      guard Int(packet.pointee.stream_index) == track.streamIndex else { return }
      lastDuration = packet.pointee.duration
      lastPacketSize = Int(packet.pointee.size)
      isFragment = decoder.isFragment(packet)
      noteLevels(packet)
      if !decoder.send(packet), !isFragment { losePacket() }
    }
  }

  private func noteLevels(_ packet: UnsafeMutablePointer<AVPacket>) {
    guard let data = packet.pointee.data else { return }
    let bytes = UnsafeBufferPointer(start: data, count: max(0, Int(packet.pointee.size)))
    let codec = stream.pointee.codecpar.pointee.codec_id
    if codec == AV_CODEC_ID_AAC { aacGain.add(bytes) }
    guard syncframe == nil, Decoder.hasDialogueLevel(codec) else { return }
    syncframe = SyncframeHeader(bytes)
  }

  private func losePacket() {
    warn(.corruptPackets)
    let mean = max(1, meanPacketSize)
    let merged = demuxer.isBareStream ? (Double(lastPacketSize) / mean).rounded() : 1
    for _ in 0..<Int(min(max(1, merged), 100)) { clock.lose(duration: lastDuration) }
  }

  private func noteGoodPacket() {
    errorRun = 0
    let weight = meanPacketSize == 0 ? 1 : 0.05
    meanPacketSize += weight * (Double(lastPacketSize) - meanPacketSize)
  }

  private func end() {
    hasEnded = true
    silenceDue = clock.gapAtEnd()
    guard isTimelineTrusted, let length = statedLength else { return }
    let missing = length - clock.position - silenceDue
    // Some containers state whole packets.
    let tolerance = max(Int64(track.sampleRate) / 10, 2 * clock.lastFrameLength)
    if missing > tolerance, firstWanted <= clock.position {
      let rate = Double(track.sampleRate)
      warn(
        .truncated,
        detail: fixed(Double(clock.position) / rate, decimals: 2) + " of "
          + fixed(Double(length) / rate, decimals: 2) + " s")
    }
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
    queue.appendSilence(Int(frames))
    silenceDue -= frames
    finite.noteSilence()
    deliver(queue, isFrame: false)
  }

  private func appendFrame(_ queue: PlanarQueue) {
    let frame = decoder.frame
    noteRate(Int(frame.pointee.sample_rate))
    guard convert(frame, into: queue) else {
      clock.lose(duration: 0)
      warn(.corruptPackets)
      return
    }
    if decoder.isLossy, !(FiniteGuard.peak(of: queue, from: 0) <= Self.lossyLimit) {
      warn(.corruptPackets)
      silenceDue += Int64(queue.count)
      queue.removeAll()
      return
    }
    aacGain.apply(to: queue)
    let invalid = finite.apply(to: queue, from: 0)
    if invalid.count > 0 {
      warn(.invalidSamples, count: invalid.count, at: clock.position + Int64(invalid.first))
    }
    trimPadding(queue)
    deliver(queue, isFrame: true)
  }

  /// The last packet of an MP4 file may be stated shorter than what it decodes to.
  private func trimPadding(_ queue: PlanarQueue) {
    guard isTimelineTrusted, demuxer.format.hasPrefix("mov"), lastDuration > 0,
      let length = statedLength, clock.position + Int64(queue.count) > length
    else { return }
    let stated = clock.frames(ticks: lastDuration)
    queue.truncate(to: Int(max(0, stated, length - clock.position)))
  }

  /// Counts what was appended and drops what lies before the first frame wanted.
  private func deliver(_ queue: PlanarQueue, isFrame: Bool) {
    let start = clock.position
    clock.advance(Int64(queue.count), isFrame: isFrame)
    if start < firstWanted { queue.consume(Int(min(Int64(queue.count), firstWanted - start))) }
  }

  private func noteRate(_ rate: Int) {
    guard rate != sampleRate, AudioTrack.sampleRates.contains(rate) else { return }
    warn(.sampleRateChange, detail: "\(sampleRate) to \(rate) Hz")
    sampleRate = rate
    isTimelineTrusted = false
  }

  /// Remembers the channels that others are mixed to after a change.
  private func noteHome(_ layout: AVChannelLayout) {
    home.nb_channels = layout.nb_channels
    // A custom map belongs to the frame.
    guard layout.order == AV_CHANNEL_ORDER_NATIVE else { return }
    home = layout
  }

  private func convert(
    _ frame: UnsafeMutablePointer<AVFrame>, into queue: PlanarQueue
  ) -> Bool {
    let channels = Int(frame.pointee.ch_layout.nb_channels)
    guard (1...AudioTrack.maximumChannels).contains(channels) else { return false }
    if followsLayout { return SampleConversion.append(frame, to: queue) }
    guard channels != track.channels else {
      remix = nil
      noteHome(frame.pointee.ch_layout)
      return SampleConversion.append(frame, to: queue)
    }
    if remix?.channels != channels {
      warn(.channelChange, detail: "\(track.channels) to \(channels)")
      let mixer = ChannelRemix(
        from: frame.pointee.ch_layout, to: home,
        sampleRate: frame.pointee.sample_rate)
      remix = (channels, mixer, PlanarQueue(channels: channels))
    }
    guard let remix, SampleConversion.append(frame, to: remix.input) else { return false }
    remix.mixer.process(remix.input, into: queue)
    return true
  }
}
