// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import Playback

extension PlaybackError {
  /// The line for the user, who knows settings as options.
  package var optionText: String { text(naming: \.option) }
}

extension MultichannelOffer {
  /// The sentence for the user, who knows settings as options.
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
      case .preference: Options.preferTreatment.specification
      case .maximumBitRate: Options.maxBitrate.specification
      }
    return "--" + specification.name
  }
}

/// How the user lets a presentation read files outside of its folder.
package let rootRemedy = "--root names a wider one"

extension SoundOpeningError {
  /// The line for the user, who knows settings as options.
  package var text: String {
    switch self {
    case .fileCannotBeKept(let input): "--keep keeps presentations; '\(input)' is a file"
    case .presentation: description.withoutControls
    case .noAddress, .noHost, .unreadable, .unreadableFolder, .keeping: description
    }
  }
}
