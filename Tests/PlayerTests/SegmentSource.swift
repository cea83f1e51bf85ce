// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Playback

/// A source of known runs, each with its own channels.
final class SegmentSource: SoundSource {
  struct Segment {
    let layout: ChannelLayout
    /// The samples, channels x frames.
    let sound: [[Float]]
  }

  let layout: ChannelLayout
  let sampleRate = 48_000
  let title: String? = nil
  let warnings: [String] = []
  let changesLayout = true
  let expectedLayouts: [ChannelLayout]
  private let segments: [Segment]
  /// The current segment, and the next frame in it.
  private var index = 0
  private var offset = 0
  private var isAnnounced = false

  init(_ segments: [Segment], expecting layouts: [ChannelLayout] = []) {
    self.segments = segments
    layout = segments[0].layout
    expectedLayouts = [segments[0].layout] + layouts
  }

  var duration: Int? { segments.reduce(0) { $0 + $1.sound[0].count } }

  func nextLayout() -> ChannelLayout? {
    while index < segments.count, offset == segments[index].sound[0].count {
      index += 1
      offset = 0
    }
    isAnnounced = true
    return index < segments.count ? segments[index].layout : nil
  }

  func read(
    into planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int {
    guard isAnnounced, index < segments.count else { return 0 }
    let sound = segments[index].sound
    // Return fewer frames than requested at times, as sources may.
    let count = min(frames, sound[0].count - offset, 777)
    for (c, channel) in sound.enumerated() {
      for i in 0..<count { planes[c][i] = channel[offset + i] }
    }
    offset += count
    if count == 0 { isAnnounced = false }
    return count
  }

  func seek(toFrame frame: Int) throws(PlaybackError) {
    (index, offset, isAnnounced) = (0, frame, false)
    while index < segments.count - 1, offset >= segments[index].sound[0].count {
      offset -= segments[index].sound[0].count
      index += 1
    }
  }
}

/// Reads a source from its position to the end, in pieces of varying size; returns channels x
/// frames.
func readAll(_ source: any SoundSource, sizes: [Int] = [256, 1000, 5000]) throws -> [[Float]] {
  let channels = source.layout.channelCount
  let most = sizes.max() ?? 1
  let storage = UnsafeMutablePointer<Float>.allocate(capacity: channels * most)
  let planes = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: channels)
  for c in 0..<channels { (planes + c).initialize(to: storage + c * most) }
  defer {
    planes.deallocate()
    storage.deallocate()
  }
  var all = [[Float]](repeating: [], count: channels)
  for piece in 0... {
    let size = sizes[piece % sizes.count]
    let count = try source.read(into: planes, frames: size)
    for c in 0..<channels { all[c] += UnsafeBufferPointer(start: planes[c], count: count) }
    if count < size { break }
  }
  return all
}
