// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Capture
import Glibc
import Media
import TestSupport
import Testing

/// The boxes and tracks of a movie.
struct MovieTests {
  private let format = RecordingFormat(layout: .firstOrder, sampleRate: 48000)

  /// The tracks that a first-order recording must have.
  private func expected(_ frames: Int) -> [MovieTrackFacts] {
    [
      MovieTrackFacts(
        identifier: 1, handler: "soun", codec: "mp4a", isEnabled: true, group: 1,
        layout: 101 << 16 | 2, delay: 1024, duration: frames == 0 ? 0 : frames + 1024),
      MovieTrackFacts(
        identifier: 2, handler: "soun", codec: "lpcm", isEnabled: false, group: 1,
        reference: "fall 1", layout: 190 << 16 | 4, duration: frames),
      MovieTrackFacts(
        identifier: 3, handler: "meta", codec: "mebx", isEnabled: true, group: 0,
        reference: "cdsc 2", duration: frames),
    ]
  }

  @Test(arguments: ["mov", "qta"])
  func aMovieIsFragmentedFirstAndPlainAtTheEnd(_ suffix: String) throws {
    var random = SeededGenerator.forTest()
    let folder = TemporaryFolder()
    let path = folder.file("a." + suffix)
    let file = try RecordingContainer.open(path: path, format: format)
    try record(130_000, to: file, random: &random)
    let growing = MovieFile(try readFile(path))
    #expect(
      growing.top.map(\.type)
        == ["ftyp", "wide", "free", "moov"] + (0..<5).flatMap { _ in ["moof", "mdat"] })
    #expect(growing.find("moov mvex") != nil)
    #expect(growing.tracks == expected(0))
    #expect(file.counts.storedFrames == 120_000)
    try file.finish()
    let plain = MovieFile(try readFile(path))
    #expect(plain.top.map(\.type) == ["ftyp", "mdat", "moov"])
    #expect(plain.find("moov mvex") == nil)
    #expect(plain.tracks == expected(130_000))
    let movie = try #require(plain.find("moov"))
    for track in plain.children(movie) where track.type == "trak" {
      #expect(plain.find("mdia minf stbl co64", in: track) != nil)
      #expect(plain.find("mdia minf stbl stco", in: track) == nil)
    }
  }

  /// The last metadata sample holds the tuning. The others describe one second each.
  @Test(arguments: [2, 47999, 48000, 48001, 144_000, 150_000])
  func theLastMetadataSampleIsTheTuning(_ frames: Int) throws {
    let folder = TemporaryFolder()
    let path = folder.file("a.mov")
    let file = try RecordingContainer.open(path: path, format: format)
    file.note = RecordingNote(azimuthDegrees: 30.04, elevationDegrees: -5, lostFrames: 7)
    try file.append(
      (0..<frames).flatMap { frame -> [Float] in frame == 0 ? [0.5, 0, 0, -1] : [0, 0, 0, 0] })
    try file.finish()
    let movie = MovieFile(try readFile(path))
    let metadata = movie.metadata
    #expect(metadata.count == (frames + 47999) / 48000 + 1)
    #expect(metadata.last == #"{"version":1}"#)
    let direction = #""azimuth":30.0,"elevation":-5.0"#
    #expect(
      metadata.first == #"{"second":0,"peak":[-6.0,-200.0,-200.0,0.0],\#(direction),"lost":7}"#)
    if metadata.count > 2 {
      #expect(metadata[1] == #"{"second":1,"peak":[-200.0,-200.0,-200.0,-200.0],"lost":0}"#)
    }
    #expect(movie.tracks == expected(frames))
  }

  @Test func otherTuningIsStored() throws {
    let folder = TemporaryFolder()
    let file = try RecordingContainer.open(path: folder.file("a.mov"), format: format)
    try file.append([0, 0, 0, 0])
    file.tuning = #"{"version":1,"amount":0.5}"#
    try file.finish()
    #expect(MovieFile(try readFile(folder.file("a.mov"))).metadata.last == file.tuning)
  }

  /// A recorder's sink computes the tuning from the sound that it takes.
  @Test func sinkStoresTheTuningOfTheSound() throws {
    let folder = TemporaryFolder()
    let file = try RecordingContainer.open(path: folder.file("a.mov"), format: format)
    let sink = FileSink(file)
    let frames = 4 * 48_000
    let planes = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: 4)
    for c in 0..<4 {
      let plane = UnsafeMutablePointer<Float>.allocate(capacity: frames)
      for i in 0..<frames {
        let voice = 0.02 * Float((i / 60) % 4 - 1) * Float((i / 8000) % 2)
        plane[i] = c == 0 || c == 3 ? voice : 0
      }
      (planes + c).initialize(to: plane)
    }
    defer {
      for c in 0..<4 { planes[c].deallocate() }
      planes.deallocate()
    }
    try sink.append(UnsafePointer(planes), frames: frames)
    try sink.finish()
    let tuning = try #require(MovieFile(try readFile(folder.file("a.mov"))).metadata.last)
    #expect(tuning.hasPrefix(#"{"version":1,"speech":{"gain_db":"#))
    #expect(tuning.contains("ambience"))
  }

  @Test(arguments: [1, 2, 6])
  func otherSoundIsOneTrack(_ channels: Int) throws {
    var random = SeededGenerator.forTest()
    let folder = TemporaryFolder()
    let path = folder.file("a.mov")
    let layout: ChannelLayout =
      channels == 1 ? .mono : channels == 2 ? .stereo : .unknown(channels: channels)
    let format = RecordingFormat(layout: layout, sampleRate: 44100, codec: .float)
    try record(50000, path: path, format: format, random: &random)
    let tags = [1: 100 << 16 | 1, 2: 101 << 16 | 2, 6: 147 << 16 | 6]
    #expect(
      MovieFile(try readFile(path)).tracks == [
        MovieTrackFacts(
          identifier: 1, handler: "soun", codec: "lpcm", isEnabled: true, group: 0,
          layout: tags[channels], duration: 50000)
      ])
  }

  /// The stereo track has the level, the sides and the time of the soundfield, in the fragmented
  /// and in the plain movie.
  @Test(arguments: [RecordingFormat.Stereo.wy, .xy])
  func theStereoTrackFollowsTheSoundfield(_ stereo: RecordingFormat.Stereo) throws {
    let folder = TemporaryFolder()
    var format = format
    format.stereo = stereo
    let path = folder.file("a.mov")
    let file = try RecordingContainer.open(path: path, format: format)
    // A different slow sweep in each channel.
    let frames = 150_000
    let field = (0..<4).map { channel in
      (0..<frames).map { frame -> Float in
        let time = Double(frame) / 48000
        return Float(0.2 * sin(2 * .pi * time * (300 + 130 * Double(channel) + 40 * time)))
      }
    }
    for start in stride(from: 0, to: frames, by: 1000) {
      try file.append((start..<start + 1000).flatMap { frame in field.map { $0[frame] } })
    }
    let side = stereo == .wy ? 0.5 : Float(0.5 * sin(55 * Double.pi / 180))
    let front = stereo == .wy ? 0 : Float(0.5 * cos(55 * Double.pi / 180))
    func check(_ count: Int) throws {
      let (track, sound) = try readTrack(path, track: 1)
      #expect(track.codec == "aac" && track.layout == .stereo)
      try #require(sound[0].count >= count)
      for (sign, channel) in [(Float(1), 0), (-1, 1)] {
        var (error, energy) = (Float(0), Float(0))
        for frame in 0..<count {
          let wanted =
            0.5 * field[0][frame] + sign * side * field[1][frame] + front * field[3][frame]
          error += (sound[channel][frame] - wanted) * (sound[channel][frame] - wanted)
          energy += wanted * wanted
        }
        #expect(error < 1e-3 * energy)
      }
    }
    try check(2 * 48000)
    try file.finish()
    try check(frames)
    #expect(try readTrack(path, track: 1).1[0].count == frames)
    #expect(try readTrack(path).0.number == 2)
  }

  /// FFmpeg's programs choose the stereo track, in both forms of the movie.
  @Test func otherPlayersChooseTheStereoTrack() throws {
    var random = SeededGenerator.forTest()
    let folder = TemporaryFolder()
    let path = folder.file("a.mov")
    let file = try RecordingContainer.open(path: path, format: format)
    try record(130_000, to: file, random: &random)
    for isFinished in [false, true] {
      if isFinished { try file.finish() }
      let run = try ProgramRun.of(
        "ffmpeg",
        ["-nostdin", "-v", "error", "-i", path, "-y", "-f", "f32le", folder.file("a.raw")])
      #expect(run.exitCode == 0, "\(run.errors)")
      let frames = try readFile(folder.file("a.raw")).count / 8
      // While the movie is growing, the encoder has not returned the last packets. ffmpeg does not
      // trim the last packet.
      #expect((isFinished ? 130_000...130_048 : 117_000...120_000).contains(frames))
    }
  }

  @Test func aRateThatAACLacksIsRefused() throws {
    let folder = TemporaryFolder()
    var format = format
    format.sampleRate = 192_000
    #expect {
      try RecordingContainer.open(path: folder.file("a.mov"), format: format)
    } throws: {
      if case RecordingError.unsupported = $0 { true } else { false }
    }
    #expect(folder.names.isEmpty)
  }
}
