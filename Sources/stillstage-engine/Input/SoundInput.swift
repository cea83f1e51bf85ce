// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import CommandSupport
import Glibc
import HLS
import Playback
import Rendering
import SoundSources

/// What `play` and `render` are given, as the command line says.
struct SoundInput {
  private let opener: SoundOpener

  /// - Parameter follows: whether the rendition follows the line and what comes may be kept.
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
    opener = try playing { () throws(PlaybackError) in
      try SoundOpener(command[Arguments.input], settings: settings, options: options)
    }
  }

  /// Opens it, at a rate in Hz; nil for its own.
  func open(_ rate: Int?) throws(PlaybackError) -> any SoundSource {
    try opener.open(sampleRate: rate)
  }

  /// All has been played: what is kept is brought up to date.
  func finish() {
    if let problem = opener.finishKeeping() { printNote(problem.description) }
  }
}
