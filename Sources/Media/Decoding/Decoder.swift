// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

/// Decodes the packets of one track to float32 frames at the level that the codec's metadata
/// requests. Mutes invalid samples and rejects invalid frames.
///
/// `TrackDecoder` and `SegmentDecoder` add what differs between a file and a sequence of segments:
/// the position of a frame in time, and the replacement of a missing one.
final class Decoder {
  enum Step {
    /// A frame is ready for `append`.
    case frame
    /// The codec has accepted a packet.
    case packet
    /// The codec has rejected a packet.
    case refused
    /// The codec could not decode the packets it had accepted.
    case invalid
    /// The container is damaged.
    case damaged
    /// The container has no more packets.
    case noPacket
    case end
  }

  /// The call to make next.
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
    /// The frame was rejected, so `frames` are missing.
    case damage(frames: Int)
  }

  struct PacketFacts {
    /// Length in ticks of the container's clock; 0 if unknown.
    var duration: Int64 = 0
    var byteCount = 0
    /// Whether the packet ends within a PCM frame. The codec reports an error for the remainder,
    /// which can be ignored.
    var isFragment = false
  }

  /// Output of a lossy codec above this level (+30 dB) comes from damage.
  private static let lossyLimit: Float = 32

  private(set) var state = State.packets
  /// The packet that was sent to the codec last.
  private(set) var lastPacket = PacketFacts()
  private let codec: Codec
  private let packet: UnsafeMutablePointer<AVPacket>
  private var gain: AACGain
  private var fader = DropoutFader()
  private var remix: ChannelRemix?
  /// The layout to which frames with other channels are mixed.
  private var home = AVChannelLayout()

  /// - Throws: `MediaError.unplayable` if the codec rejects the track.
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
  /// Whether dialogue is decoded at the level that `dynamicRange` defines.
  var hasDialogueLevel: Bool { codec.hasDialogueLevel || gain.hasReference }

  /// The frame that `step` decoded last.
  var frame: UnsafeMutablePointer<AVFrame> { codec.frame }

  /// Number of channels of the frames that are currently mixed to the first layout; nil if they are
  /// not mixed.
  var mixedChannels: Int? { remix?.input.channels }

  /// Keeps the encoder delay in the decoded sound; the caller drops it.
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

  /// Signals the end of the packets to the codec, so that it returns the frames it still holds.
  func drain() { _ = codec.send(nil) }

  /// Ends decoding and abandons the rest.
  func end() { state = .end }

  /// Forgets the previous sound, as after a seek.
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

  /// Appends the frame to `queue`, which must be empty, converted to the number of channels of the
  /// queue. Rejects a frame whose sample rate is not `rate`, if that is given.
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
      // A custom map is owned by the frame.
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
