// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CFFmpeg

/// Divides a track into runs of frames that have the same channel layout.
struct LayoutRuns {
  /// Whether a run ends when the layout changes. Otherwise, the track is one run.
  var areFollowed = false
  /// The layout of the next run; nil until the current run has ended.
  var next: ChannelLayout?
  /// The codec's layout labels of the track's first frame (`homeLabel`) and of the current run
  /// (`label`).
  private var homeLabel = ChannelLayout.unknown(channels: 0)
  private var label = ChannelLayout.unknown(channels: 0)

  /// Stores the layout label of the track's first frame.
  mutating func begin(with label: ChannelLayout) {
    homeLabel = label
    self.label = label
  }

  /// Whether `frame` begins the next run. If so, sets `next` to the layout of that run.
  mutating func isEnded(
    by frame: UnsafeMutablePointer<AVFrame>, of track: AudioTrack
  ) -> Bool {
    guard areFollowed else { return false }
    let label = ChannelLayout(frame.pointee.ch_layout)
    guard label != self.label, (1...AudioTrack.maximumChannels).contains(label.channelCount),
      // Unlabelled channels count as unchanged if their number is unchanged.
      label != .unknown(channels: self.label.channelCount)
    else { return false }
    next = label == homeLabel ? track.layout : label
    return true
  }

  /// Begins the next run, if the current run has ended.
  mutating func beginNext(with label: ChannelLayout) {
    guard next != nil else { return }
    self.label = label
    next = nil
  }
}
