// SPDX-License-Identifier: Apache-2.0

package import Ambisonics

/// A stream that a program plays, as the server describes it.
package struct ProgramStream: Sendable, Equatable {
  /// The server's number for the stream.
  package var id: UInt64
  /// The name of the sink that the stream plays to; nil if there is none.
  package var sink: String?
  /// The layout of the stream's channels; nil if unknown.
  package var layout: ChannelLayout?
  package var channelCount: Int
  /// The `media.role` property in lower case, such as "music"; nil if unknown.
  package var role: String?
  /// The program's name in mixers or, if the program states none, the stream's name.
  package var application: String
  package var processID: Int?
  /// Whether the stream is paused or idle.
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
  /// All sinks in the server's order; empty if there is no server.
  package var sinks: [Sink] = []
  /// The streams of other programs.
  package var streams: [ProgramStream] = []

  package init() {}

  /// The name of the default sink; nil if there is none.
  package var defaultSink: String? { sinks.first(where: \.isDefault)?.name }
}

/// Observes a server's sinks and streams, moves streams and sets the default sink.
///
/// The contents are empty while there is no server. Requests return no result; a move or a new
/// default appears later in `contents`.
///
/// ## Threading
/// Any thread but the steward's own may use it. On its own thread, the steward calls the `onChange`
/// function that its initialiser received.
package protocol StreamSteward: AnyObject, Sendable {
  /// The latest contents.
  var contents: ServerContents { get }

  /// Moves a stream to a sink. Does nothing if either is gone.
  func move(stream: UInt64, to sinkName: String)

  func setDefault(sinkName: String)

  /// Removes references to sinks whose names begin with `prefix` from the server's stored settings.
  /// This can take some seconds.
  func forget(sinksWithPrefix prefix: String)

  /// Stops the steward without waiting for the server.
  func stop()
}
