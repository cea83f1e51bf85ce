// SPDX-License-Identifier: Apache-2.0

public import Ambisonics

/// Writes a float32 WAV file while it is being made.
///
/// The file appears under its name only when `close` has succeeded. Until then it grows beside it
/// under a hidden name, with a header that is never more than a second of audio behind, so that
/// what a killed process leaves can be played. More than two channels are written as
/// WAVE_FORMAT_EXTENSIBLE, with a loudspeaker mask where all have one; beyond 4 GiB the file is an
/// RF64. A path that names a device or a FIFO is written directly.
///
/// libavformat's muxer is not used: it writes no header until the end and no mask of our layouts.
///
/// ## Threading
/// Used by one thread at a time.
public final class WAVWriter: @unchecked Sendable {
  /// Enough for an exported decoder of seventh order (two ears of 64 filters).
  public static let maximumChannels = 1024

  public let channels: Int
  /// Written until now.
  public private(set) var frames: Int64 = 0
  private let header: WAVHeader
  private let output: AtomicOutput
  private let sampleRate: Int
  private var framesAtHeader: Int64 = 0
  private let buffer: UnsafeMutableBufferPointer<Float>

  private static let bufferFrames = 4096

  /// - Parameters:
  ///   - path: is replaced at `close`; its folder must exist.
  ///   - layout: of the channels, in order; loudspeakers are labelled in the file.
  ///   - sampleRate: in Hz.
  /// - Throws: `MediaError.writeFailed`, `.writerFormat`, `.isDirectory`.
  public init(path: String, layout: ChannelLayout, sampleRate: Int) throws(MediaError) {
    let channels = layout.channelCount
    guard (1...Self.maximumChannels).contains(channels), (1...4_294_967).contains(sampleRate) else {
      throw .writerFormat(channels: channels, sampleRate: sampleRate)
    }
    self.channels = channels
    self.sampleRate = sampleRate
    header = WAVHeader(channels: channels, sampleRate: sampleRate, layout: layout)
    output = try AtomicOutput(path: path)
    buffer = .allocate(capacity: channels * Self.bufferFrames)
    buffer.initialize(repeating: 0)
    // What cannot be corrected later says "until the end".
    let first = output.isSeekable ? 0 : Int64(UInt32.max) / Int64(channels * 4) - 1
    try output.append(header.bytes(frames: first))
  }

  /// A file that was not closed is removed.
  deinit { buffer.deallocate() }

  /// Appends channels x frames, one plane a channel.
  ///
  /// - Throws: `MediaError.writeFailed`; the file is then gone.
  public func write(
    planar: UnsafePointer<UnsafePointer<Float>>, frames count: Int
  ) throws(MediaError) {
    var done = 0
    while done < count {
      let step = min(Self.bufferFrames, count - done)
      for channel in 0..<channels {
        let plane = planar[channel] + done
        var index = 0
        while index < step {
          // Stored little-endian, as is every machine that this runs on.
          buffer[index * channels + channel] = plane[index]
          index += 1
        }
      }
      let bytes = UnsafeRawBufferPointer(start: buffer.baseAddress, count: step * channels * 4)
      try output.append(bytes)
      done += step
      frames += Int64(step)
    }
    if frames - framesAtHeader >= Int64(sampleRate) { try updateHeader() }
  }

  /// As `write(planar:frames:)`, for planes that may be written to.
  public func write(
    planar: UnsafePointer<UnsafeMutablePointer<Float>>, frames count: Int
  ) throws(MediaError) {
    try UnsafeRawPointer(planar).withMemoryRebound(
      to: UnsafePointer<Float>.self, capacity: channels
    ) { planes throws(MediaError) in try write(planar: planes, frames: count) }
  }

  /// Completes the file and gives it its name. Nothing may be written afterwards.
  ///
  /// - Throws: `MediaError.writeFailed`; the file is then gone.
  public func close() throws(MediaError) {
    try updateHeader()
    try output.commit()
  }

  /// Removes the file; one that stood under its name before stays as it was.
  public func abort() { output.abandon() }

  private func updateHeader() throws(MediaError) {
    framesAtHeader = frames
    guard output.isSeekable else { return }
    try output.overwriteStart(header.bytes(frames: frames))
  }
}

extension WAVWriter {
  /// Appends frames x channels, sample by sample in turn.
  ///
  /// - Throws: `MediaError.writeFailed`; the file is then gone.
  public func write(interleaved samples: [Float]) throws(MediaError) {
    precondition(
      samples.count.isMultiple(of: channels),
      "\(samples.count) samples are no frames of \(channels) channels")
    let count = samples.count / channels
    let memory = UnsafeMutablePointer<Float>.allocate(capacity: max(1, samples.count))
    let planes = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: channels)
    defer {
      planes.deallocate()
      memory.deallocate()
    }
    for channel in 0..<channels {
      (planes + channel).initialize(to: memory + channel * count)
      for frame in 0..<count {
        (planes[channel] + frame).initialize(to: samples[frame * channels + channel])
      }
    }
    try write(planar: UnsafePointer(planes), frames: count)
  }
}
