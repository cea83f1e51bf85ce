// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Invalid input causes a one-line error quickly and leaves no files behind.
@Suite(.serialized) struct BadInputTests {
  struct Case: Sendable, CustomTestStringConvertible {
    /// The arguments; `$` stands for the test's folder.
    let arguments: String
    let says: String
    var code: Int32 = 1
    var testDescription: String { arguments }
  }

  private static let render = [
    Case(arguments: "render $/nowhere.wav -o $/out.wav", says: "no such file"),
    Case(arguments: "render $/no/where.wav -o $/out.wav", says: "no such file"),
    Case(arguments: "render $/empty.wav -o $/out.wav", says: "is empty"),
    Case(arguments: "render $/folder -o $/out.wav", says: "it contains no usable playlist"),
    Case(arguments: "render $/fifo -o $/out.wav", says: "FIFO"),
    Case(arguments: "render $/text.wav -o $/out.wav", says: "not an audio file"),
    Case(arguments: "render $/cut.wav -o $/out.wav", says: "audio"),
    Case(arguments: "render $/channels0.wav -o $/out.wav", says: "channels"),
    Case(arguments: "render $/channels300.wav -o $/out.wav", says: "300 channels"),
    Case(arguments: "render $/five.wav -o $/out.wav", says: "5 channels; set --layout to 5.0"),
    Case(arguments: "render $/frames0.wav -o $/out.wav", says: "the audio track has no frames"),
    Case(
      arguments: "render ftp://localhost/a.flac -o $/out.wav",
      says: "ftp addresses are not supported; download the file first"),
    Case(
      arguments: "render $/good.wav -o $/out.wav --layout foa",
      says: "--layout foa needs 4 or 6 channels, but the track has "),
    Case(
      arguments: "render $/good.wav -o $/out.wav --decoder parametric",
      says: "--decoder parametric works only with first-order ambisonics; "
        + "choose magls for this source",
      code: 2),
    Case(arguments: "render $/good.wav -o $/out.wav --track 2", says: "no audio track 2"),
    Case(arguments: "render $/good.wav -o $/folder", says: "directory"),
    Case(
      arguments: "render $/good.wav -o $/out.FLAC", says: "render writes WAV files, not .flac",
      code: 2),
    Case(
      arguments: "render $/good.wav -o $/out.wav --pose 1,0,0 --motion $/broken.csv",
      says: "--pose cannot be combined with --motion", code: 2),
    Case(arguments: "render $/good.wav -o $/no/out.wav", says: "no such file"),
  ]

  private static let head = [
    Case(arguments: "render $/good.wav -o $/out.wav --hrtf $/nowhere.sofa", says: "No such file"),
    Case(arguments: "render $/good.wav -o $/out.wav --hrtf $/text.wav", says: "as a SOFA file"),
    Case(arguments: "render $/good.wav -o $/out.wav --hrtf $/fifo", says: "FIFO"),
    Case(arguments: "render $/good.wav -o $/out.wav --hrtf $/folder", says: "directory"),
    Case(arguments: "render $/good.wav -o $/out.wav --motion $/nowhere.csv", says: "where.csv:"),
    Case(arguments: "render $/good.wav -o $/out.wav --motion $/broken.csv", says: "line 3"),
    Case(
      arguments: "render $/good.wav -o $/out.wav --motion $/control.csv",
      says: "'1\u{FFFD}\u{FFFD}2'"),
    Case(
      arguments: "render $/nowhere.wav -o $/out.wav --events $/events.jsonl", says: "no such file"),
    Case(
      arguments: "render $/good.wav -o $/out.wav --hrtf $/empty.wav --events $/events.jsonl",
      says: "empty"),
  ]

  private static let hrtf = [
    Case(arguments: "hrtf info $/nowhere.sofa", says: "No such file"),
    Case(arguments: "hrtf info $/empty.wav", says: "empty"),
    Case(arguments: "hrtf info $/folder", says: "directory"),
    Case(arguments: "hrtf info $/fifo", says: "FIFO"),
    Case(arguments: "hrtf info $/text.wav --json", says: "as a SOFA file"),
    Case(arguments: "hrtf export $/nowhere.sofa -o $/out.wav --order 1", says: "No such file"),
    Case(arguments: "hrtf export $/text.wav -o $/out.wav --order 1", says: "as a SOFA file"),
    Case(arguments: "hrtf export $/cut.sofa -o $/out.wav --order 1", says: "as a SOFA file"),
    Case(arguments: "hrtf export $/fifo -o $/out.wav --order 1", says: "FIFO"),
  ]

