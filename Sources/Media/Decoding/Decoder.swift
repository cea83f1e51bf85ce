// SPDX-License-Identifier: Apache-2.0

import CFFmpeg

/// Turns the packets of one track into float32 frames at the level that their codec asks for.
/// Samples that cannot be sound are muted; frames that cannot be sound are refused.
///
/// `TrackDecoder` and `SegmentDecoder` add what differs between a file and a row of segments: where
/// a frame lies in time, and what takes the place of a missing one.
final class Decoder {
  enum Step {
    /// A frame is ready for `append`.
    case frame
    /// The codec has taken a packet.
    case packet
    /// The codec has refused a packet.
    case refused
    /// The codec could not decode what it had taken.
    case invalid
    /// The container is damaged.
    case damaged
    /// The container has no more packets.
    case noPacket
    case end
  }

  /// What to go on with.
  enum State {
    /// Packets are to be decoded: `step`.
    case packets
    /// A frame is decoded: `append`.
    case frame
    case end
  }

  /// What became of a frame.
  enum Outcome {
    /// It was appended; some of its samples may have been muted.
    case sound(muted: DropoutFader.Muted)
    /// It was refused; `frames` are missing in its place.
    case damage(frames: Int)
  }

  struct PacketFacts {
    /// Length in ticks of the container's clock; 0 if unknown.
    var duration: Int64 = 0
    var byteCount = 0
    /// Whether it ends within a frame of PCM; the codec complains of the rest, which is nothing.
    var isFragment = false
  }

  /// Above this (+30 dB) the output of a lossy codec is damage, not sound.
  private static let lossyLimit: Float = 32

  private(set) var state = State.packets
  /// The packet that the codec was given last.
  private(set) var lastPacket = PacketFacts()
  private let codec: Codec
  private let packet: UnsafeMutablePointer<AVPacket>
  private var gain: AACGain
  private var fader = DropoutFader()
  private var remix: ChannelRemix?
  /// The layout that frames with other channels are mixed to.
  private var home = AVChannelLayout()

  /// - Throws: `MediaError.unplayable` when the codec refuses the track.
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
  /// Whether dialogue is decoded at the level that `dynamicRange` has for it.
  var hasDialogueLevel: Bool { codec.hasDialogueLevel || gain.hasReference }

  /// The frame that `step` decoded last.
  var frame: UnsafeMutablePointer<AVFrame> { codec.frame }

  /// How many channels frames have that are mixed to those of the first frames; nil: they are not.
  var mixedChannels: Int? { remix?.input.channels }

  /// Leaves an encoder's delay in the sound: the caller drops it.
  func leaveDelay() { codec.leaveDelay() }

  /// Decodes on by at most one packet.
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

  /// Makes the codec give what it still holds: no packet follows.
  func drain() { _ = codec.send(nil) }

  /// Gives up what may follow.
  func end() { state = .end }

  /// Forgets what came before, as after a seek.
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

  /// Appends the frame to `queue`, which is empty, in the queue's number of channels. A frame of
  /// another sample rate than `rate` is refused.
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
      // A custom map belongs to the frame.
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
