// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
internal import Geometry
package import HeadTracking
private import SignalProcessing
private import Surround

/// What `LayoutRenderer` makes.
public enum OutputLayout: String, Sendable, CaseIterable {
  case stereo
  case surround51 = "5.1"
  case surround71 = "7.1"
  case surround714 = "7.1.4"
  /// A first-order soundfield in ACN order and SN3D scale.
  case firstOrder = "foa"

  /// The channels, in the order of WAVE files.
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

/// Renders a source for loudspeakers or as a soundfield, block after block, into memory.
///
/// Without a head the channels are only converted (`Conversion`). With one that is still or moves,
/// everything turns against it but low-frequency effects and head-locked stereo. A source that is
/// not to be made spatial comes from the front pair as plain stereo, and does not turn.
public final class LayoutRenderer: RenderedSound {
  public let layout: ChannelLayout
  public var sampleRate: Int { source.sampleRate }
  /// As many as the source has.
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
  /// Frames of the source that have been turned.
  private var position = 0

  /// - Parameters:
  ///   - source: a source that needs no further preparation.
  ///   - isSpatial: false: the source comes from the front pair as plain stereo and does not turn.
  ///   - target: for what.
  ///   - head: `headToWorld` over the source's time; nil for none.
  ///   - settings: how.
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

  /// As stereo, and that as a pair in front.
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
