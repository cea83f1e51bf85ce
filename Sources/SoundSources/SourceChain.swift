// SPDX-License-Identifier: Apache-2.0

private import Ambisonics
package import Binaural
package import Rendering
private import Surround

/// What a source goes through before it is rendered, in `play` and `render` alike.
///
/// It happens where the source is read, ahead of time, and has nothing to do with the head. Each
/// step is a `SoundSource` that reads from another one; what a step delays it makes up for by
/// reading ahead, so that frame numbers are the source's own throughout.
///
/// - Parameters:
///   - source: at the rate of playing.
///   - settings: how it is rendered.
package func prepared(
  _ source: any SoundSource, settings: RenderSettings
) throws(PlaybackError) -> any SoundSource {
  guard source.changesLayout else { return try preparedRun(source, settings: settings) }
  return try ConstantBusSource(source) { run throws(PlaybackError) in
    try preparedRun(run, settings: settings)
  }
}

/// What a source, or a run of one, goes through whose layout stays the same.
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
  /// How a source of this layout is brought to 5.1; nil where it is not.
  fileprivate func upmixSettings(for layout: ChannelLayout) -> UpmixSettings? {
    guard layout == .stereo else { return nil }
    return switch upmix {
    case .on: UpmixSettings()
    case .lowLatency: .lowLatency
    case .off: nil
    }
  }
}

/// What is done to a prepared source's loudness in `play`; nil for nothing.
///
/// - Parameters:
///   - prepared: what `prepared` made of `source`.
///   - source: as it was before.
///   - filters: that it is rendered with, for loudness is measured at the ears.
///   - settings: how it is rendered; where they say nothing of loudness, nothing is done.
///   - patienceMilliseconds: how long the first sound waits for the first word on its loudness.
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
