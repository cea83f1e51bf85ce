// SPDX-License-Identifier: Apache-2.0

/// Finds the frame at which a recording changes from one rendering to another, as when the head
/// turns [3GPP TS 26.260, 4.2.3].
///
/// `half` is the frame that best splits the recording into the two renderings [maximum likelihood
/// for a step in white noise]. `begin` and `settled` come from the progress of the change in
/// windows of 2 ms.
package struct TurnFinder: Sendable {
  /// A turn found in a recording. Positions are frames of the recording.
  package struct Turn: Sendable, Equatable {
    /// The beginning of the change, at most `half`: the end of the last window that starts at or
    /// before `half` and whose progress is below 0.1. It equals `half` if there is no such window.
    package var begin: Double
    /// The instant of the turn: the frame that best separates the two renderings.
    package var half: Double
    /// The end of the change, at least `half`: the earliest start of a window from which the
    /// progress stays between 0.9 and 1.1. It equals `half` if there is no such window.
    package var settled: Double
    /// The alignment with the first rendering, before the turn.
    var before: SoundAlignment
    /// The alignment with the second rendering, after the turn.
    package var after: SoundAlignment
  }

  /// Frames per window: 2 ms, at least 8 frames.
  let window: Int
  /// The residual, in dB, below which a stretch matches a rendering.
  private static let badResidual = -9.0
  private let alignmentFrames: Int

  /// Creates a finder for one sample rate.
  ///
  /// - Parameter sampleRate: the rate of the recording and the renderings, in Hz.
  package init(sampleRate: Double) {
    window = max(8, Int((0.002 * sampleRate).rounded()))
    alignmentFrames = Int((0.05 * sampleRate).rounded())
  }

  /// Finds the turn in a stretch of a recording.
  ///
  /// - Parameters:
  ///   - frames: the stretch, longer than 100 ms. The turn must not be in its first or last 50 ms.
  ///   - first: the rendering before the turn. Both renderings repeat forever.
  ///   - second: the rendering after the turn.
  ///   - offset: the offset of a nearby alignment. Offsets near it are tried before the entire
  ///     rendering is searched.
  /// - Returns: nil if there is no turn, if the stretch is too short or not inside the recording,
  ///   or if its first or last 50 ms do not match their rendering, as when sound was lost.
  package func turn(
    in recording: EarSound, _ frames: Range<Int>, from first: EarSound, to second: EarSound,
    near offset: Double? = nil
  ) -> Turn? {
    guard frames.count > 2 * alignmentFrames, frames.lowerBound >= 0,
      frames.upperBound <= recording.frames
    else { return nil }
    let head = frames.lowerBound..<frames.lowerBound + alignmentFrames
    let end = frames.upperBound - alignmentFrames..<frames.upperBound
    guard let before = align(recording, head, first, offset),
      let after = SoundAlignment.find(recording, end, in: second, near: before.offset, radius: 3),
      after.residualDecibels < Self.badResidual
    else { return nil }
    // `before.offset` and `after.offset` can differ by a few frames because the sound card's clock
    // drifts.
    let (start, gain) = (Double(frames.lowerBound), Float(before.gain))
    let way = Way(
      recording, frames,
      first.stretch(from: start + before.offset, count: frames.count).scaled(by: gain),
      second.stretch(from: start + after.offset, count: frames.count).scaled(by: gain))
    guard let half = way.half else { return nil }
    let (begin, settled) = way.ends(around: half, window: window)
    return Turn(
      begin: start + begin, half: start + half, settled: start + settled, before: before,
      after: after)
  }

  private func align(
    _ recording: EarSound, _ frames: Range<Int>, _ reference: EarSound, _ offset: Double?
  ) -> SoundAlignment? {
    if let offset,
      let near = SoundAlignment.find(recording, frames, in: reference, near: offset),
      near.residualDecibels < Self.badResidual
    {
      return near
    }
    let anywhere = SoundAlignment.find(recording, frames, in: reference)
    return anywhere.flatMap { $0.residualDecibels < Self.badResidual ? $0 : nil }
  }
}

/// The progress of a recording from one sound to another.
private struct Way {
  /// Cumulative sums over the frames before each index. `done` sums `(x - a)(b - a)`, and `whole`
  /// sums `(b - a)^2`, where `x` is the recording, `a` the first sound and `b` the second.
  private var done = [0.0]
  private var whole = [0.0]
  private var frames: Int { done.count - 1 }

  init(_ recording: EarSound, _ range: Range<Int>, _ first: EarSound, _ second: EarSound) {
    done.reserveCapacity(range.count + 1)
    whole.reserveCapacity(range.count + 1)
    let heard = recording.channels
    let (a, b) = (first.channels, second.channels)
    for i in 0..<range.count {
      var (product, square) = (0.0, 0.0)
      for ear in 0..<2 {
        let way = Double(b[ear][i]) - Double(a[ear][i])
        product += (Double(heard[ear][range.lowerBound + i]) - Double(a[ear][i])) * way
        square += way * way
      }
      done.append(done[i] + product)
      whole.append(whole[i] + square)
    }
  }

  /// The frame that best divides the recording into the first and the second sound; nil if that
  /// frame is at either end.
  ///
  /// `|x - a|^2 - |x - b|^2 = 2 (x - a)(b - a) - |b - a|^2`. The sum of this difference over the
  /// frames before a split is smallest at the best split.
  var half: Double? {
    var (best, least) = (0, Double.infinity)
    for i in 0...frames {
      let sum = 2 * done[i] - whole[i]
      if sum < least { (best, least) = (i, sum) }
    }
    guard best > 0, best < frames else { return nil }
    return Double(best)
  }

  func ends(around half: Double, window: Int) -> (begin: Double, settled: Double) {
    let step = max(1, window / 16)
    var begin = half
    for start in stride(from: min(Int(half), frames - window), through: 0, by: -step) {
      guard let share = share(start, window) else { continue }
      if share < 0.1 {
        begin = min(half, Double(start + window))
        break
      }
    }
    var settled = half
    for start in stride(from: frames - window, through: max(0, Int(half) - window), by: -step) {
      guard let share = share(start, window) else { continue }
      if abs(share - 1) > 0.1 { break }
      settled = Double(start)
    }
    return (begin, max(half, settled))
  }

  /// Returns the progress of the change in a window: 0 for the first sound, 1 for the second.
  /// Returns nil if the two sounds hardly differ there.
  private func share(_ start: Int, _ window: Int) -> Double? {
    let square = whole[start + window] - whole[start]
    let usual = whole[frames] / Double(frames) * Double(window)
    guard square > 0.01 * usual else { return nil }
    return (done[start + window] - done[start]) / square
  }
}
