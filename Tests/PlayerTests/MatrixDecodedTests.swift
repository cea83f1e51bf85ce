// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Glibc
import Media
import Surround
import TestSupport
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

@Suite struct MatrixDecodedTests {
  /// Given sounds as Lt and Rt.
  private final class Stereo: SoundSource {
    let layout = ChannelLayout.stereo
    let sampleRate = 48_000
    let title: String? = nil
    let warnings: [String] = []
    let sound: [[Float]]
    let matrixEncoding: MatrixEncoding?
    let isBinaural: Bool
    private var next = 0

    init(_ sound: [[Float]], _ encoding: MatrixEncoding? = nil, isBinaural: Bool = false) {
      (self.sound, matrixEncoding, self.isBinaural) = (sound, encoding, isBinaural)
    }

    var duration: Int? { sound[0].count }

    func read(
      into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
    ) throws(PlaybackError) -> Int {
      let count = min(frames, sound[0].count - next)
      for c in 0..<2 { for i in 0..<count { planes[c][i] = sound[c][next + i] } }
      next += count
      return count
    }

    func seek(toFrame frame: Int) throws(PlaybackError) { next = frame }
  }

  private func noise(
    _ channels: Int, _ frames: Int, name: String = #function
  ) -> [[Float]] {
    var random = SeededGenerator.forTest(#fileID, name)
    return (0..<channels).map { _ in
      (0..<frames).map { _ in Float.random(in: -0.5...0.5, using: &random) }
    }
  }

  /// Returns FL, FR, FC, BL, BR of the complete sound.
  private func decoded(_ sound: [[Float]], _ encoding: MatrixEncoding) throws -> [[Float]] {
    try readAll(#require(MatrixDecodedSource(Stereo(sound), encoding: encoding)))
  }

  private func level(_ x: [Float]) -> Double {
    10 * log10(max(1e-20, x.reduce(0) { $0 + Double($1 * $1) } / Double(x.count)))
  }

  @Test(arguments: [MatrixEncoding.dolbySurround, .proLogicII, .proLogicIIx, .proLogicIIz])
  func foldDownRestoresTheStereoInput(encoding: MatrixEncoding) throws {
    let sound = noise(2, 10_000)
    let channels = try decoded(sound, encoding)
    let layout = ChannelLayout.speakers([
      .frontLeft, .frontRight, .frontCenter, .backLeft, .backRight,
    ])
    let fold = Treatment(plain: layout).headLocked
    for ear in 0..<2 {
      for i in 0..<10_000 {
        let folded = (0..<5).reduce(0.0) { $0 + fold[ear][$1] * Double(channels[$1][i]) }
        #expect(abs(folded - Double(sound[ear][i])) < 1e-6)
      }
    }
  }

  /// A channel is loudest at the place where the encoder put it; its neighbours are 3 dB lower or
  /// less.
  @Test func encodedDirectionIsLoudestInItsChannel() throws {
    let half = Float(0.5.squareRoot())
    let x = noise(1, 10_000)[0]
    let none = [Float](repeating: 0, count: x.count)
    let center = try decoded([x.map { $0 * half }, x.map { $0 * half }], .dolbySurround).map(level)
    #expect(center[2] > center[0] + 2.9 && center[3] < -100)
    let left = try decoded([x, none], .dolbySurround).map(level)
    #expect(left[0] > left[2] + 2.9 && left[0] > left[3] + 2.9 && left[1] < -100)
    let surround = try decoded(
      [x.map { $0 * half }, x.map { -$0 * half }], .dolbySurround
    ).map(level)
    #expect(surround[3] > surround[0] + 2.9 && abs(surround[3] - surround[4]) < 0.01)
    #expect(surround[2] < -100)
    // Pro Logic II separates the surrounds.
    let sides = try decoded([x.map { $0 * 0.8718 }, x.map { -$0 * 0.4899 }], .proLogicII).map(level)
    #expect(sides[3] > sides[4] + 1 && sides[3] == sides.max())
  }

  @Test func onlyFlaggedStereoIsMatrixDecoded() throws {
    let sound = noise(2, 100)
    var settings = RenderSettings()
    settings.upmix = .off
    func layout(_ source: Stereo) throws -> ChannelLayout {
      try prepared(source, settings: settings).layout
    }
    #expect(try layout(Stereo(sound, .dolbySurround)).channelCount == 5)
    #expect(try layout(Stereo(sound, .proLogicII)).channelCount == 5)
    #expect(try layout(Stereo(sound)) == .stereo)
    #expect(try layout(Stereo(sound, .surroundEX)) == .stereo)
    #expect(try layout(Stereo(sound, .dolbySurround, isBinaural: true)) == .stereo)
    #expect(
      try prepared(Stereo(sound, .dolbySurround), settings: settings)
        .contentLayout(atFrame: 0) == .stereo)
    settings.spatialization = .multichannel
    #expect(try layout(Stereo(sound, .dolbySurround)) == .stereo)
  }
}
