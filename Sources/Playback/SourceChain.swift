// SPDX-License-Identifier: Apache-2.0

/// What a source goes through before it is rendered, in `play` and `render` alike.
///
/// It happens where the source is read, ahead of time, and has nothing to do with the head. Each step is
/// a `SoundSource` that reads from another one; what a step delays it makes up for by reading ahead, so
/// that frame numbers are the source's own throughout.
///
/// - Parameters:
///   - source: at the rate of playing.
///   - settings: how it is rendered.
func prepared(
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
  guard let encoding = source.matrixEncoding, !source.isBinaural,
    settings.spatialization.includes(.stereo)
  else { return source }
  return MatrixDecodedSource(source, encoding: encoding) ?? source
}
