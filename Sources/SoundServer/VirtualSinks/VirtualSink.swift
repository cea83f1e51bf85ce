// SPDX-License-Identifier: Apache-2.0

package import Ambisonics

/// The names, layout and latency of a virtual sink, and the way in which its sound is played.
package struct VirtualSinkConfiguration: Sendable, Equatable {
  /// The name that identifies the sink on the server.
  package var name: String
  /// The human-readable name in mixers.
  package var title: String
  /// The loudspeaker layout that programs see.
  package var layout: ChannelLayout
  /// The delay of the render callback [frames]. It is part of the latency that the server reports
  /// to programs.
  package var delayFrames = 0
  /// How the rendered sound is played. `sinkName` must name the real sink. `sampleRate` also
  /// applies to the virtual sink.
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
/// Any thread except the audio thread may use any member.
package protocol VirtualSink: AnyObject, Sendable {
  var configuration: VirtualSinkConfiguration { get }

  /// The status of the stream that plays the rendered sound.
  var status: AudioOutputStatus { get }

  /// Returns the new events of the stream that plays the rendered sound, oldest first. If several
  /// virtual sinks share this stream, only one of them returns the events.
  func takeEvents() -> [AudioOutputEvent]

  /// Creates the sink and begins to play its sound. Repeats both after a loss of the server.
  ///
  /// - Throws: `stopped` after `stop`; another error if the sink cannot be created or if its sound
  ///   does not start to play in time.
  func start() throws(SoundServerError)

  /// Begins to move the sound to another real sink. Returns before the move is complete.
  func play(to sinkName: String)

  /// Changes the render callback's part of the latency that programs see [frames].
  func report(delayFrames: Int)

  /// Tells the virtual sink whether programs play to it. While none do, the stream that plays the
  /// rendered sound may pause.
  func setInUse(_ isInUse: Bool)

  /// Removes the sink, and stops playing its sound. The virtual sink cannot be started again.
  func stop()
}
