// SPDX-License-Identifier: Apache-2.0

import Geometry

/// Estimates the head yaw for which each part of a recording was rendered.
///
/// The rendering of a first-order soundfield is the sum of a constant part and parts proportional
/// to the cosine and the sine of the yaw. So the renderings for three yaws determine the rendering
/// for any other yaw.
package struct YawReader: Sendable {
  /// The yaw estimated from the frames on either side of `frame`.
  package struct Moment: Sendable {
    package let frame: Int
    /// Yaw in degrees, positive to the left; NaN in silence or if the recording does not match the
    /// renderings.
    package let yaw: Double
  }

  private let whole: EarSound
  private let front: EarSound
  private let side: EarSound
  private let ahead: EarSound
  private static let badResidual = 0.2

  /// Creates a reader from renderings for three yaws.
  ///
  /// - Parameters:
  ///   - ahead: the rendering for a head facing the front. All three renderings repeat forever.
  ///   - left: the rendering for a head turned 90 degrees to the left.
  ///   - right: the rendering for a head turned 90 degrees to the right.
  package init(ahead: EarSound, left: EarSound, right: EarSound) {
    whole = (left + right).scaled(by: 0.5)
    side = (left + right.scaled(by: -1)).scaled(by: 0.5)
    front = ahead + whole.scaled(by: -1)
    self.ahead = ahead
  }

  /// Returns one yaw for every `hop` frames of a recording.
  ///
  /// - Parameters:
  ///   - start: the frames during which the head faces the front. The reading begins at the first
  ///     of these frames.
  ///   - hop: the number of frames per yaw; the default is 4 ms at 48 kHz.
  /// - Returns: an empty list if `start` cannot be aligned with the rendering for the front.
  package func moments(
    in recording: EarSound, startingAt start: Range<Int>, hop: Int = 192
  ) -> [Moment] {
    guard var alignment = SoundAlignment.find(recording, start, in: ahead) else { return [] }
    var moments: [Moment] = []
    var lost = 0
    for frame in stride(from: start.lowerBound, to: recording.frames - hop, by: hop) {
      let frames = frame..<frame + hop
      var fit = fit(recording, frames, alignment.offset)
      if fit.residual > Self.badResidual {
        lost += 1
        // Try nearby offsets, because the recording's clock may drift.
        for change in [-1.0, -0.5, 0.5, 1] {
          let other = self.fit(recording, frames, alignment.offset + change)
          if other.residual < fit.residual {
            fit = other
            if fit.residual < Self.badResidual { alignment.offset += change }
          }
        }
      } else {
        lost = 0
      }
      if lost == 25, let found = SoundAlignment.find(recording, frames, in: whole) {
        alignment = found
      }
      let isGood = fit.residual < Self.badResidual
      moments.append(Moment(frame: frame + hop / 2, yaw: isGood ? fit.yaw : .nan))
    }
    return moments
  }

  /// Fits the recording as a weighted sum of `whole`, `front` and `side` by least squares.
  ///
  /// - Returns: the yaw in degrees, and the unexplained share of the energy, from 0 to 1; (NaN, 1)
  ///   in silence or if there is no solution.
  private func fit(
    _ recording: EarSound, _ frames: Range<Int>, _ offset: Double
  ) -> (yaw: Double, residual: Double) {
    let place = Double(frames.lowerBound) + offset
    let parts = [whole, front, side].map { $0.stretch(from: place, count: frames.count).channels }
    var matrix = [Double](repeating: 0, count: 9)
    var target = [0.0, 0.0, 0.0]
    var energy = 0.0
    for (ear, channel) in recording.channels.enumerated() {
      for i in 0..<frames.count {
        let heard = Double(channel[frames.lowerBound + i])
        energy += heard * heard
        for row in 0..<3 {
          let own = Double(parts[row][ear][i])
          target[row] += own * heard
          for column in 0..<3 { matrix[3 * row + column] += own * Double(parts[column][ear][i]) }
        }
      }
    }
    guard energy > 0,
      let gains = Cholesky.solution(matrix, target, limit: 1e-12 * matrix[0])
    else { return (.nan, 1) }
    let explained = zip(gains, target).reduce(0) { $0 + $1.0 * $1.1 }
    return (angle(gains[2], gains[1]) * 180 / Double.pi, max(0, 1 - explained / energy))
  }
}
