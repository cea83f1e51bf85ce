// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Analyses a recording of a `Scene` in steps of 2 ms: the direction of the stage, its gain, and
/// the position in the source. These are the values with which the scene's three renders fit best.
struct HeardStage {
  struct Moment {
    /// The middle, in frames of the recording and CLOCK_MONOTONIC [ns].
    let frame: Int
    let time: Int64
    /// The source's frame there; nil in silence, or if no part of the source is found.
    let sourceFrame: Int?
    /// The yaw of the head for which the stage was rendered [degrees].
    let yaw: Double
    /// The linear gain relative to the output of `render`.
    let gain: Double
    /// The unexplained part relative to the sound [dB].
    let residualDecibels: Double
  }

  static let hop = 96
  /// A larger residual means another position in the source [dB].
  private static let badResidual = -17.0
  /// The search range around the expected position [frames].
  private static let nearFrames = 24_000
  private static let probeFrames = 480

  let moments: [Moment]

  /// - Parameters:
  ///   - times: the part of the recording to analyse, CLOCK_MONOTONIC [ns]; nil for all of it.
  ///   - startsWithin: the range of source frames in which that part begins; nil for the first two
  ///     seconds.
  init(
    _ recording: Recording, _ scene: Scene, times: ClosedRange<Int64>? = nil,
    startsWithin: Range<Int>? = nil
  ) {
    var reader = Reader(
      recording: recording, scene: scene, firstRange: startsWithin ?? 0..<2 * Scene.sampleRate)
    let first = max(0, times.map { recording.frame(at: $0.lowerBound) } ?? 0)
    let last = min(
      recording.frames - Self.hop,
      times.map { recording.frame(at: $0.upperBound) } ?? recording.frames)
    moments = stride(from: first, through: max(first - 1, last), by: Self.hop).map {
      reader.read($0)
    }
  }

  /// The moments that are not silent.
  var audible: [Moment] { moments.filter { $0.gain != 0 } }

  /// Changes of the source position relative to the recording, in frames: negative for a repetition
  /// or an insertion, positive for an omission. The first 100 ms of sound are ignored.
  var jumps: [Int] {
    let offsets = audible.dropFirst(50).compactMap { moment in
      moment.sourceFrame.map { $0 - moment.frame }
    }
    return zip(offsets, offsets.dropFirst()).map { $1 - $0 }.filter { $0 != 0 }
  }

  /// Whether the source plays without a gap from its first moment to the end of the recording.
  var isUnbroken: Bool {
    jumps.isEmpty && moments.drop { $0.gain == 0 }.allSatisfy { $0.gain != 0 }
  }

  /// Returns the source position at which a 50 ms ramp, up or down, has half its gain.
  static func middle(ofRamp moments: some Sequence<Moment>) -> Double? {
    let found = moments.filter { $0.sourceFrame != nil && $0.gain > 0.05 }
    for (a, b) in zip(found, found.dropFirst()) where (a.gain < 0.5) != (b.gain < 0.5) {
      let share = (0.5 - a.gain) / (b.gain - a.gain)
      guard let start = a.sourceFrame, let end = b.sourceFrame else { continue }
      return Double(start) + share * Double(end - start)
    }
    return nil
  }

  /// Reads a recording moment by moment and tracks the source position.
  private struct Reader {
    let recording: Recording
    let scene: Scene
    let firstRange: Range<Int>
    /// The offset from a frame of the recording to that of the source.
    var offset: Int?
    var lastSource: Int?

    mutating func read(_ frame: Int) -> Moment {
      let isSilent = recording.level(frame..<frame + HeardStage.hop) < 1e-6
      let fit = isSilent ? nil : bestFit(frame)
      let isFound = fit.map { $0.residualDecibels < HeardStage.badResidual } ?? false
      let middle = frame + HeardStage.hop / 2
      if isFound { lastSource = offset.map { $0 + frame } }
      return Moment(
        frame: middle, time: recording.time(ofFrame: middle),
        sourceFrame: isFound ? offset.map { $0 + middle } : nil, yaw: fit?.yaw ?? .nan,
        gain: isSilent ? 0 : fit?.gain ?? .nan, residualDecibels: fit?.residualDecibels ?? .nan)
    }

    private mutating func bestFit(_ frame: Int) -> StageFit? {
      let here = offset.flatMap { StageFit(recording, frame, scene, frame + $0) }
      if let here, here.residualDecibels < HeardStage.badResidual { return here }
      let near = HeardStage.nearFrames
      let range = lastSource.map { $0 - near..<$0 + near } ?? firstRange
      guard let place = HeardStage.locate(recording, at: frame, in: scene, range),
        let there = StageFit(recording, frame, scene, place),
        there.residualDecibels < HeardStage.badResidual
      else { return here }
      offset = place - frame
      return there
    }
  }

  /// Returns the moments between two times.
  func between(_ start: Int64, _ end: Int64) -> ArraySlice<Moment> {
    let first = moments.firstIndex { $0.time >= start } ?? moments.endIndex
    let last = moments.lastIndex { $0.time <= end } ?? moments.startIndex
    return first <= last ? moments[first...last] : []
  }

  /// Returns the first moment after `time` from which a condition holds for 20 ms.
  func first(after time: Int64, where holds: (Moment) -> Bool) -> Moment? {
    var run = 0
    for (index, moment) in moments.enumerated() where moment.time > time {
      run = holds(moment) ? run + 1 : 0
      if run == 10 { return moments[index - 9] }
    }
    return nil
  }

  /// Returns the source frame at `frame` of the recording: the one with the highest correlation
  /// over 10 ms.
  static func locate(
    _ recording: Recording, at frame: Int, in scene: Scene, _ range: Range<Int>
  ) -> Int? {
    let count = probeFrames
    guard frame + count <= recording.frames else { return nil }
    let sum = (0..<count).map { recording.ears[0][frame + $0] + recording.ears[1][frame + $0] }
    let places = range.clamped(to: 0..<max(0, scene.frames - count))
    var best: (place: Int, score: Float) = (0, 0)
    sum.withUnsafeBufferPointer { probe in
      for basis in [scene.whole, scene.front] {
        let both =
          places.isEmpty ? [] : addEars(basis, places.lowerBound..<places.upperBound + count)
        both.withUnsafeBufferPointer { values in
          for index in 0..<places.count {
            let score = similarity(probe.baseAddress!, values.baseAddress! + index, count)
            if score > best.score { best = (places.lowerBound + index, score) }
          }
        }
      }
    }
    return best.score > 0.05 ? best.place : nil
  }

  private static func addEars(_ ears: [[Float]], _ range: Range<Int>) -> [Float] {
    range.map { ears[0][$0] + ears[1][$0] }
  }

  /// Returns the squared normalised correlation.
  private static func similarity(
    _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ count: Int
  ) -> Float {
    var (ab, bb, aa) = (SIMD8<Float>(), SIMD8<Float>(), SIMD8<Float>())
    for i in stride(from: 0, to: count, by: 8) {
      let x = UnsafeRawPointer(a + i).loadUnaligned(as: SIMD8<Float>.self)
      let y = UnsafeRawPointer(b + i).loadUnaligned(as: SIMD8<Float>.self)
      ab += x * y
      bb += y * y
      aa += x * x
    }
    let product = ab.sum()
    return product * product / max(1e-30, aa.sum() * bb.sum())
  }
}
