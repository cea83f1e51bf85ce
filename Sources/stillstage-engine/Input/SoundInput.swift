// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import CommandSupport
import Glibc
import HLS
import Playback
import Rendering
import SoundSources

/// The sound that the command names as its input.
struct SoundInput {
  private let opener: SoundOpener
  /// The input as the user named it.
  private let name: String

  /// Prepares the input.
  ///
  /// - Parameter follows: whether the rendition of a presentation from a server adapts to the
  ///   bandwidth. If false, `--keep` has no effect.
  init(
    _ command: ParsedCommand, _ settings: RenderSettings, follows: Bool
  ) throws(CommandFailure) {
    var options = SoundOpener.Options()
    options.wishes = RenditionWishes(command)
    options.followsLine = follows
    options.root = command[Options.root]
    options.rootRemedy = rootRemedy
    options.keepFolder = follows ? command[Options.keep] : nil
    options.interrupt = Signals.interrupt
    options.network = ServerWait.patience(command)
    name = command[Arguments.input]
    opener = try playing { () throws(PlaybackError) in
      try SoundOpener(command[Arguments.input], settings: settings, options: options)
    }
  }

  /// Opens the sound. `rate` is in Hz; nil for the sound's own rate.
  func open(_ rate: Int?) throws(PlaybackError) -> any SoundSource {
    try opener.open(sampleRate: rate)
  }

  /// Checks, after playback or rendering, whether sound was missing in a presentation that was read
  /// from local files.
  ///
  /// - Throws: a failure that states how much sound was missing. Nothing is thrown for a
  ///   presentation from a server, because it may be complete next time.
  func requireWhole(_ source: (any SoundSource)?) throws(CommandFailure) {
    guard opener.isInFolder, let stream = source?.stream as? HLSSource else { return }
    let seconds = stream.missingSeconds
    guard seconds > 0 else { return }
    throw CommandFailure(
      "\(decimal(seconds, 2)) s of sound is missing in '\(name)'; download the presentation again")
  }

  /// Completes the presentation that `--keep` saves. Prints a note if a file could not be written.
  func finish() {
    let problem = opener.finishKeeping(
      begins: { count in
        printNote("fetching \(count == 1 ? "1 segment" : "\(count) segments") that --keep lacks")
      }, goesOn: { Signals.received == nil })
    if let problem { printNote(problem.description) }
  }
}
