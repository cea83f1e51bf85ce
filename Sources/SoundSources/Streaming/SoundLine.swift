// SPDX-License-Identifier: Apache-2.0

internal import Rendering

/// A first-in, first-out buffer of frames.
struct SoundLine {
  private var planes: [[Float]]
  private var start = 0

  init(channels: Int) { planes = Array(repeating: [], count: channels) }

  var channels: Int { planes.count }
  var count: Int { (planes.first?.count ?? 0) - start }

  mutating func append(_ source: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int) {
    tidy()
    for c in planes.indices {
      planes[c].append(contentsOf: UnsafeBufferPointer(start: source[c], count: frames))
    }
  }

  /// Appends a sound, channels x frames.
  mutating func append(_ sound: [[Float]]) {
    tidy()
    for c in planes.indices { planes[c] += sound[c] }
  }

  mutating func appendSilence(_ frames: Int) {
    tidy()
    for c in planes.indices { planes[c] += [Float](repeating: 0, count: frames) }
  }

  mutating func removeFirst(_ frames: Int) { start += min(max(0, frames), count) }

  mutating func removeLast(_ frames: Int) {
    let removed = min(max(0, frames), count)
    for c in planes.indices { planes[c].removeLast(removed) }
  }

  mutating func removeAll() {
    for c in planes.indices { planes[c].removeAll(keepingCapacity: true) }
    start = 0
  }

  /// Removes all but the newest `frames` frames.
  mutating func keepLast(_ frames: Int) { removeFirst(count - frames) }

  /// Copies the oldest `frames` frames, channels x frames, without removing them.
  func copy(_ frames: Int, into target: UnsafeMutablePointer<UnsafeMutablePointer<Float>>) {
    for c in planes.indices {
      planes[c].withUnsafeBufferPointer { plane in
        target[c].update(from: plane.baseAddress! + start, count: frames)
      }
    }
  }

  /// Returns a range of frames, counted from the oldest frame, as channels x frames.
  func sound(_ range: Range<Int>) -> [[Float]] {
    planes.map { Array($0[(start + range.lowerBound)..<(start + range.upperBound)]) }
  }

  /// Replaces every sample in a range of frames, counted from the oldest frame. The `index` in
  /// `body` is counted from the start of the range.
  mutating func change(
    _ range: Range<Int>, _ body: (_ channel: Int, _ index: Int, _ value: Float) -> Float
  ) {
    for c in planes.indices {
      for i in range { planes[c][start + i] = body(c, i - range.lowerBound, planes[c][start + i]) }
    }
  }

  /// Discards the samples of removed frames if there are many.
  private mutating func tidy() {
    guard start > 16384, start > count else { return }
    for c in planes.indices { planes[c].removeFirst(start) }
    start = 0
  }
}
