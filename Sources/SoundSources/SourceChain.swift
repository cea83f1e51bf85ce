// SPDX-License-Identifier: Apache-2.0

package import Ambisonics
package import Binaural
package import Rendering
package import Surround

/// Wraps a source in the steps that precede rendering: the matrix decoding or the upmix of stereo,
/// the conversion to one bus if the layout changes, and the mix.
///
/// The steps do not depend on the head. Each step reads ahead by its latency, so that frame
/// numbers do not change.
///
/// - Parameters:
///   - source: a source at the playback sample rate.
///   - settings: the settings of the renderer.
/// - Throws: `PlaybackError.mixNeedsSoundfield` or `.neuralSeparator` if the mix in the settings is
///   not possible.
package func prepared(
  _ source: any SoundSource, settings: RenderSettings
) throws(PlaybackError) -> any SoundSource {
  let unmixed = try preparedUnmixed(source, settings: settings)
  guard let mix = settings.mix else { return unmixed }
  try requireSoundfield(source)
  return try MixedSource(unmixed, settings: mix)
}

/// Returns the result of `prepared(_:settings:)` without the mix.
package func preparedUnmixed(
  _ source: any SoundSource, settings: RenderSettings
) throws(PlaybackError) -> any SoundSource {
  guard source.changesLayout else { return try preparedRun(source, settings: settings) }
  return try ConstantBusSource(source) { run throws(PlaybackError) in
    try preparedRun(run, settings: settings)
  }
}

/// Checks that the expected layouts of a source are soundfields of order 1 or higher.
///
/// - Throws: `PlaybackError.mixNeedsSoundfield` if one of them is not.
package func requireSoundfield(_ source: any SoundSource) throws(PlaybackError) {
  for layout in [source.layout] + source.expectedLayouts {
    guard case .ambisonics(1..., _, _) = layout else { throw .mixNeedsSoundfield(layout) }
  }
}

/// Prepares a source whose layout does not change.
private func preparedRun(
  _ source: any SoundSource, settings: RenderSettings
) throws(PlaybackError) -> any SoundSource {
  guard !source.isBinaural, settings.spatialization.includes(source.layout) else { return source }
  if let encoding = source.matrixEncoding,
    let decoded = MatrixDecodedSource(source, encoding: encoding)
  {
    return decoded
  }
  guard let upmix = settings.upmixSettings(for: source.layout) else { return source }
  return UpmixedSource(source, settings: upmix)
}

extension RenderSettings {
  /// Returns the settings of the upmix to 5.1 for a layout; nil if this layout is not upmixed.
  package func upmixSettings(for layout: ChannelLayout) -> UpmixSettings? {
    guard layout == .stereo else { return nil }
    return switch upmix {
    case .on: UpmixSettings()
    case .lowLatency: .lowLatency
    case .off: nil
    }
  }
}

/// Wraps a prepared source so that it has the target loudness. Returns nil if the settings contain
/// no target.
///
/// - Parameters:
///   - prepared: the result of `prepared(_:settings:)` for `source`.
///   - filters: the filters that render the source.
///   - scan: the scan of `source`; nil to create one.
///   - patienceMilliseconds: how long the first read may wait for a good estimate from the scan.
///   - tell: receives reports on the gain; see `LevelledSource`.
package func levelled(
  _ prepared: any SoundSource, from source: any SoundSource, filters: BinauralFilters,
  settings: RenderSettings, scan: LoudnessScan? = nil,
  patienceMilliseconds: Int = LevelledSource.patienceMilliseconds,
  tell: @escaping (LoudnessReport) -> Void
) -> LevelledSource? {
  guard let target = settings.loudness else { return nil }
  let scan = scan ?? LoudnessScan(of: source, settings: settings)
  scan?.start(filters: filters)
  return LevelledSource(
    prepared, stated: source.statedLoudness, scan: scan,
    meter: EarMeter(
      layout: prepared.layout, content: prepared.contentLayout(atFrame: 0),
      isBinaural: source.isBinaural, filters: filters, settings: settings, isEndless: true),
    target: target, patienceMilliseconds: patienceMilliseconds, tell: tell)
}
