// SPDX-License-Identifier: Apache-2.0

public import Ambisonics

/// Writes a float32 WAV file incrementally.
///
/// The data goes to a hidden file in the folder of the output file. `close` gives the hidden file
/// the requested name. After every call to `write`, the length stated in its header is less than
/// one second shorter than the audio. A file larger than 4 GiB is an RF64 file. A device or FIFO is
/// written directly.
///
/// ## Threading
/// Use a writer from one thread at a time.
public final class WAVWriter: @unchecked Sendable {
  /// The largest number of channels that `init` accepts.
  public static let maximumChannels = 1024

  public let channels: Int
  /// The number of frames written so far.
  public private(set) var frames: Int64 = 0
  private let header: WAVHeader
  private let output: AtomicOutput
  private let sampleRate: Int
  private var framesAtHeader: Int64 = 0
  private let buffer: UnsafeMutableBufferPointer<Float>

  private static let bufferFrames = 4096
  /// An upper limit of the header length, in bytes.
  private static let headerRoom: Int64 = 4096

  /// Creates the unfinished file, or opens a device or FIFO, and writes the first header.
  ///
  /// - Parameters:
  ///   - path: the path of the file in an existing folder.
  ///   - layout: the layout of the channels. If it consists of more than two loudspeakers in WAVE
  ///     order, the header labels them with a mask.
  ///   - sampleRate: the sample rate in Hz, 1 to 4294967.
  /// - Throws: `MediaError.writerFormat` if the number of channels or the sample rate is out of
  ///   range; `.isDirectory` if `path` is a directory; `.writeFailed` if the file cannot be
  ///   written.
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
    // The header of a device or FIFO cannot be updated, so it states a length of almost 4 GiB.
    let first = output.isSeekable ? 0 : (Int64(UInt32.max) - Self.headerRoom) / Int64(channels * 4)
    try output.append(header.bytes(frames: first))
  }

  /// `output` removes a file that was not closed.
  deinit { buffer.deallocate() }

  /// Appends `count` frames from one plane per channel.
  ///
  /// - Throws: `MediaError.writeFailed`, after removing the unfinished file.
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
          // Samples are stored little-endian, the byte order of every supported machine.
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

  /// Appends frames from mutable planes. Throws the errors of the other overload.
  public func write(
    planar: UnsafePointer<UnsafeMutablePointer<Float>>, frames count: Int
  ) throws(MediaError) {
    try UnsafeRawPointer(planar).withMemoryRebound(
      to: UnsafePointer<Float>.self, capacity: channels
    ) { planes throws(MediaError) in try write(planar: planes, frames: count) }
  }

  /// Completes the file and gives it the requested name.
  ///
  /// - Throws: `MediaError.writeFailed`, after removing the unfinished file.
  public func close() throws(MediaError) {
    try updateHeader()
    try output.commit()
  }

  /// Removes the unfinished file. An existing file with the requested name stays unchanged.
  public func abort() { output.abandon() }

  private func updateHeader() throws(MediaError) {
    framesAtHeader = frames
    guard output.isSeekable else { return }
    try output.overwriteStart(header.bytes(frames: frames))
  }
}

extension WAVWriter {
  /// Appends complete frames of interleaved samples.
  ///
  /// - Throws: `MediaError.writeFailed`, after removing the unfinished file.
  public func write(interleaved samples: [Float]) throws(MediaError) {
    precondition(
      samples.count.isMultiple(of: channels),
      "\(samples.count) samples are not a whole number of \(channels)-channel frames")
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
