// SPDX-License-Identifier: Apache-2.0

/// The commands, each by the words that are typed for it.
public enum CommandName: String, Sendable, CaseIterable {
  case play
  case render
  case demo
  case trackers
  case trackersWatch = "trackers watch"
  case trackersBridge = "trackers bridge"
  case hrtfInfo = "hrtf info"
  case hrtfExport = "hrtf export"
  case fuse
  case calibrate
  case benchRender = "bench render"
  case benchFusion = "bench fusion"
  case benchPrediction = "bench prediction"
  case benchAdaptation = "bench adaptation"
  case completion
}
