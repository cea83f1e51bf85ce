// SPDX-License-Identifier: Apache-2.0

private import Ambisonics
private import Surround

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
  var source = source
  if let upmix = settings.upmixSettings(for: source.layout) {
    source = UpmixedSource(source, settings: upmix)
  }
  return source
}

extension RenderSettings {
  /// How a source of this layout is brought to 5.1; nil where it is not.
  fileprivate func upmixSettings(for layout: ChannelLayout) -> UpmixSettings? {
    guard layout == .stereo, spatialization.includes(layout) else { return nil }
    return switch upmix {
    case .on: UpmixSettings()
    case .lowLatency: .lowLatency
    case .off: nil
    }
  }
}
