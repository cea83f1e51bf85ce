// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Media
public import Rendering
internal import SignalProcessing
private import Surround

/// A source that decodes matrix-encoded stereo (Lt, Rt) to 5.0 with a passive matrix.
///
/// Let k = 1/2, and let a and b be the encoder's surround gains: both 0.7071 for Dolby Surround,
/// 0.8718 and 0.4899 for Pro Logic II, IIx and IIz (ATSC A/52:2018, 7.8.2, and R. Dressler, "Dolby
/// Surround Pro Logic II Decoder: Principles of Operation", 2000). Then
///
///     BL = k (a Lt - b Rt)     BR = k (a Rt - b Lt)     FC = k b (Lt + Rt)
///     FL = Lt (1 - k (a + b) / sqrt 2)                  FR likewise from Rt
///
/// so that FL + (FC + BL) / sqrt 2 equals Lt: the fold-down of ITU-R BS.775 restores the stereo.
/// The surrounds are neither delayed nor low-passed.
public final class MatrixDecodedSource: SoundSource {
  public let layout = ChannelLayout.speakers([
    .frontLeft, .frontRight, .frontCenter, .backLeft, .backRight,
  ])
  private let source: any SoundSource
  private let matrix: MixMatrix
  private let input: PlanarScratch
  private static let blockFrames = 4096

  /// Creates a decoder for a source that contains Lt and Rt. Returns nil if the source is not
  /// stereo, or if the encoding is `surroundEX` or `dolbyHeadphone`.
  public init?(_ source: any SoundSource, encoding: MatrixEncoding) {
    let half = 0.5.squareRoot()
    let (a, b): (Double, Double)
    switch encoding {
    case .dolbySurround: (a, b) = (half, half)
    case .proLogicII, .proLogicIIx, .proLogicIIz: (a, b) = (0.8718, 0.4899)
    case .surroundEX, .dolbyHeadphone: return nil
    }
    guard source.layout == .stereo else { return nil }
    self.source = source
    let front = 1 - 0.5 * half * (a + b)
    matrix = MixMatrix(
      gains: [
        [front, 0], [0, front], [b / 2, b / 2], [a / 2, -b / 2], [-b / 2, a / 2],
      ], inputs: 2)
    input = PlanarScratch(channels: 2, frames: Self.blockFrames)
  }

  public var sampleRate: Int { source.sampleRate }
  public var duration: Int? { source.duration }
  public var title: String? { source.title }
  public var warnings: [String] { source.warnings }
  public var multichannelOffer: MultichannelOffer? { source.multichannelOffer }
  /// Returns stereo, the layout of the original content.
  public func contentLayout(atFrame frame: Int) -> ChannelLayout { .stereo }

  public func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int {
    try readPieces(into: planes, channels: 5, frames: frames, atMost: Self.blockFrames) {
      (planes, wanted) throws(PlaybackError) in
      let count = try source.read(into: input.planes, frames: wanted)
      matrix.mix(UnsafePointer(input.planes), into: UnsafePointer(planes), frames: count)
      return count
    }
  }

  public func seek(toFrame frame: Int) throws(PlaybackError) { try source.seek(toFrame: frame) }
}
