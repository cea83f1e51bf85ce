// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

/// Decodes the packets of one track to float32 frames and applies the level metadata of the stream.
/// Mutes invalid samples and rejects invalid frames.
///
/// `TrackDecoder` (for files) and `SegmentDecoder` (for sequences of segments) track the position
/// of each frame in time and replace missing frames with silence.
final class Decoder {
  enum Step {
    /// A frame is ready for `append`.
    case frame
    /// The codec has accepted a packet.
    case packet
    /// The codec has rejected a packet.
    case refused
    /// The codec could not decode a packet that it had accepted.
    case invalid
    /// The container is damaged at the current position; reading can continue.
    case damaged
    /// The container has no more packets.
    case noPacket
    case end
  }

  /// The next call that the decoder expects.
  enum State {
    /// Call `step` to decode packets.
    case packets
    /// Call `append` for the decoded frame.
    case frame
    case end
  }

  /// The result of appending a frame.
  enum Outcome {
    /// The frame was appended; some of its samples may have been muted.
    case sound(muted: DropoutFader.Muted)
    /// The `AVFrame` was rejected; `frames` is the number of samples per channel that it held.
    case damage(frames: Int)
  }

  struct PacketFacts {
    /// Duration in ticks of the stream's time base; 0 if unknown.
    var duration: Int64 = 0
    var byteCount = 0
    /// Whether the packet ends within a frame of lossless PCM. The codec may report an error for
    /// the incomplete frame; that error can be ignored.
    var isFragment = false
  }

  /// Samples of a lossy codec above this magnitude (+30 dBFS) can only come from damage.
  private static let lossyLimit: Float = 32

  private(set) var state = State.packets
  /// Properties of the packet that was last sent to the codec.
  private(set) var lastPacket = PacketFacts()
  private let codec: Codec
  private let packet: UnsafeMutablePointer<AVPacket>
  private var gain: AACGain
  private var fader = DropoutFader()
  private var remix: ChannelRemix?
  /// The layout to which frames with a different number of channels are mixed.
  private var home = AVChannelLayout()

  /// Opens the decoder of a track and selects the stream of the track in `demuxer`.
  ///
  /// - Throws: `MediaError.unplayable` if FFmpeg has no decoder for the track or the decoder cannot
  ///   be opened; `.openFailed` if memory runs out.
  init(
    _ demuxer: Demuxer, track: AudioTrack, dynamicRange: DynamicRange
  ) throws(MediaError) {
    codec = try Codec(demuxer, track: track, dynamicRange: dynamicRange)
    gain = AACGain(mode: dynamicRange)
    guard let packet = av_packet_alloc() else {
      throw .openFailed(path: demuxer.name, reason: "out of memory")
    }
    self.packet = packet
    home.nb_channels = Int32(track.channels)
    demuxer.select(stream: track.streamIndex)
  }

  deinit {
    var freeing: UnsafeMutablePointer<AVPacket>? = packet
    av_packet_free(&freeing)
  }

  var dynamicRange: DynamicRange { gain.mode }
  /// Whether dialogue is decoded at the level that `dynamicRange` defines. For AAC, the value is
  /// false until the stream has stated a reference level.
  var hasDialogueLevel: Bool { codec.hasDialogueLevel || gain.hasReference }

  /// The frame that `step` decoded last.
  var frame: UnsafeMutablePointer<AVFrame> { codec.frame }

  /// The number of channels of the decoded frames if they are mixed to the channels of the queue;
  /// nil if they are not mixed.
  var mixedChannels: Int? { remix?.input.channels }

  /// Makes the codec keep the encoder delay in its output. The caller must drop that delay.
  func leaveDelay() { codec.leaveDelay() }

  /// Advances decoding by at most one packet and returns what happened.
  ///
  /// - Throws: `.interrupted`, or the source's own error.
  func step(_ demuxer: Demuxer) throws(MediaError) -> Step {
    switch codec.receive() {
    case .frame:
      state = .frame
      return .frame
    case .end:
      end()
      return .end
    case .invalid: return .invalid
    case .needsPacket: break
    }
    switch try demuxer.next(into: packet) {
    case .damaged: return .damaged
    case .end: return .noPacket
    case .packet: break
    }
    defer { av_packet_unref(packet) }
    lastPacket = PacketFacts(
      duration: packet.pointee.duration, byteCount: max(0, Int(packet.pointee.size)),
      isFragment: codec.isFragment(packet))
    if codec.identifier == AV_CODEC_ID_AAC, let data = packet.pointee.data {
      gain.add(UnsafeBufferPointer(start: data, count: lastPacket.byteCount))
    }
    return codec.send(packet) ? .packet : .refused
  }

  /// Signals the end of the packets to the codec, which then returns the frames that it still
  /// holds.
  func drain() { _ = codec.send(nil) }

  /// Ends decoding. The remaining packets are not decoded.
  func end() { state = .end }

  /// Resets the decoder after a seek, so that earlier sound does not affect later frames.
  func flush() {
    state = .packets
    codec.flush()
    gain.cut()
    fader.reset()
  }

  func appendSilence(_ frames: Int, to queue: PlanarQueue) {
    queue.appendSilence(frames)
    fader.noteSilence()
  }

  /// Appends the decoded frame to `queue`, which must be empty, and mixes the frame to the number
  /// of channels of the queue if necessary. Rejects a frame that cannot be converted. Rejects a
  /// frame of a lossy codec if it contains NaN or a magnitude above +30 dBFS. If `rate` is given,
  /// also rejects a frame with another sample rate.
  func append(to queue: PlanarQueue, onlyAt rate: Int? = nil) -> Outcome {
    state = .packets
    let frames = Int(frame.pointee.nb_samples)
    guard rate == nil || rate == Int(frame.pointee.sample_rate), convert(into: queue) else {
      return .damage(frames: frames)
    }
    if codec.isLossy, !queue.isWithin(Self.lossyLimit) {
      queue.removeAll()
      return .damage(frames: frames)
    }
    gain.apply(to: queue)
    return .sound(muted: fader.apply(to: queue))
  }

  private func convert(into queue: PlanarQueue) -> Bool {
    let layout = frame.pointee.ch_layout
    guard (1...AudioTrack.maximumChannels).contains(Int(layout.nb_channels)) else { return false }
    guard Int(layout.nb_channels) != queue.channels else {
      remix = nil
      home.nb_channels = layout.nb_channels
      // A custom map belongs to the frame, so only native layouts can be kept.
      if layout.order == AV_CHANNEL_ORDER_NATIVE { home = layout }
      return queue.append(frame)
    }
    if remix?.input.channels != Int(layout.nb_channels) {
      remix = ChannelRemix(from: layout, to: home, sampleRate: frame.pointee.sample_rate)
    }
    guard let remix, remix.input.append(frame) else { return false }
    remix.process(into: queue)
    return true
  }
}
