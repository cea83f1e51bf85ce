// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import HLS

@Suite struct SegmentTests {
  private func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    let size = content.count + 8
    return (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) } + Array(type.utf8)
      + content
  }

  private func packets(_ count: Int) -> [UInt8] {
    (0..<count).flatMap { _ in [0x47] + [UInt8](repeating: 1, count: 187) }
  }

  /// An ID3 tag with this timestamp.
  private func tag(_ time: UInt64, version: UInt8 = 4) -> [UInt8] {
    let number = (0..<8).map { UInt8(truncatingIfNeeded: time >> (56 - 8 * $0)) }
    let content = Array("com.apple.streaming.transportStreamTimestamp\0".utf8) + number
    let frame = Array("PRIV".utf8) + [0, 0, 0, UInt8(content.count), 0, 0] + content
    return Array("ID3".utf8) + [version, 0, 0, 0, 0, 0, UInt8(frame.count)] + frame
  }

  @Test func formatIsDetectedFromTheFirstBytes() {
    #expect(SegmentFormat(packets(4)) == .transportStream)
    #expect(SegmentFormat(box("styp", [1]) + box("moof", [])) == .fragmentedMP4)
    #expect(SegmentFormat([0x0B, 0x77, 0, 0]) == .ac3)
    #expect(SegmentFormat(tag(0) + [0xFF, 0xF1, 0x50]) == .aac)
    #expect(SegmentFormat(tag(0) + tag(1) + [0xFF, 0xFB, 0x90]) == .mpegAudio)
    #expect(SegmentFormat(Array("<!DOCTYPE html><html>".utf8)) == nil)
    #expect(SegmentFormat(Array("#EXTM3U".utf8)) == nil)
    #expect(SegmentFormat([]) == nil && SegmentFormat([0x47]) == nil)
    #expect(SegmentFormat([UInt8](repeating: 0x47, count: 100)) == nil)
  }

  @Test func truncatedSegmentsAreDetected() {
    let whole = box("styp", [1, 2]) + box("moof", [3]) + box("mdat", [4, 5, 6])
    #expect(SegmentFormat.fragmentedMP4.problem(whole) == nil)
    let boundaries = [10, 10 + 9]
    for count in 1..<whole.count {
      let wanted =
        boundaries.contains(count)
        ? "the segment contains no complete fragment" : "the segment ends within a box"
      #expect(SegmentFormat.fragmentedMP4.problem(Array(whole.prefix(count))) == wanted)
    }
    #expect(SegmentFormat.transportStream.problem(packets(5)) == nil)
    #expect(
      SegmentFormat.transportStream.problem(packets(5) + [0x47])
        == "the segment ends within a transport packet")
    var shifted = packets(5)
    shifted[376] = 0
    #expect(
      SegmentFormat.transportStream.problem(shifted)
        == "a transport packet does not begin with the sync byte")
  }

  @Test func timestampsAreReadFromID3Tags() {
    #expect(ID3Tag.timestamp(tag(0x1_2345_6789)) == 0x1_2345_6789)
    #expect(ID3Tag.timestamp(tag(900, version: 3) + [0xFF]) == 900)
    #expect(ID3Tag.timestamp([0xFF, 0xF1]) == nil)
    let whole = tag(77)
    for count in 0..<whole.count { #expect(ID3Tag.timestamp(Array(whole.prefix(count))) == nil) }
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func randomBytesNeverCrashTheFormatChecks(seed: UInt64) {
    var random = SeededGenerator(seed)
    var bytes = tag(1) + box("moof", []) + packets(2)
    bytes = (0..<2000).map { i in
      random.chance() && i < bytes.count ? bytes[i] : UInt8.random(in: 0...255, using: &random)
    }
    if let format = SegmentFormat(bytes) { _ = format.problem(bytes) }
    _ = ID3Tag.timestamp(bytes)
    for format in SegmentFormat.allCases { _ = format.problem(bytes) }
  }

  /// Decrypts what `openssl` has encrypted.
  @Test func segmentsAreDecrypted() throws {
    let folder = TemporaryFolder()
    let (key, vector) = ((0..<16).map { UInt8($0 * 7) }, (0..<16).map { UInt8(255 - $0) })
    func hex(_ bytes: [UInt8]) -> String {
      bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
    for text in ["", "a", "exactly sixteen.", String(repeating: "sound ", count: 1000)] {
      try folder.write(text, to: "clear")
      _ = try ProgramRun.of(
        "openssl",
        [
          "enc", "-aes-128-cbc", "-K", hex(key), "-iv", hex(vector), "-in", folder.file("clear"),
          "-out", folder.file("secret"),
        ])
      let root = try #require(PresentationFolder(folder.path)).path
      let file = try LocalFile(
        path: root + "/secret", address: "", rules: AccessRules(.folder(root)))
      let encrypted = try file.read(ByteRange(offset: 0, length: file.size))
      let clear = try SegmentDecryption.decrypted(encrypted, key: key, vector: vector)
      #expect(clear == Array(text.utf8))
      #expect(throws: SegmentDecryption.Problem.keyLength(15)) {
        try SegmentDecryption.decrypted(encrypted, key: Array(key.dropLast()), vector: vector)
      }
      #expect(throws: SegmentDecryption.Problem.length(encrypted.count - 1)) {
        try SegmentDecryption.decrypted(Array(encrypted.dropLast()), key: key, vector: vector)
      }
    }
    #expect(throws: SegmentDecryption.Problem.vectorLength(15)) {
      try SegmentDecryption.decrypted(
        [UInt8](repeating: 0, count: 32), key: key, vector: Array(vector.dropLast()))
    }
    #expect(throws: SegmentDecryption.Problem.length(0)) {
      try SegmentDecryption.decrypted([], key: key, vector: vector)
    }
    #expect(throws: SegmentDecryption.Problem.padding) {
      try SegmentDecryption.decrypted(
        [UInt8](repeating: 0, count: 32), key: key, vector: vector)
    }
  }
}
