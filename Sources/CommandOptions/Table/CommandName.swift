// SPDX-License-Identifier: Apache-2.0

/// A command of `stillstage`. The raw value is what the user types after `stillstage`.
public enum CommandName: String, Sendable, CaseIterable {
  case play
  case render
  case fetch
  case demo
  case sink
  case routes
  case trackers
  case trackersWatch = "trackers watch"
  case trackersCheck = "trackers check"
  case trackersBridge = "trackers bridge"
  case hrtfInfo = "hrtf info"
  case hrtfExport = "hrtf export"
  case inputs
  case inputsWatch = "inputs watch"
  case inputsChoose = "inputs choose"
  case record
  case listen
  case mixAnalyse = "mix analyse"
  case mixBake = "mix bake"
  case mixProcess = "mix process"
  case fuse
  case calibrate
  case benchRender = "bench render"
  case benchFusion = "bench fusion"
  case benchPrediction = "bench prediction"
  case benchLatency = "bench latency"
  case benchTrackingError = "bench tracking-error"
  case benchSpeakers = "bench speakers"
  case benchUpmix = "bench upmix"
  case benchMix = "bench mix"
  case benchAdaptation = "bench adaptation"
  case completion

  /// The file name of the executable that runs the command in place of `stillstage`. It is not used
  /// for `completion`, which `stillstage` runs itself.
  public var executable: String {
    switch self {
    case .play, .render, .fetch, .demo, .sink, .routes, .trackers, .trackersWatch,
      .trackersCheck, .trackersBridge, .hrtfInfo, .hrtfExport, .inputs, .inputsWatch, .inputsChoose,
      .record, .listen, .fuse, .mixAnalyse, .mixBake, .mixProcess, .calibrate, .completion:
      "stillstage-engine"
    case .benchRender, .benchFusion, .benchPrediction, .benchLatency, .benchTrackingError,
      .benchSpeakers, .benchUpmix, .benchMix, .benchAdaptation:
      "stillstage-bench"
    }
  }
}
