// SPDX-License-Identifier: Apache-2.0

private import Ambisonics
package import Binaural
package import Rendering
private import Surround

/// Applies the processing before rendering, in `play` and `render` alike.
///
/// It runs when the source is read, ahead of time, and does not depend on the head. Each step is a
/// `SoundSource` that reads from another one. A step compensates for its latency by reading ahead,
/// so that frame numbers are those of the source throughout.
///
/// - Parameters:
///   - source: a source at the playback sample rate.
///   - settings: the settings of the renderer.
package func prepared(
  _ source: any SoundSource, settings: RenderSettings
) throws(PlaybackError) -> any SoundSource {
  guard source.changesLayout else { return try preparedRun(source, settings: settings) }
  return try ConstantBusSource(source) { run throws(PlaybackError) in
    try preparedRun(run, settings: settings)
  }
}

/// Applies the processing to a source, or a run, whose layout does not change.
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
  /// Returns the settings that upmix a source of this layout to 5.1; nil if it is not upmixed.
  fileprivate func upmixSettings(for layout: ChannelLayout) -> UpmixSettings? {
    guard layout == .stereo else { return nil }
    return switch upmix {
    case .on: UpmixSettings()
    case .lowLatency: .lowLatency
    case .off: nil
    }
  }
}

/// Wraps a prepared source for `play` so that it has the wanted loudness; nil if the settings name
/// none.
///
/// - Parameters:
///   - prepared: the result of `prepared(_:settings:)` for `source`.
///   - source: the original source.
///   - filters: the filters that render it, since loudness is measured at the ears.
///   - settings: the settings of the renderer.
///   - patienceMilliseconds: the longest time for which the first read waits for the first result
///     of the loudness scan.
///   - tell: see `LevelledSource`.
package func levelled(
  _ prepared: any SoundSource, from source: any SoundSource, filters: BinauralFilters,
  settings: RenderSettings, patienceMilliseconds: Int = LevelledSource.patienceMilliseconds,
  tell: @escaping (LoudnessReport) -> Void
) -> LevelledSource? {
  guard let target = settings.loudness else { return nil }
  let scan = source.another.map { another in
    LoudnessScan(filters: filters, settings: settings) { () throws(PlaybackError) in
      try SoundSources.prepared(another(), settings: settings)
    }
  }
  scan?.start()
  return LevelledSource(
    prepared, stated: source.statedLoudness, scan: scan,
    meter: EarMeter(
      layout: prepared.layout, content: prepared.contentLayout(atFrame: 0), filters: filters,
      settings: settings),
    target: target, patienceMilliseconds: patienceMilliseconds, tell: tell)
}