  private static let usage = [
    Case(arguments: "render", says: "missing argument '<INPUT>'", code: 2),
    Case(arguments: "render $/good.wav", says: "-o <OUT.wav>", code: 2),
    Case(arguments: "render $/good.wav -o $/out.wav --ordr 3", says: "'--order'?", code: 2),
    Case(arguments: "render $/good.wav -o $/out.wav --wrong", says: "'--wrong'", code: 2),
    Case(arguments: "render $/good.wav -o $/out.wav --order 8", says: "from 1 to 7", code: 2),
    Case(arguments: "render $/good.wav -o $/out.wav --layout 7.1.5", says: "'7.1.", code: 2),
    Case(arguments: "render $/good.wav -o $/out.wav --layout steroe", says: "'stereo'?", code: 2),
    Case(arguments: "render $/good.wav -o $/out.wav --layout FL+XY", says: "must be", code: 2),
    Case(arguments: "rendr $/good.wav -o $/out.wav", says: "'render'?", code: 2),
    Case(arguments: "hrtf inof $/good.wav", says: "'hrtf info'?", code: 2),
    Case(arguments: "hrtf export $/good.wav -o $/out.wav", says: "--order <N>", code: 2),
    Case(
      arguments: "hrtf export $/good.wav -o $/out.wav --order 1 --rate 1", says: "from 8000",
      code: 2),
  ]

  @Test(arguments: render + head + hrtf + usage)
  func badInputGivesAOneLineError(_ wrong: Case) throws {
    let folder = TemporaryFolder()
    try Self.fill(folder)
    let before = folder.names
    let arguments = wrong.arguments.split(separator: " ").map { word in
      word.hasPrefix("$") ? folder.path + word.dropFirst() : String(word)
    }
    // Take the fastest of a few attempts: other tests may keep the machine busy.
    var shortest = Duration.seconds(60)
    for attempt in 1...3 where shortest > .seconds(2) {
      if attempt > 1 { recordRetry("took \(shortest): \(wrong.arguments)") }
      let start = ContinuousClock.now
      let run = try Stillstage.run(arguments)
      shortest = min(shortest, ContinuousClock.now - start)
      #expect(run.exitCode == wrong.code, "\(run.errors)")
      #expect(run.output == "")
      #expect(run.errors.hasPrefix("stillstage: "))
      #expect(run.errors.contains(wrong.says), "\(run.errors)")
      #expect(run.errors.filter { $0 == "\n" }.count == 1, "\(run.errors)")
      let controls = run.errors.unicodeScalars.filter { $0.properties.generalCategory == .control }
      #expect(controls.count == 1, "\(run.errors)")
      #expect(folder.names == before)
    }
    #expect(shortest < .seconds(2))
  }

  /// Writes the invalid files and a valid one.
  private static func fill(_ folder: TemporaryFolder) throws {
    let tone = (0..<480).map { Float(sin(Double($0) * 0.1)) }
    let good = FloatWAV(channels: [tone, tone])
    try folder.write(good.bytes(), to: "good.wav")
    try folder.write("", to: "empty.wav")
    try folder.write("This is no sound.\nNor is this.\n", to: "text.wav")
    try folder.write(Array(good.bytes().prefix(30)), to: "cut.wav")
    try folder.write(good.bytes(statingChannels: 0), to: "channels0.wav")
    try folder.write(FloatWAV(channels: [[], []]).bytes(), to: "frames0.wav")
    try folder.write(
      FloatWAV(channels: [[Float]](repeating: [0, 0], count: 300)).bytes(), to: "channels300.wav")
    try folder.write(
      FloatWAV(channels: [[Float]](repeating: tone, count: 5)).bytes(), to: "five.wav")
    try folder.write("t,w,x,y,z\n0,1,0,0,0\n0.1,1,zero,0,0\n", to: "broken.csv")
    // Delete, and a control character of two bytes that begins a sequence in some terminals.
    try folder.write("t,w,x,y,z\n0,1\u{7F}\u{9B}2,0,0,0\n", to: "control.csv")
    try folder.write([0x89, 0x48, 0x44, 0x46, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0], to: "cut.sofa")
    mkdir(folder.file("folder"), 0o755)
    mkfifo(folder.file("fifo"), 0o644)
  }
}
