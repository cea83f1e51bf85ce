// SPDX-License-Identifier: Apache-2.0

public import HeadTracking
public import Rendering

extension OfflineRenderer {
  /// Makes a renderer for a source, including the steps before rendering, such as the upmix.
  ///
  /// - Parameters:
  ///   - source: the source to render.
  ///   - head: `headToWorld` over the source's time.
  ///   - hrtf: the choice of HRTF set.
  ///   - settings: the settings of the renderer.
  ///   - isLimited: whether the true peak is limited to -1 dBTP.
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
  /// Makes a renderer for a source, including the steps before rendering, such as the upmix.
  ///
  /// - Parameters:
  ///   - source: the source to render.
  ///   - target: the layout to render for.
  ///   - head: `headToWorld` over the source's time; nil to convert the layout only.
  ///   - settings: the settings of the renderer.
  public convenience init(
    source: any SoundSource, target: OutputLayout, head: HeadTrajectory?, settings: RenderSettings
  ) throws(PlaybackError) {
    var preparation = settings
    // A downmix of the upmix would only restore the input.
    if target == .stereo, head == nil { preparation.upmix = .off }
    try self.init(
      prepared: prepared(source, settings: preparation),
      isSpatial: !source.isBinaural && settings.spatialization.includes(source.layout),
      target: target, head: head, settings: preparation)
  }
}
