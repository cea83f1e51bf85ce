// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
internal import Geometry
package import HeadTracking
private import SignalProcessing
private import Surround

/// The layouts that `LayoutRenderer` can produce.
public enum OutputLayout: String, Sendable, CaseIterable {
  case stereo
  case surround51 = "5.1"
  case surround71 = "7.1"
  case surround714 = "7.1.4"
  /// A first-order soundfield in ACN order and SN3D scale.
  case firstOrder = "foa"

  /// The channels: loudspeakers in WAVE order, or a soundfield in ACN order.
  public var layout: ChannelLayout {
    let surrounds: [Speaker] = [
      .frontLeft, .frontRight, .frontCenter, .lowFrequency, .backLeft, .backRight, .sideLeft,
      .sideRight,
    ]
    return switch self {
    case .stereo: .stereo
    case .surround51: Upmixer.layout
    case .surround71: .speakers(surrounds)
    case .surround714:
      .speakers(surrounds + [.topFrontLeft, .topFrontRight, .topBackLeft, .topBackRight])
    case .firstOrder: Conversion.firstOrder
    }
  }
}

/// Converts a source to loudspeaker channels or a soundfield, block by block.
///
/// With a head trajectory, a spatial source is also rotated against the head. Low-frequency effects
/// and head-locked stereo are not rotated.
public final class LayoutRenderer: RenderedSound {
  public let layout: ChannelLayout
  public var sampleRate: Int { source.sampleRate }
  /// The number of frames in the source; nil if unknown.
  public var frames: Int? { source.duration }
  public var mutedFrameCount: Int { `guard`.badFrameCount }
  public var layoutChanges: [(seconds: Double, layout: ChannelLayout)] { [] }

  private let source: any SoundSource
  private let head: HeadTrajectory?
  private let blockFrames: Int
  private let gain: Float
  private let `guard`: FiniteGuard
  private let still: MixMatrix
  private let turning: TurningMix
  private let turns: Bool
  private let input: PlanarScratch
  private let sounding: PlanarScratch
  private let turned: PlanarScratch
  /// The number of source frames rotated so far.
  private var position = 0

  /// Creates a renderer for a prepared source.
  ///
  /// - Parameters:
  ///   - source: a source that needs no further preparation; an upmix, for example, is already
  ///     applied.
  ///   - isSpatial: false for plain stereo at the positions of the front pair, without rotation.
  ///   - target: the output layout.
  ///   - head: `headToWorld` as a function of the time in the source; nil for no rotation.
  ///   - settings: the block size and the gain. The other settings are not used.
  package init(
    prepared source: any SoundSource, isSpatial: Bool, target: OutputLayout, head: HeadTrajectory?,
    settings: RenderSettings
  ) {
    self.source = source
    self.head = head
    (layout, blockFrames) = (target.layout, settings.blockFrames)
    gain = linearGain(decibels: settings.gainDecibels)
    turns = isSpatial && head != nil
    let from = self.source.layout
    let gains =
      !isSpatial
      ? Self.plain(from, to: layout)
      : turns ? Conversion.still(from: from, to: layout) : Conversion.gains(from: from, to: layout)
    still = MixMatrix(gains: gains, inputs: from.channelCount)
    turning = TurningMix(from: from, to: layout, chunkFrames: blockFrames)
    `guard` = FiniteGuard(channelCount: from.channelCount, sampleRate: Double(source.sampleRate))
    input = PlanarScratch(channels: from.channelCount, frames: blockFrames)
    sounding = PlanarScratch(channels: layout.channelCount, frames: blockFrames)
    turned = PlanarScratch(channels: layout.channelCount, frames: blockFrames)
  }

  /// Returns the gains for plain stereo at the positions of the front pair: target channels x
  /// source channels.
  private static func plain(_ source: ChannelLayout, to target: ChannelLayout) -> [[Double]] {
    let pair = Conversion.gains(from: .stereo, to: target)
    let stereo = Treatment(plain: source).headLocked
    return pair.map { row in
      stereo[0].indices.map { row[0] * stereo[0][$0] + row[1] * stereo[1][$0] }
    }
  }

  public func next() throws(PlaybackError) -> Int {
    let count = try source.read(into: input.planes, frames: blockFrames)
    guard count > 0 else { return 0 }
    `guard`.process(input.planes, frames: count)
    still.mix(input.planes, into: sounding.planes, frames: count)
    if turns, let head { turn(head, count) }
    if gain != 1 {
      for c in 0..<layout.channelCount {
        for i in 0..<count { sounding.planes[c][i] *= gain }
      }
    }
    return count
  }

  public var output: UnsafePointer<UnsafeMutablePointer<Float>> { UnsafePointer(sounding.planes) }

  private func turn(_ head: HeadTrajectory, _ count: Int) {
    let first = position / Renderer.gridFrames
    let last = (position + count - 1) / Renderer.gridFrames + 1
    let poses = (first...last).map { point in
      head.pose(atSeconds: Double(point * Renderer.gridFrames) / Double(sampleRate))
    }
    poses.withUnsafeBufferPointer {
      guard let poses = $0.baseAddress else { return }
      turning.process(
        input.planes, into: turned.planes, frames: count,
        poses: GridPoses(frame: position, poses: poses))
    }
    position += count
    for c in 0..<layout.channelCount {
      addFrames(turned.planes[c], to: sounding.planes[c], count)
    }
  }
}
