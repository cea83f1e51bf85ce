// SPDX-License-Identifier: Apache-2.0

import Media

/// A FLAC file with 24 bits per sample (RFC 9639).
///
/// A truncated file can be played up to its last complete FLAC frame. STREAMINFO is updated
/// after every segment. Its checksum is 0 (unknown) until the recording is complete.
final class FLACBody: RecordingBody {
  let segmentSeconds = 0.5
  private(set) var storedFrames: Int64 = 0
  private let format: RecordingFormat
  private let encoder: AudioEncoder
  private let path: String
  /// Samples that do not yet fill a FLAC frame: frames x channels.
  private var rest: [Float] = []

  /// The offset of STREAMINFO in the file, in bytes.
  private static let informationOffset: Int64 = 8

  /// Opens the encoder.
  ///
  /// - Parameter path: the path of the file, which is used only in errors.
  /// - Throws: `RecordingError.encodingFailed` if the encoder cannot be opened.
  init(_ format: RecordingFormat, path: String) throws(RecordingError) {
    self.format = format
    self.path = path
    do {
      encoder = try AudioEncoder(.flac, channels: format.channels, sampleRate: format.sampleRate)
    } catch { throw .encodingFailed(path: path, reason: error.reason) }
  }

  func begin(_ output: RecordingOutput) throws(RecordingError) {
    let information = information(isFinal: false)
    let comments = comments
    var start = Array("fLaC".utf8) + [0, 0, 0, UInt8(information.count)] + information
    start += [0x84, 0] + big(comments.count, bytes: 2) + comments
    try output.append(start)
  }

  func write(_ segment: RecordingSegment, to output: RecordingOutput) throws(RecordingError) {
    rest += segment.samples
    let step = encoder.packetFrames * format.channels
    var done = 0
    var bytes: [UInt8] = []
    while rest.count - done >= step {
      bytes += try encode(rest[done..<done + step])
      done += step
    }
    rest.removeFirst(done)
    try store(bytes, frames: done / format.channels, in: output)
  }

  func finish(
    _ output: RecordingOutput, tuning: String, isWhole: Bool
  ) throws(RecordingError) {
    guard isWhole else { return }
    var bytes = rest.isEmpty ? [] : try encode(rest[...])
    bytes += try attempt { () throws(AudioEncoder.Failure) in try encoder.drain() }.flatMap(\.self)
    try store(bytes, frames: rest.count / format.channels, in: output)
    try output.patch(information(isFinal: true), at: Self.informationOffset)
  }

  private func store(
    _ bytes: [UInt8], frames: Int, in output: RecordingOutput
  ) throws(RecordingError) {
    try output.append(bytes)
    storedFrames += Int64(frames)
    try output.patch(information(isFinal: false), at: Self.informationOffset)
  }

  private func encode(_ samples: ArraySlice<Float>) throws(RecordingError) -> [UInt8] {
    try attempt { () throws(AudioEncoder.Failure) in
      try encoder.encode(frames: samples.count / format.channels) { planes in
        let first = UnsafeMutableRawPointer(planes[0]!).assumingMemoryBound(to: Int32.self)
        for (index, sample) in samples.enumerated() { first[index] = Int32(sample * 0x1p23) << 8 }
      }
    }.flatMap(\.self)
  }

  private func attempt<Result>(
    _ body: () throws(AudioEncoder.Failure) -> Result
  ) throws(RecordingError) -> Result {
    do { return try body() } catch { throw .encodingFailed(path: path, reason: error.reason) }
  }

  /// Returns STREAMINFO (RFC 9639, section 8.2) with the number of stored frames. Unless `isFinal`
  /// is true, the checksum and the minimum and maximum sizes of a FLAC frame are 0 (unknown).
  private func information(isFinal: Bool) -> [UInt8] {
    var information = encoder.header
    guard !isFinal, information.count == 34 else { return information }
    // The field for the number of frames has 36 bits. The upper 4 bits share a byte with a part of
    // the number of bits per sample. The value 0 means that the number of frames is unknown.
    let total = storedFrames < 1 << 36 ? storedFrames : 0
    information.replaceSubrange(4..<10, with: [UInt8](repeating: 0, count: 6))
    information[13] = information[13] & 0xF0 | UInt8(total >> 32)
    information.replaceSubrange(14..<18, with: big(Int(total & 0xFFFF_FFFF), bytes: 4))
    information.replaceSubrange(18..<34, with: [UInt8](repeating: 0, count: 16))
    return information
  }

  /// The content of the VORBIS_COMMENT block (RFC 9639, section 8.6). For more than two channels,
  /// it states the channel mask. The mask 0 means that no channel has a loudspeaker position.
  private var comments: [UInt8] {
    var comments: [String] = []
    if format.channels > 2 {
      let mask = String(format.layout.waveMask ?? 0, radix: 16)
      comments.append("WAVEFORMATEXTENSIBLE_CHANNEL_MASK=0x" + mask)
    }
    func field(_ text: String) -> [UInt8] { little(text.utf8.count) + text.utf8 }
    return field("Stillstage") + little(comments.count) + comments.flatMap(field)
  }

  private func big(_ value: Int, bytes: Int) -> [UInt8] {
    (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private func little(_ value: Int) -> [UInt8] { big(value, bytes: 4).reversed() }
}
