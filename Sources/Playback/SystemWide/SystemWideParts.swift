// SPDX-License-Identifier: Apache-2.0

package import Geometry
package import SoundServer

/// The delays of the renderer of a virtual sink, in milliseconds.
package struct RendererDelay: Sendable, Equatable, Codable {
  package var limiter: Double
  package var filters: Double
  package var upmix: Double

  package init(limiter: Double, filters: Double, upmix: Double) {
    (self.limiter, self.filters, self.upmix) = (limiter, filters, upmix)
  }

  package var total: Double { limiter + filters + upmix }
}

/// The head of the listener, as the renderers of the virtual sinks use it.
package struct LiveHead: Sendable, Equatable {
  /// The name of the connected tracker; nil if there is none.
  package var tracker: String?
  /// The pose relative to the front of the stage; nil before the first sample of the tracker.
  package var pose: Quaternion?
  /// Whether the tracker is sending samples.
  package var isFresh = false
  /// The samples per second; 0 if unknown.
  package var rate = 0.0

  package init() {}
}

/// The renderers of all virtual sinks, with the head that they follow.
///
/// ## Threading
/// It may be used from any thread except the audio threads.
package protocol LiveStage: AnyObject, Sendable {
  var mode: StageMode { get set }
  var head: LiveHead { get }

  /// Moves the front of the stage to the direction that the head faces.
  func recentre()

  /// The delays of the renderer of a virtual sink; nil if there is no such sink.
  func delay(of layout: SinkLayout) -> RendererDelay?

  /// Adapts the treatment after another real sink was chosen or its ports changed.
  func follow(_ sink: Sink)

  /// Returns the news for the listener since the last call, as sentences without a full stop, such
  /// as "head tracker: DualSense".
  func takeNotes() -> [String]

  /// Releases the trackers. This function is called after all virtual sinks have stopped.
  func stop()
}

/// The parts of a system-wide output that depend on the server and on the renderer.
package struct SystemWideParts: Sendable {
  /// The kind of server: "pipewire" or "pulseaudio".
  package var serverKind: String
  package var stage: any LiveStage
  /// Begins to observe the server. The closure receives each change, on the steward's thread.
  package var makeSteward:
    @Sendable (
      @escaping @Sendable (ServerContents) -> Void
    ) throws(SoundServerError) -> any StreamSteward
  /// Removes the virtual sinks that a killed instance left on the server. Can take some seconds.
  /// This is not needed for servers that remove the sinks of a process that has ended.
  package var removeLeftovers: @Sendable () -> Void
  /// Takes the default sink to restore if this process is killed; nil if none is known.
  package var keepDefault: @Sendable (String?) -> Void
  /// Makes a virtual sink with its renderer, but does not start it. The `Sink` is the real sink.
  package var makeSink: @Sendable (SinkLayout, Sink) throws(SoundServerError) -> any VirtualSink

  package init(
    serverKind: String, stage: any LiveStage,
    removeLeftovers: @escaping @Sendable () -> Void = {},
    keepDefault: @escaping @Sendable (String?) -> Void = { _ in },
    makeSteward:
      @escaping @Sendable (
        @escaping @Sendable (ServerContents) -> Void
      ) throws(SoundServerError) -> any StreamSteward,
    makeSink: @escaping @Sendable (SinkLayout, Sink) throws(SoundServerError) -> any VirtualSink
  ) {
    (self.serverKind, self.stage) = (serverKind, stage)
    (self.removeLeftovers, self.keepDefault) = (removeLeftovers, keepDefault)
    (self.makeSteward, self.makeSink) = (makeSteward, makeSink)
  }
}
