// SPDX-License-Identifier: Apache-2.0

/// Finds the instant at which a recording goes over from one rendering to another: that of a head
/// before its turn to that of the head after it, as 3GPP TS 26.260, 4.2.3, compares two renderers.
///
/// Two estimates are made. The half of the turn is where the recording changes from being nearer to
/// the one to being nearer to the other: the split that leaves the least squared difference to "the
/// one before, the other after", over all samples (maximum likelihood for a step in white noise).
/// Begin and end come from the share of the way in windows of 2 ms, by projection on the difference
/// of the two renderings.
package struct TurnFinder: Sendable {
  /// A turn that was heard, in frames of the recording.
  package struct Turn: Sendable, Equatable {
    /// The end of the last window in which less than a tenth of the way is done.
    package var begin: Double
    /// The recording is half there: the instant of the turn.
    package var half: Double
    /// The start of the first window from which on the recording stays within a tenth.
    package var settled: Double
    /// Of the recording before and after against the renderings.
    var before: SoundAlignment
    package var after: SoundAlignment
  }

  /// Frames of a window: 2 ms at 48 kHz.
  let window: Int
  /// A stretch is not what it is taken for where more than this is left of it [dB].
  private static let badResidual = -9.0
  private let alignmentFrames: Int

  /// - Parameter sampleRate: of recording and renderings, Hz.
  package init(sampleRate: Double) {
    window = max(8, Int((0.002 * sampleRate).rounded()))
    alignmentFrames = Int((0.05 * sampleRate).rounded())
  }

  /// The turn in a stretch of a recording.
  ///
  /// - Parameters:
  ///   - recording: what was heard.
  ///   - frames: the stretch; its first and last 50 ms are before and after the turn.
  ///   - first: the rendering for the head before the turn; repeats for ever, as does the other.
  ///   - second: for the head after it.
  ///   - offset: of an alignment nearby; nil looks everywhere.
  /// - Returns: nil where the stretch is not the one rendering at first and the other at last, at
  ///   the same place of the source: sound was lost, or no turn is in it.
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
    // A sound card's clock drifts by a frame or two in the meantime.
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

/// How far a recording is on its way from one sound to another.
private struct Way {
  /// Sums over the frames before each: of the product of the way done with the whole way, and of
  /// the whole way's square.
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

  /// |x - a|^2 - |x - b|^2 = 2 (x - a)(b - a) - |b - a|^2: its sum up to a frame is the least at
  /// the frame that divides best. Nil where that is at an end.
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

  /// Nil where the two sounds are the same: a pause.
  private func share(_ start: Int, _ window: Int) -> Double? {
    let square = whole[start + window] - whole[start]
    let usual = whole[frames] / Double(frames) * Double(window)
    guard square > 0.01 * usual else { return nil }
    return (done[start + window] - done[start]) / square
  }
}
