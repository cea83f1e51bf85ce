// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
private import Geometry
internal import SignalProcessing
internal import Surround

/// Rotates a source against the head and converts it to another layout.
///
/// Low-frequency effects and head-locked stereo are left out.
struct TurningMix: ~Copyable {
  private enum Way: ~Copyable {
    case field(SoundfieldRotator)
    case encoded(SpeakerBedRotator)
    case panned(TurningPanner)
  }

  private let way: Way
  /// The gains from the source's channels to the channels that are rotated against the head.
  private let entry: MixMatrix
  /// The gains from the rotated channels to the output.
  private let exit: MixMatrix
  private let stride: Int
  private let before: PlanarScratch
  private let after: PlanarScratch

  init(from source: ChannelLayout, to target: ChannelLayout, chunkFrames: Int) {
    stride = (chunkFrames + 2 * PoseGrid.cellFrames + 15) / 16 * 16
    let inputs = source.channelCount
    var (gains, decoder) = ([[Double]](), [[Double]]())
    if case .speakers(let speakers) = source {
      let placed = speakers.enumerated().compactMap { input, speaker in
        speaker.direction(in: speakers).map { (input, $0.unitVector) }
      }
      gains = placed.map { row in (0..<inputs).map { $0 == row.0 ? 1 : 0 } }
      let directions = placed.map(\.1)
      if case .speakers(let outputs) = target {
        way = .panned(TurningPanner(directions: directions, target: outputs))
      } else {
        way = .encoded(SpeakerBedRotator(order: 1, directions: directions))
      }
      decoder = Self.identity(target.channelCount)
    } else {
      let field = Treatment(spatial: source, busOrder: 1)
      let order = target == Conversion.firstOrder ? 1 : field.order
      gains = Array(field.field.prefix(SphericalHarmonics.channelCount(order: order)))
      decoder = Conversion.decoder(order: order, to: target)
      way = .field(SoundfieldRotator(order: order))
    }
    entry = MixMatrix(gains: gains, inputs: inputs)
    exit = MixMatrix(gains: decoder, inputs: decoder[0].count)
    before = PlanarScratch(channels: gains.count, frames: stride)
    after = PlanarScratch(channels: decoder[0].count, frames: stride)
  }

  private static func identity(_ count: Int) -> [[Double]] {
    (0..<count).map { row in (0..<count).map { $0 == row ? 1 : 0 } }
  }

  /// Rotates and converts the next frames.
  ///
  /// - Parameters:
  ///   - source: source channels x frames.
  ///   - output: target channels x frames, overwritten.
  ///   - frames: at most the initialiser's `chunkFrames`.
  func process(
    _ source: UnsafePointer<UnsafeMutablePointer<Float>>,
    into output: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int,
    poses: GridPoses
  ) {
    let first = poses.phase
    withShifted(before, by: first) { entry.mix(source, into: $0, frames: frames) }
    guard before.channels > 0 else {
      clear(output, frames)
      return
    }
    let (input, turned) = (before.planes[0], after.planes[0])
    switch way {
    case .field(let rotator):
      rotator.process(
        input: input, output: turned, stride: stride, frames: frames, poses: poses)
    case .encoded(let rotator):
      rotator.process(
        input: input, output: turned, stride: stride, frames: frames, poses: poses)
    case .panned(let panner):
      panner.process(input: input, output: turned, stride: stride, frames: frames, poses: poses)
    }
    withShifted(after, by: first) { exit.mix($0, into: output, frames: frames) }
  }

  private func clear(_ output: UnsafePointer<UnsafeMutablePointer<Float>>, _ frames: Int) {
    for c in 0..<exit.outputs { clearFrames(output[c], frames) }
  }

  private func withShifted(
    _ scratch: borrowing PlanarScratch, by frames: Int,
    _ body: (UnsafePointer<UnsafeMutablePointer<Float>>) -> Void
  ) {
    for c in 0..<scratch.channels { scratch.planes[c] += frames }
    body(scratch.planes)
    for c in 0..<scratch.channels { scratch.planes[c] -= frames }
  }
}
