// SPDX-License-Identifier: Apache-2.0

import SignalProcessing

/// A queue of frames with one plane per channel.
final class PlanarQueue {
  let channels: Int
  private(set) var count = 0
  private var start = 0
  private var capacity = 0
  private var storage: UnsafeMutablePointer<Float>?
  /// The arrays that `headPlanes` and `tailPlanes` fill and return, with one pointer per channel.
  private let heads: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>
  private let tails: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>

  init(channels: Int) {
    self.channels = channels
    heads = .allocate(capacity: channels)
    tails = .allocate(capacity: channels)
    heads.initialize(repeating: nil, count: channels)
    tails.initialize(repeating: nil, count: channels)
  }

  deinit {
    storage?.deallocate()
    heads.deallocate()
    tails.deallocate()
  }

  func plane(_ channel: Int) -> UnsafeMutablePointer<Float> {
    storage! + (channel * capacity + start)
  }

  /// Reserves space for `frames` more frames. Returns the address of the first of them in the plane
  /// of `channel`.
  func tail(_ channel: Int, frames: Int) -> UnsafeMutablePointer<Float> {
    reserve(frames)
    return plane(channel) + count
  }

  /// Returns the address of the first frame in each plane, for FFmpeg.
  func headPlanes() -> UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?> {
    fill(heads, offset: 0)
    return heads
  }

  /// Reserves space for `frames` more frames. Returns the address of the first of them in each
  /// plane, for FFmpeg.
  func tailPlanes(frames: Int) -> UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?> {
    reserve(frames)
    fill(tails, offset: count)
    return tails
  }

  /// Adds the `frames` frames written at the tail.
  func commit(_ frames: Int) { count += frames }

  func appendSilence(_ frames: Int) {
    for channel in 0..<channels {
      tail(channel, frames: frames).initialize(repeating: 0, count: frames)
    }
    commit(frames)
  }

  /// Whether the magnitude of every sample is at most `limit`; false if a sample is NaN.
  func isWithin(_ limit: Float) -> Bool {
    count == 0
      || (0..<channels).allSatisfy { FiniteGuard.isWithin(limit, plane($0), frames: count) }
  }

  /// Drops the first `frames` frames. `frames` must not exceed `count`.
  func consume(_ frames: Int) {
    count -= frames
    start = count == 0 ? 0 : start + frames
  }

  /// Drops frames from the end until at most `frames` are left.
  func truncate(to frames: Int) { count = min(count, frames) }

  func removeAll() {
    count = 0
    start = 0
  }

  private func fill(
    _ planes: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, offset: Int
  ) {
    for channel in 0..<channels {
      planes[channel] = UnsafeMutableRawPointer(plane(channel) + offset)
        .assumingMemoryBound(to: UInt8.self)
    }
  }

  private func reserve(_ frames: Int) {
    guard storage == nil || start + count + frames > capacity else { return }
    if storage != nil, count + frames <= capacity {
      for channel in 0..<channels {
        (storage! + channel * capacity).update(from: plane(channel), count: count)
      }
    } else {
      let grown = max(4096, 2 * (count + frames))
      let moved = UnsafeMutablePointer<Float>.allocate(capacity: grown * channels)
      moved.initialize(repeating: 0, count: grown * channels)
      for channel in 0..<channels where count > 0 {
        (moved + channel * grown).update(from: plane(channel), count: count)
      }
      storage?.deallocate()
      storage = moved
      capacity = grown
    }
    start = 0
  }
}
