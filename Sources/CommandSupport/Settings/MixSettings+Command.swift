// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import AudioMix
import CommandOptions
package import Rendering
import SoundSources

extension RenderSettings {
  /// Reads the Audio Mix options into `mix`.
  ///
  /// - Throws: a usage error if an option that needs `--mix` is given without it; a failure if a
  ///   file is missing or invalid.
  mutating func readMix(_ command: ParsedCommand) throws(CommandFailure) {
    guard let choice = Self.style(command) else { return try Self.refuseWithoutMix(command) }
    guard let style = MixStyle(rawValue: choice.rawValue) else { return }
    var mix = MixSettings(style: style, amount: command[Options.amount])
    mix.fieldOfView = command[Options.fieldOfView] * .pi / 180
    mix.tuning = try Self.tuning(command)
    if command[Options.separator] == .neural {
      mix.neural = try NeuralSeparator.files(command)
    }
    self.mix = mix
  }

  private static func style(_ command: ParsedCommand) -> MixChoice? {
    switch command.name {
    case .mixBake, .mixProcess: command[Options.mixStyle]
    case .render where command[Options.renderTarget] == .ambienceAndSpeech:
      command[Options.mix] ?? .standard
    case .play, .render, .record, .listen: command[Options.mix]
    default: nil
    }
  }

  private static func refuseWithoutMix(_ command: ParsedCommand) throws(CommandFailure) {
    let given = [
      (command.isGiven(Options.amount), Options.amount.specification),
      (command.isGiven(Options.fieldOfView), Options.fieldOfView.specification),
      (command.isGiven(Options.mixTuning), Options.mixTuning.specification),
      (command.isGiven(Options.separator), Options.separator.specification),
    ]
    guard [.play, .render, .record, .listen].contains(command.name),
      let option = given.first(where: \.0)?.1
    else { return }
    throw .usage("--\(option.name) works only with --mix; choose a style with --mix")
  }

  /// Returns the tuning that `--mix-tuning` chooses.
  private static func tuning(_ command: ParsedCommand) throws(CommandFailure) -> MixTuning {
    let choice = command[Options.mixTuning]
    // An input of the sound server has no embedded tuning.
    let isLive = [.record, .listen].contains(command.name)
    let input = isLive ? nil : command[Arguments.input]
    return try playing { () throws(PlaybackError) in
      switch choice {
      case "off": MixTuning()
      case "auto":
        try input.flatMap { (path) throws(PlaybackError) in
          try MixTuning.embedded(in: path)
        } ?? MixTuning()
      default: try MixTuning(path: choice)
      }
    }
  }
}

/// Returns a note about channels that the mix does not separate; nil without a mix, or if there are
/// no such channels.
package func mixNote(_ source: any SoundSource, _ settings: RenderSettings) -> String? {
  guard settings.mix != nil, case .ambisonics(let order, _, _) = source.layout, order > 1 else {
    return nil
  }
  return "only the first four of the \((order + 1) * (order + 1)) channels of the soundfield are "
    + "separated; the other channels get the gain of the ambience"
}
