// SPDX-License-Identifier: Apache-2.0

package import SoundServer

/// What a `SystemWideOutput` reports to its `onEvent`.
package enum SystemWideEvent: Sendable, Equatable {
  /// The sound goes to this sink from now on.
  case output(Sink)
  /// There is no real sink to play to.
  case noOutput
  case started(SinkLayout)
  /// A virtual sink cannot be created or started. Another attempt follows.
  case failed(SinkLayout, SoundServerError)
  /// A stream now plays to the virtual sink with this layout, or has left the virtual sinks (nil).
  case routed(ProgramStream, SinkLayout?)
  /// A stream that was on a virtual sink has ended, or the server has been lost.
  case ended(ProgramStream)
  /// Another program keeps changing the default sink. The output waits before it makes a virtual
  /// sink the default again.
  case defaultContested
  /// An event of the stream that plays a virtual sink's sound.
  case stream(SinkLayout, AudioOutputEvent)
}

/// The state of a system-wide output at one moment.
package struct SystemWideStatus: Sendable, Equatable {
  package struct Entry: Sendable, Equatable {
    package var layout: SinkLayout
    package var output: AudioOutputStatus
    package var isInUse: Bool
  }

  /// The real sink that plays the rendered sound; nil if there is none. While the server is lost,
  /// the value stays the same.
  package var output: Sink?
  /// Whether a virtual sink is the default sink.
  package var isDefault = false
  /// The virtual sinks that were started, in ascending order of channel count.
  package var sinks: [Entry] = []
  /// The streams of all other programs.
  package var streams: [ProgramStream] = []

  package init() {}

  /// The streams that play to virtual sinks.
  package var spatialStreams: [ProgramStream] {
    streams.filter { $0.sink.map(SinkLayout.isOurs) ?? false }
  }
}
