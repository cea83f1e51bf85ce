// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import Playback

extension PlaybackError {
  /// The message for the user. It refers to settings by the names of their options.
  package var optionText: String { text(naming: \.option) }
}

extension MultichannelOffer {
  /// The message for the user. It refers to settings by the names of their options.
  package var optionText: String { text(naming: \.option) }
}

extension NamedSetting {
  fileprivate var option: String {
    let specification =
      switch self {
      case .layout: Options.layout.specification
      case .track: Options.track.specification
      case .decoder: Options.decoder.specification
      case .headCircumference: Options.headCircumference.specification
      case .mix: Options.mix.specification
      case .mixTuning: Options.mixTuning.specification
      case .preference: Options.preferTreatment.specification
      case .maximumBitRate: Options.maxBitrate.specification
      }
    return "--" + specification.name
  }
}

/// A hint for the user: how to permit a presentation to use files outside its folder.
package let rootRemedy = "with --root, name a folder that contains all files of the presentation"

extension SoundOpeningError {
  /// The message for the user. It may mention the option `--keep`.
  package var text: String {
    switch self {
    case .fileCannotBeKept(let input):
      "--keep works only with HLS presentations, and '\(input)' is not one; leave out --keep"
    case .presentation, .unsupportedAddress: description.withoutControls
    case .noAddress, .noHost, .unreadable, .unreadableFolder, .keeping: description
    }
  }
}
