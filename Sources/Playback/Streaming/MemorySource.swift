// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics

/// Sound in memory.
final class MemorySource: SoundSource {
  let layout: ChannelLayout
  let sampleRate: Int
  let title: String? = nil
  let warnings: [String] = []
  private let planes: [[Float]]
  private var position = 0

  /// - Parameter planes: channels x frames.
  init(_ planes: [[Float]], layout: ChannelLayout, sampleRate: Int) {
    precondition(planes.count == layout.channelCount)
    self.planes = planes
    self.layout = layout
    self.sampleRate = sampleRate
  }

  var duration: Int? { planes.first?.count ?? 0 }

  func read(
    into target: UnsafeMutablePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(PlaybackError) -> Int {
    let count = max(0, min(frames, (planes.first?.count ?? 0) - position))
    for (c, plane) in planes.enumerated() {
      for i in 0..<count { target[c][i] = plane[position + i] }
    }
    position += count
    return count
  }

  func seek(toFrame frame: Int) throws(PlaybackError) {
    position = max(0, min(frame, planes.first?.count ?? 0))
  }
}
