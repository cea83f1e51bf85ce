// SPDX-License-Identifier: Apache-2.0

public import HeadTracking
public import Rendering

extension OfflineRenderer {
  /// Prepares a source, for example by an upmix, and creates its renderer.
  ///
  /// - Parameters:
  ///   - source: the source to render.
  ///   - head: the motion of the head, timed from the start of the source.
  ///   - hrtf: the HRTF set.
  ///   - settings: the settings of the renderer.
  ///   - isLimited: whether the true peak is limited to -1 dBTP.
  /// - Throws: any error from the source, its preparation or
  ///   `HRTFChoice.filters(for:settings:sampleRate:)`.
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
  /// Prepares a source, for example by an upmix, and creates its renderer.
  ///
  /// - Parameters:
  ///   - source: the source to render.
  ///   - target: the output layout.
  ///   - head: the motion of the head, timed from the start of the source; nil to convert the
  ///     layout only.
  ///   - settings: the settings of the renderer.
  /// - Throws: any error from the source or its preparation.
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
