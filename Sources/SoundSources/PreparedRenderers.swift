// SPDX-License-Identifier: Apache-2.0

public import HeadTracking
public import Rendering

extension OfflineRenderer {
  /// Renders a source after the steps that come before the renderer, such as the upmix.
  ///
  /// - Parameters:
  ///   - source: what is rendered.
  ///   - head: `headToWorld` over the source's time.
  ///   - hrtf: the listener.
  ///   - settings: how.
  ///   - isLimited: whether the true peak is kept at -1 dBTP.
  public convenience init(
    source: any SoundSource, head: HeadTrajectory, hrtf: HRTFChoice, settings: RenderSettings,
    isLimited: Bool
  ) throws(PlaybackError) {
    try self.init(
      prepared: prepared(source, settings: settings), head: head, hrtf: hrtf, settings: settings,
      isLimited: isLimited)
  }
}

extension LayoutRenderer {
  /// Renders a source after the steps that come before the renderer, such as the upmix.
  ///
  /// - Parameters:
  ///   - source: what is rendered.
  ///   - target: for what.
  ///   - head: `headToWorld` over the source's time; nil for none.
  ///   - settings: how.
  public convenience init(
    source: any SoundSource, target: OutputLayout, head: HeadTrajectory?, settings: RenderSettings
  ) throws(PlaybackError) {
    var preparation = settings
    // The downmix of an upmix is the input again.
    if target == .stereo, head == nil { preparation.upmix = .off }
    try self.init(
      prepared: prepared(source, settings: preparation),
      isSpatial: !source.isBinaural && settings.spatialization.includes(source.layout),
      target: target, head: head, settings: preparation)
  }
}
