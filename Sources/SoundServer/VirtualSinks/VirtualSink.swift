// SPDX-License-Identifier: Apache-2.0

package import Ambisonics

/// The settings of a virtual sink.
package struct VirtualSinkConfiguration: Sendable, Equatable {
  /// The server's name for the sink, such as "stillstage-5.1".
  package var name: String
  /// The human-readable name in mixers, such as "Stillstage 5.1".
  package var title: String
  /// The channels that programs see; a loudspeaker layout.
  package var layout: ChannelLayout
  /// The delay of the render callback [frames], which is part of the latency that the server
  /// reports to programs.
  package var delayFrames = 0
  /// How the rendered sound is played. `sinkName` names the real sink and is never nil, because the
  /// default sink may be a virtual one. `sampleRate` also applies to the virtual sink.
  package var output: AudioOutputConfiguration

  package init(
    name: String, title: String, layout: ChannelLayout, output: AudioOutputConfiguration
  ) {
    (self.name, self.title, self.layout, self.output) = (name, title, layout, output)
  }
}

/// A sink on the sound server whose sound is rendered and played to a real sink.
///
/// ## Threading
/// The render callback runs on an audio thread. Any other thread may use any member.
package protocol VirtualSink: AnyObject, Sendable {
  var configuration: VirtualSinkConfiguration { get }

  /// The status of the stream that plays the rendered sound.
  var status: AudioOutputStatus { get }

  /// Returns the events of the stream that plays the rendered sound, oldest first, and removes
  /// them. If several virtual sinks share the stream, only one of them returns its events.
  func takeEvents() -> [AudioOutputEvent]

  /// Creates the sink and begins to play its sound. After a loss of the server, both are repeated
  /// without further calls.
  ///
  /// - Throws: the reason if that fails or takes too long; `stopped` after `stop`.
  func start() throws(SoundServerError)

  /// Plays to another real sink from now on.
  func play(to sinkName: String)

  /// Changes the delay that is part of the reported latency [frames].
  func report(delayFrames: Int)

  /// Sets whether programs play to the sink. While no program does, the stream may pause.
  func setInUse(_ isInUse: Bool)

  /// Removes the sink, and stops playing its sound. The virtual sink cannot be started again.
  func stop()
}
