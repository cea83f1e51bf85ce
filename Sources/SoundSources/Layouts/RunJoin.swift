// SPDX-License-Identifier: Apache-2.0

private import Glibc
internal import Rendering

/// Joins runs of sound without clicks.
struct RunJoin {
  private let fadeFrames: Int
  private let longestFadeFrames: Int
  /// The last frames, from which the continuation is predicted.
  private var past: SoundLine
  /// The sound that is crossfaded with the new run: channels x frames. The channels may have
  /// different lengths.
  private var tail: [[Float]] = []
  private var tailPosition = 0

  /// The duration of a fade-out, of a fade-in and of the shortest crossfade, in seconds.
  private static let fadeSeconds = 0.02
  /// The duration of the longest crossfade, in seconds. Tones need a long crossfade.
  private static let longestFadeSeconds = 0.18
  private static let pastFrames = 1024

  init(channels: Int, sampleRate: Int) {
    fadeFrames = Int(Self.fadeSeconds * Double(sampleRate))
    longestFadeFrames = Int(Self.longestFadeSeconds * Double(sampleRate))
    past = SoundLine(channels: channels)
  }

  /// Discards the past and the prediction.
  mutating func forget() {
    past.removeAll()
    tail = []
  }

  mutating func remember(
    _ planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, _ count: Int
  ) {
    past.append(UnsafePointer(planes), frames: count)
    past.keepLast(Self.pastFrames)
  }

  // MARK: Runs that meet

  /// Bridges `missing` frames with a prediction, or with silence if there is no past.
  ///
  /// In a gap of 20 ms or less, the prediction continues beyond the gap, and `fade` crossfades the
  /// excess with the new run. In a longer gap, the prediction is faded out over 20 ms, silence
  /// follows, and `fade` fades the new run in.
  ///
  /// - Returns: `missing`.
  mutating func bridge(_ missing: Int, on line: inout SoundLine) -> Int {
    tailPosition = 0
    guard past.count > 0 else {
      tail = []
      line.appendSilence(missing)
      return missing
    }
    let isShort = missing <= fadeFrames
    let bridged = isShort ? missing : fadeFrames
    let predicted = past.sound(0..<past.count).map {
      SignalExtension.after($0, frames: bridged + (isShort ? longestFadeFrames : 0))
    }
    line.append(
      predicted.map { plane in
        (0..<bridged).map { plane[$0] * (isShort ? 1 : 1 - share($0, of: bridged)) }
      })
    line.appendSilence(missing - bridged)
    tail = zip(predicted, past.sound(0..<past.count)).map { plane, past in
      guard isShort else { return [Float](repeating: 0, count: fadeFrames) }
      let coming = plane.dropFirst(bridged)
      return Array(coming.prefix(goesOn(coming, after: past)))
    }
    if !isShort { past.removeAll() }
    return missing
  }

  /// Returns the number of frames for which the prediction keeps at least half the power of the
  /// past, but not less than `fadeFrames`.
  private func goesOn(_ coming: ArraySlice<Float>, after past: [Float]) -> Int {
    func power(_ sound: ArraySlice<Float>) -> Float {
      sound.reduce(0) { $0 + $1 * $1 } / Float(sound.count)
    }
    let (least, step) = (0.5 * power(past[...]), fadeFrames / 2)
    var length = fadeFrames
    guard least > 0 else { return length }
    while length + step <= coming.count,
      power(coming.dropFirst(length - step).prefix(2 * step)) >= least
    {
      length += step
    }
    return length
  }

  /// Crossfades `tail` with the next frames of the new run, in place.
  mutating func fade(_ planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, _ count: Int) {
    guard !tail.isEmpty, tailPosition < longestFadeFrames else { return }
    for (c, past) in tail.enumerated() {
      for i in 0..<max(0, min(count, past.count - tailPosition)) {
        let predicted = past[tailPosition + i]
        planes[c][i] =
          predicted + (planes[c][i] - predicted) * share(tailPosition + i, of: past.count)
      }
    }
    tailPosition += count
  }

  /// Returns the value at `frame` of a smooth ramp that rises from 0 to 1 over `length` frames.
  private func share(_ frame: Int, of length: Int) -> Float {
    let t = (Float(frame) + 0.5) / Float(length)
    return t * t * t * (10 - 15 * t + 6 * t * t)
  }

  // MARK: Runs that overlap

  /// Crossfades the end of a line with another version of the same sound, starting `frames` frames
  /// before the end. If `new` is shorter than `frames`, the crossfade has the length of `new`, and
  /// the old sound after it is removed.
  ///
  /// With `r` the result of `agreement` and `t` rising from 0 to pi / 2, the gains of the old and
  /// the new version are cos(t) / p and sin(t) / p, where p = sqrt(1 + 2 r sin(t) cos(t)).
  ///
  /// - Returns: the number of frames that were removed.
  mutating func crossfade(
    _ new: SoundLine, into line: inout SoundLine, over frames: Int
  ) -> Int {
    let length = min(frames, new.count)
    let start = line.count - frames
    let old = line.sound(start..<start + length)
    let other = new.sound(0..<length)
    let agreement = Self.agreement(old, other)
    let gains = (0..<length).map { frame -> (old: Float, new: Float) in
      let turn = share(frame, of: length) * Float.pi / 2
      let (a, b) = (cosf(turn), sinf(turn))
      let power = (1 + 2 * agreement * a * b).squareRoot()
      return (a / power, b / power)
    }
    line.change(start..<start + length) { channel, index, value in
      value * gains[index].old + other[channel][index] * gains[index].new
    }
    guard length < frames else { return 0 }
    line.removeLast(frames - length)
    // Later predictions are computed from `past`, which must therefore hold the end of the
    // shortened line.
    past.removeAll()
    past.append(line.sound(max(0, line.count - Self.pastFrames)..<line.count))
    return frames - length
  }

  /// Returns the normalised correlation of two sounds over all channels, clamped to 0 ... 1.
  private static func agreement(_ first: [[Float]], _ other: [[Float]]) -> Float {
    var (product, one, two): (Float, Float, Float) = (0, 1e-12, 1e-12)
    for (x, y) in zip(first, other) {
      for i in x.indices {
        product += x[i] * y[i]
        one += x[i] * x[i]
        two += y[i] * y[i]
      }
    }
    return max(0, min(1, product / (one * two).squareRoot()))
  }
}
