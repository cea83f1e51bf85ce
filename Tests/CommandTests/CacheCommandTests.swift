// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// The cache of designs as used by the programs.
@Suite struct CacheCommandTests {
  private func export(
    _ folder: TemporaryFolder, _ name: String, environment: [String: String?]
  ) throws -> [[Float]] {
    let sofa = try Fixtures.sofa("delays-per-ear", in: folder)
    let run = try ProgramRun.of(
      "\(ProgramRun.builtProducts)/stillstage",
      [
        "hrtf", "export", sofa, "-o", folder.file(name), "--order", "3", "--rate", "16000",
      ], environment: environment)
    #expect(run.exitCode == 0, "\(run.errors)")
    #expect(!run.errors.contains("cache"))
    return try FloatWAV(reading: folder.file(name)).channels
  }

  /// Returns the cached designs.
  private func designs(_ folder: TemporaryFolder) throws -> [String] {
    try entries(folder).filter { $0.hasSuffix(".filters") }
  }

  private func entries(_ folder: TemporaryFolder) throws -> [String] {
    try ProgramRun.of("find", [folder.file("cache"), "-type", "f"]).output.split(separator: "\n")
      .map(String.init)
  }

  @Test func designsAreCachedAndReused() throws {
    let folder = TemporaryFolder()
    let place: [String: String?] = [
      "STILLSTAGE_CACHE": nil, "XDG_CACHE_HOME": folder.file("cache"),
    ]
    let first = try export(folder, "1.wav", environment: place)
    let kept = try designs(folder)
    try #require(kept.count == 1)
    #expect(kept[0].hasPrefix(folder.file("cache/stillstage/")))
    // The set as it was read is kept too.
    #expect(try entries(folder).count == 2)
    // `export` creates the file again, so the set is read again, but its design is the same.
    #expect(try export(folder, "2.wav", environment: place) == first)
    #expect(try designs(folder) == kept)
  }

  @Test func nothingIsWrittenWithoutACache() throws {
    let folder = TemporaryFolder()
    let home: String? = folder.file("cache")
    let off = try export(
      folder, "1.wav", environment: ["STILLSTAGE_CACHE": "off", "XDG_CACHE_HOME": home])
    let withoutHome = try export(
      folder, "2.wav",
      environment: ["STILLSTAGE_CACHE": nil, "XDG_CACHE_HOME": nil, "HOME": nil])
    #expect(off == withoutHome)
    #expect(try entries(folder) == [])
  }

  /// Both programs find no design, compute it and write it.
  @Test func concurrentProgramsGetTheSameDesign() throws {
    let folder = TemporaryFolder()
    let sofa = try Fixtures.sofa("delays-per-ear", in: folder)
    let program = "\(ProgramRun.builtProducts)/stillstage"
    let line = "\(program) hrtf export \(sofa) --order 3 --rate 16000 -o \(folder.path)"
    let run = try ProgramRun.of(
      "sh", ["-c", "\(line)/a.wav & first=$!; \(line)/b.wav && wait $first"],
      environment: ["STILLSTAGE_CACHE": folder.file("cache")], timeoutSeconds: 60)
    #expect(run.exitCode == 0, "\(run.errors)")
    let (a, b) = (
      try FloatWAV(reading: folder.file("a.wav")), try FloatWAV(reading: folder.file("b.wav"))
    )
    #expect(a.channels == b.channels)
    #expect(try designs(folder).count == 1)
  }

  /// Simulates a full disk: files are limited to 64 kB, less than an entry.
  @Test func fullDiskDoesNotFailTheRender() throws {
    let folder = TemporaryFolder()
    let sofa = try Fixtures.sofa("delays-per-ear", in: folder)
    let program = "\(ProgramRun.builtProducts)/stillstage"
    try folder.write(
      FloatWAV(rate: 16000, channels: [[Float](repeating: 0.5, count: 100)]).bytes(), to: "in.wav")
    let run = try ProgramRun.of(
      "bash",
      [
        "-c",
        "ulimit -f 64; exec \(program) render \(folder.file("in.wav")) -o \(folder.file("o.wav"))"
          + " --hrtf \(sofa) --order 7",
      ], environment: ["STILLSTAGE_CACHE": folder.file("cache")])
    #expect(run.exitCode == 0, "\(run.errors)")
    #expect(try designs(folder) == [])
  }
}
