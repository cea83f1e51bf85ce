// SPDX-License-Identifier: Apache-2.0

import CFFmpeg
import Testing

@testable import Media

/// Small movies that state many samples.
@Suite struct AmplifyingMovieTests {
  /// A movie with one track of timed metadata, whose chunks all have the same bytes.
  private struct MetadataMovie {
    /// The bytes of a chunk.
    var chunk: [UInt8]
    var sampleSize: Int
    var samplesPerChunk: Int
    var chunks: Int

    private var samples: Int { samplesPerChunk * chunks }

    var bytes: [UInt8] {
      let type = atom("ftyp", Array("qt  ".utf8) + big(0, 4) + Array("qt  ".utf8))
      return type + atom("mdat", chunk) + movie(offset: type.count + 8)
    }

    private func movie(offset: Int) -> [UInt8] {
      let matrix = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000].flatMap { big($0, 4) }
      let movieHeader =
        big(0, 12) + big(600, 4) + big(600, 4) + big(0x10000, 4) + big(0x100, 2) + big(0, 10)
        + matrix + big(0, 24) + big(2, 4)
      let trackHeader =
        big(3, 4) + big(0, 8) + big(1, 4) + big(0, 4) + big(600, 4) + big(0, 16) + matrix
        + big(0, 8)
      let handler = big(0, 4) + Array("mhlrmeta".utf8) + big(0, 13)
      let information =
        atom("gmhd", atom("gmin", big(0, 16)))
        + atom("dinf", atom("dref", big(0, 4) + big(1, 4) + atom("url ", big(1, 4))))
        + atom("stbl", sampleTable(offset: offset))
      let media =
        atom("mdhd", big(0, 12) + big(600, 4) + big(600, 4) + big(0, 4)) + atom("hdlr", handler)
        + atom("minf", information)
      let track = atom("tkhd", trackHeader) + atom("mdia", media)
      return atom("moov", atom("mvhd", movieHeader) + atom("trak", track))
    }

    private func sampleTable(offset: Int) -> [UInt8] {
      let keys = atom("keys", big(16, 4) + big(1, 4) + atom("keyd", Array("mdtax".utf8)))
      return atom("stsd", big(0, 4) + big(1, 4) + atom("mebx", big(0, 6) + big(1, 2) + keys))
        + atom("stts", big(0, 4) + big(1, 4) + big(samples, 4) + big(1, 4))
        + atom("stsc", big(0, 4) + big(1, 4) + big(1, 4) + big(samplesPerChunk, 4) + big(1, 4))
        + atom("stsz", big(0, 4) + big(sampleSize, 4) + big(samples, 4))
        + atom(
          "stco",
          big(0, 4) + big(chunks, 4) + [[UInt8]](repeating: big(offset, 4), count: chunks).joined())
    }
  }

  /// Encodes a value of a metadata sample.
  private func value(_ text: String) -> [UInt8] {
    big(8 + text.utf8.count, 4) + big(1, 4) + text.utf8
  }

  @Test("Metadata samples that share their bytes are read up to 64 MiB")
  func sharedBytes() {
    let scratch = Scratch()
    let sample = value("{" + String(repeating: " ", count: (1 << 20) - 10) + "}")
    let movie = MetadataMovie(
      chunk: sample, sampleSize: sample.count, samplesPerChunk: 1, chunks: 100)
    let objects = EmbeddedText.read(scratch.write(movie.bytes, to: "a.mov"))
    #expect(objects.count == 64)
    #expect(objects.allSatisfy { $0.first == UInt8(ascii: "{") })
  }

  @Test("Of many small values, 1000 JSON objects are read, and no other values")
  func manyValues() {
    let scratch = Scratch()
    let sample = value("{1}") + value("[2]") + value("")
    let chunk = [[UInt8]](repeating: sample, count: 2000).joined()
    let movie = MetadataMovie(
      chunk: Array(chunk), sampleSize: chunk.count, samplesPerChunk: 1, chunks: 3)
    let objects = EmbeddedText.read(scratch.write(movie.bytes, to: "a.mov"))
    #expect(objects.count == 1000)
    #expect(objects.allSatisfy { $0 == Array("{1}".utf8) })
  }

  @Test("The index of a movie that states 30 million samples takes at most 256 MiB")
  func index() throws {
    let scratch = Scratch()
    let movie = MetadataMovie(
      chunk: [UInt8](repeating: 0, count: 100), sampleSize: 1, samplesPerChunk: 30_000_000,
      chunks: 1)
    let path = scratch.write(movie.bytes, to: "a.mov")
    let demuxer = try Demuxer(source: try FileByteSource(path: path), interrupt: nil)
    let entries = demuxer.streams.map { Int(avformat_index_get_entries_count($0)) }
    #expect(entries.count == 1)
    #expect(entries.reduce(0, +) * MemoryLayout<AVIndexEntry>.size <= 256 << 20)
  }
}
