// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Binaural

@Suite("SOFA files through the reader process")
struct HRTFReaderTests {
  static let refusals: [(String, String)] = [
    ("delay-1", "length of Data.Delay is 1;"), ("delay-3", "length of Data.Delay is 3;"),
    ("delay-nan", "element 1 of Data.Delay is nan"), ("delay-infinite", "Data.Delay is inf"),
    ("delay-huge", "Data.Delay is 999999995904.0 samples"),
    ("delay-negative", "element 0 of Data.Delay is -4.0 samples"),
    ("source-long", "SourcePosition has 372 elements"),
    ("source-short", "SourcePosition has 183 elements"),
    ("source-missing", "SourcePosition is missing"),
    ("source-nan", "SourcePosition contains a number that is not finite"),
    ("source-far", "source of measurement 7 is 1000000.0"),
    ("source-inside", "source of measurement 7 is 0.0 m"),
    ("source-type", "type spherical harmonics"),
    ("rate-1", "SamplingRate is 1.0 Hz"), ("rate-7", "SamplingRate is 7.0 Hz"),
    ("rate-11", "SamplingRate is 11.71875 Hz"),
    ("rate-280-million", "SamplingRate is 280000000.0 Hz"),
    ("rate-1e9", "SamplingRate is 1000000000.0 Hz"), ("rate-nan", "SamplingRate is nan Hz"),
    ("rate-missing", "SamplingRate has 0 elements"), ("rates-differ", "SamplingRate differs"),
    ("ir-nan", "not finite, in measurement 3, receiver 1"),
    ("ir-infinite", "not finite, in measurement 3, receiver 0"),
    ("ir-zero", "range from 0.0 (measurement 2, receiver 0)"),
    ("ir-tiny", "ratio of at most 1000000.0"),
    ("ir-short", "Data.IR has 7936 elements"), ("ir-missing", "Data.IR has 0 elements"),
    ("samples-0", "N = 0 samples"), ("samples-8", "N = 8 samples"),
    ("samples-many", "N = 65537 samples"), ("measurements-wrapping", "M = 2147483710"),
    ("measurements-3", "it has at most 3 directions"), ("receivers-1", "receivers is R = 1;"),
    ("receivers-4", "receivers is R = 4;"), ("no-shuffle", "h5repack"),
    ("level-low", "level is -777.3 dB; -60 to 60 dB"), ("level-high", "level is 122.7 dB"),
    ("room-responses", "MultiSpeakerBRIR"), ("transfer-functions", "DataType is TF"),
  ]

  @Test("A failed check is reported with its numbers", arguments: refusals)
  func failedCheckIsReportedWithItsNumbers(name: String, part: String) throws {
    let path = try HRTFFixtures.shared.path(name)
    let error = try #require(throws: HRTFError.self) { try SofaLoader().load(path) }
    guard case .refused(path, let check) = error else {
      Issue.record("\(name): \(error)")
      return
    }
    #expect(check.contains(part))
    #expect(!error.description.contains("\n"))
  }

  @Test(
    "Non-SOFA files are distinguished from failed checks",
    arguments: ["no-sofa", "single-precision"])
  func nonSOFAFilesAreDistinguishedFromFailedChecks(name: String) throws {
    let path = try HRTFFixtures.shared.path(name)
    let error = try #require(throws: HRTFError.self) { try SofaLoader().load(path) }
    guard case .notSOFA(path, _) = error else {
      Issue.record("\(name): \(error)")
      return
    }
  }

  @Test("Text and empty files are reported as not SOFA")
  func textAndEmptyFilesAreReportedAsNotSOFA() throws {
    let files = HRTFFixtures.shared
    let text = try files.write(Array("RIFF, not quite\n".utf8), "text.sofa")
    let empty = try files.write([], "empty.sofa")
    for path in [text, empty] {
      #expect(throws: HRTFError.self) { try SofaLoader().load(path) }
      let error = #expect(throws: HRTFError.self) { try HRTFSummary(path: path) }
      guard case .notSOFA? = error else {
        Issue.record("\(path): \(String(describing: error))")
        continue
      }
    }
  }

  @Test("Directories, FIFOs, devices, missing files and odd names are reported as unopenable")
  func unopenablePathsAreReported() throws {
    let fifo = HRTFFixtures.shared.freshPath("fifo.sofa")
    #expect(mkfifo(fifo, 0o600) == 0)
    for path in [fifo, "/tmp", "/dev/zero", "/nonexistent.sofa", "", "-", "--help", "a\0b"] {
      let error = #expect(throws: HRTFError.self) { try SofaLoader().load(path) }
      guard case .cannotOpen? = error else {
        Issue.record("\(path): \(String(describing: error))")
        continue
      }
    }
  }

  @Test("A file that is truncated anywhere is rejected")
  func truncatedFilesAreRejected() throws {
    let bytes = try fileBytes(HRTFFixtures.shared.path("plain"))
    for count in [8, 9, 40, 48, 100, 500, 2000, bytes.count / 2, bytes.count - 1] {
      let path = try HRTFFixtures.shared.write(Array(bytes.prefix(count)), "cut-\(count).sofa")
      #expect(throws: HRTFError.self) { try SofaLoader().load(path) }
    }
  }

  @Test("A damaged file gives a finite set or an error")
  func damagedFilesGiveAFiniteSetOrAnError() throws {
    let bytes = try fileBytes(HRTFFixtures.shared.path("contiguous"))
    var generator = SeededGenerator(1)
    func random(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }
    for round in 0..<60 {
      var copy = bytes
      for _ in 0...random(6) { copy[random(bytes.count)] = UInt8(random(256)) }
      let path = try HRTFFixtures.shared.write(copy, "damaged-\(round).sofa")
      do {
        let set = try SofaLoader(timeoutSeconds: 10).load(path)
        #expect(set.impulseResponses.allSatisfy { $0.isFinite })
      } catch {
        #expect(!error.description.isEmpty)
      }
    }
  }
}
