// SPDX-License-Identifier: Apache-2.0

private import Media
internal import Rendering
internal import SoundServer

extension Player {
  /// Returns the named sink. If no sink is named, returns the default sink or else the first sink;
  /// nil if the server has no sinks.
  ///
  /// - Throws: `PlaybackError.output` if the server's sinks cannot be read, or none of them has the
  ///   requested name.
  static func sink(
    _ options: PlayerOptions, _ client: SoundServerClient
  ) throws(PlaybackError) -> Sink? {
    do throws(SoundServerError) {
      let sinks = try client.sinks()
      if let name = options.sinkName {
        guard let sink = sinks.first(where: { $0.name == name }) else {
          throw .unknownSink(name: name, available: sinks.map(\.name))
        }
        return sink
      }
      return sinks.first { $0.isDefault } ?? sinks.first
    } catch { throw .output(error.description) }
  }

  /// Returns `rate` if playback supports it; otherwise 48000 [Hz].
  static func usable(_ rate: Int) -> Int {
    AudioTrack.sampleRates.contains(rate) ? rate : 48000
  }

  /// Prepares an output at `rate` [Hz] that plays a feed.
  ///
  /// - Parameters:
  ///   - isHeadKnown: whether all head poses are known in advance, so that queued sound never
  ///     becomes outdated.
  ///   - startsPaused: whether the output is opened paused.
  static func makeOutput(
    _ client: SoundServerClient, _ options: PlayerOptions, _ rate: Int, _ feed: RenderFeed,
    isHeadKnown: Bool, startsPaused: Bool
  ) throws(PlaybackError) -> any AudioOutput {
    var configuration = AudioOutputConfiguration()
    configuration.sinkName = options.sinkName
    configuration.sampleRate = rate
    configuration.latencyMilliseconds = options.latencyMilliseconds
    configuration.rewriting = options.rewriting
    configuration.latencyIsFree = isHeadKnown
    configuration.startsPaused = startsPaused
    do throws(SoundServerError) {
      let canRewrite = feed.renderer.isRewritable
      return try client.output(
        configuration, render: canRewrite ? feed.rewritingCallback : feed.callback)
    } catch { throw .output(error.description) }
  }
}
