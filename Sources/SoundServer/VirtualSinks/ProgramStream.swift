// SPDX-License-Identifier: Apache-2.0

package import Ambisonics

/// A stream that a program plays, as the server describes it.
package struct ProgramStream: Sendable, Equatable {
  /// The server's number for the stream. The server does not soon give it to another stream.
  package var id: UInt64
  /// The server's name for the sink that the stream plays to; nil if it plays to none.
  package var sink: String?
  /// The channels of the stream; nil if they are not a known layout.
  package var layout: ChannelLayout?
  package var channelCount: Int
  /// The `media.role` property in lower case, such as "music", "phone" or "event"; nil if unknown.
  package var role: String?
  /// The program's name in mixers.
  package var application: String
  package var processID: Int?
  /// Whether the stream is paused.
  package var isCorked = false

  package init(
    id: UInt64, sink: String?, layout: ChannelLayout?, channelCount: Int, role: String?,
    application: String, processID: Int?
  ) {
    (self.id, self.sink, self.layout, self.channelCount) = (id, sink, layout, channelCount)
    (self.role, self.application, self.processID) = (role, application, processID)
  }
}

/// The sinks and streams of a server at one moment.
package struct ServerContents: Sendable, Equatable {
  /// All sinks, virtual ones included, in the server's order; empty if there is no server.
  package var sinks: [Sink] = []
  /// The streams of all programs except those of this process.
  package var streams: [ProgramStream] = []

  package init() {}

  /// The server's name for the default sink; nil if there is none.
  package var defaultSink: String? { sinks.first(where: \.isDefault)?.name }
}

/// Observes the sinks and streams of a server, and changes where streams play.
///
/// The steward connects again when the server restarts, and reports empty contents in between.
/// Requests return no result; the next report shows their effect.
///
/// ## Threading
/// It may be used from any thread. Changes are reported on the steward's own thread.
package protocol StreamSteward: AnyObject, Sendable {
  /// The contents as last reported.
  var contents: ServerContents { get }

  /// Moves a stream to a sink. Does nothing if either is gone.
  func move(stream: UInt64, to sinkName: String)

  /// Makes a sink the default sink.
  func setDefault(sinkName: String)

  /// Removes from the server's stored settings all references to sinks whose names begin with
  /// `prefix`, so that later streams and sessions do not look for them. Can take some seconds.
  func forget(sinksWithPrefix prefix: String)

  /// Ends the observation without waiting for the server.
  func stop()
}
