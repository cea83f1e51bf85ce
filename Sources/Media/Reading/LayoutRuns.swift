// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CFFmpeg

/// The runs of frames with one channel layout that a track consists of.
struct LayoutRuns {
  /// Whether a run ends where the layout changes; otherwise the track is one run, and changed
  /// channels are mixed to the first ones.
  var areFollowed = false
  /// The layout of the following run, once the current one is over.
  var next: ChannelLayout?
  /// The labels of the first frame of all, and of the current run's frames.
  private var homeLabel = ChannelLayout.unknown(channels: 0)
  private var label = ChannelLayout.unknown(channels: 0)

  /// Notes the label of the track's first frame.
  mutating func begin(with label: ChannelLayout) {
    homeLabel = label
    self.label = label
  }

  /// Whether `frame` begins the next run; `next` then has its layout.
  mutating func isEnded(
    by frame: UnsafeMutablePointer<AVFrame>, of track: AudioTrack
  ) -> Bool {
    guard areFollowed else { return false }
    let label = ChannelLayout(frame.pointee.ch_layout)
    guard label != self.label, (1...AudioTrack.maximumChannels).contains(label.channelCount),
      // Channels without names are those from before, if they are as many.
      label != .unknown(channels: self.label.channelCount)
    else { return false }
    next = label == homeLabel ? track.layout : label
    return true
  }

  /// Begins the next run, whose frames have this label.
  mutating func beginNext(with label: ChannelLayout) {
    guard next != nil else { return }
    self.label = label
    next = nil
  }
}
