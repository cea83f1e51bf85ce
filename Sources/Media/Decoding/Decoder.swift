// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

/// Decodes the packets of one track to float32 samples and applies the stream's level metadata.
/// Rejects damaged frames and mutes invalid samples in the other frames.
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

  /// The call that the decoder expects next; none in `end`.
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
    /// The frame was rejected; `frames` is its length in samples per channel.
    case damage(frames: Int)
  }

  struct PacketFacts {
    /// The duration in ticks of the stream's time base; 0 if unknown.
    var duration: Int64 = 0
    var byteCount = 0
    /// Whether the packet holds lossless PCM and ends in the middle of a frame.
    var isFragment = false
  }

  /// The largest sample magnitude that is accepted from a lossy codec (+30 dBFS). A frame with a
  /// larger sample counts as damaged.
  private static let lossyLimit: Float = 32

  private(set) var state = State.packets
  /// The properties of the last packet read.
  private(set) var lastPacket = PacketFacts()
  private let codec: Codec
  private let packet: UnsafeMutablePointer<AVPacket>
  private var gain: AACGain
  private var fader = DropoutFader()
  private var remix: ChannelRemix?
  /// The layout to which a frame is mixed if its number of channels differs from the queue's.
  private var home = AVChannelLayout()

  /// Opens a decoder for a track and selects the track's stream in `demuxer`.
  ///
  /// - Throws: `MediaError.unplayable` if no decoder can be opened; `.openFailed` if no packet can
  ///   be allocated.
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
  /// Whether dialogue is decoded at the level that `dynamicRange` defines. For AAC, this requires a
  /// reference level in the stream.
  var hasDialogueLevel: Bool { codec.hasDialogueLevel || gain.hasReference }

  /// The `AVFrame` that `step` decoded last.
  var frame: UnsafeMutablePointer<AVFrame> { codec.frame }

  /// The number of channels that the latest appended frame had before mixing; nil if that frame was
  /// not mixed.
  var mixedChannels: Int? { remix?.input.channels }

  /// Makes the codec keep the encoder delay and padding in its output.
  func leaveDelay() { codec.leaveDelay() }

  /// Advances decoding by at most one packet.
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

  /// Signals the end of the packets to the codec.
  func drain() { _ = codec.send(nil) }

  func end() { state = .end }

  /// Resets the decoder after a seek.
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

  /// Appends the decoded frame to `queue`, which must be empty. Mixes the frame to the queue's
  /// number of channels.
  ///
  /// Rejects a frame that cannot be converted. If `rate` is given, rejects a frame with another
  /// sample rate. If the codec is lossy, rejects a frame with NaN or with a magnitude above
  /// `lossyLimit`.
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
      // The frame owns the channel map of a custom layout, so only a native layout can be kept.
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
