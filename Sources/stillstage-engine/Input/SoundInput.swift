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

  /// Prepares the input.
  ///
  /// - Parameter follows: whether the rendition adapts to the bandwidth. If false, `--keep` has no
  ///   effect.
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
    opener = try playing { () throws(PlaybackError) in
      try SoundOpener(command[Arguments.input], settings: settings, options: options)
    }
  }

  /// Opens the sound. `rate` is in Hz; nil for the sound's own rate.
  func open(_ rate: Int?) throws(PlaybackError) -> any SoundSource {
    try opener.open(sampleRate: rate)
  }

  /// Completes the presentation that `--keep` saves. Prints a note if something could not be saved.
  func finish() {
    if let problem = opener.finishKeeping() { printNote(problem.description) }
  }
}
