// SPDX-License-Identifier: Apache-2.0

package import Geometry
package import SoundServer

/// The delays of a virtual sink's renderer [ms].
package struct RendererDelay: Sendable, Equatable, Codable {
  package var limiter: Double
  package var filters: Double
  package var upmix: Double

  package init(limiter: Double, filters: Double, upmix: Double) {
    (self.limiter, self.filters, self.upmix) = (limiter, filters, upmix)
  }

  package var total: Double { limiter + filters + upmix }
}

/// The listener's head.
package struct LiveHead: Sendable, Equatable {
  /// The name of the connected tracker; nil if there is none.
  package var tracker: String?
  /// The pose relative to the front of the stage; nil if unknown.
  package var pose: Quaternion?
  /// Whether the tracker is sending samples.
  package var isFresh = false
  /// The number of samples per second; 0 if unknown.
  package var rate = 0.0

  package init() {}
}

/// The renderers of all virtual sinks, and the head that they follow.
///
/// ## Threading
/// Any thread except the audio threads may use an instance.
package protocol LiveStage: AnyObject, Sendable {
  var mode: StageMode { get set }
  var head: LiveHead { get }

  /// Moves the front of the stage to the direction that the head faces.
  func recentre()

  /// Returns the delays of a virtual sink's renderer; nil if there is no such sink.
  func delay(of layout: SinkLayout) -> RendererDelay?

  /// Adapts the treatment to another real sink, or to changed properties of the present one.
  func follow(_ sink: Sink)

  /// Returns the notes for the listener that are new since the last call, as sentences without full
  /// stops.
  func takeNotes() -> [String]

  /// Cancels designs in progress and releases the trackers. Call it after all virtual sinks have
  /// stopped.
  func stop()
}

/// The parts of a system-wide output that depend on the server or on the renderer.
package struct SystemWideParts: Sendable {
  /// The kind of server: "pipewire" or "pulseaudio".
  package var serverKind: String
  package var stage: any LiveStage
  /// Begins to observe the server. The argument receives the new contents after each change, on the
  /// steward's thread.
  package var makeSteward:
    @Sendable (
      @escaping @Sendable (ServerContents) -> Void
    ) throws(SoundServerError) -> any StreamSteward
  /// Removes the virtual sinks that a killed instance left on the server. This can take a few
  /// seconds. Does nothing with PipeWire, where a sink ends with the process that created it.
  package var removeLeftovers: @Sendable () -> Void
  /// Receives the default sink to restore if this process is killed; nil if none is known.
  package var keepDefault: @Sendable (String?) -> Void
  /// Makes a virtual sink without starting it. The `Sink` is the real sink.
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
