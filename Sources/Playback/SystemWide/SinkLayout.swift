// SPDX-License-Identifier: Apache-2.0

package import Ambisonics
package import SoundServer

/// The layout of a virtual sink. The raw value is the name of the layout on the command line.
package enum SinkLayout: String, Sendable, CaseIterable, Comparable {
  case stereo
  case surround51 = "5.1"
  case surround71 = "7.1"
  case surround714 = "7.1.4"

  /// The prefix of the names of all virtual sinks.
  package static let namePrefix = "stillstage-"

  /// Returns whether a sink with this name is a virtual sink of this program.
  package static func isOurs(_ sinkName: String) -> Bool { sinkName.hasPrefix(namePrefix) }

  /// Creates the layout from the name of a virtual sink; nil for any other name.
  package init?(sinkName: String) {
    guard Self.isOurs(sinkName) else { return nil }
    self.init(rawValue: String(sinkName.dropFirst(Self.namePrefix.count)))
  }

  /// The server's name for the sink.
  package var sinkName: String { Self.namePrefix + rawValue }
  /// The name of the sink in mixers.
  package var title: String { "Stillstage " + rawValue }

  /// The channels of the sink, in the order of WAV files.
  package var layout: ChannelLayout {
    let bed: [Speaker] = [.frontLeft, .frontRight, .frontCenter, .lowFrequency]
    let around: [Speaker] = [.backLeft, .backRight, .sideLeft, .sideRight]
    return switch self {
    case .stereo: .stereo
    case .surround51: .speakers(bed + around.prefix(2))
    case .surround71: .speakers(bed + around)
    case .surround714:
      .speakers(bed + around + [.topFrontLeft, .topFrontRight, .topBackLeft, .topBackRight])
    }
  }

  package var channelCount: Int { layout.channelCount }

  package static func < (a: SinkLayout, b: SinkLayout) -> Bool { a.channelCount < b.channelCount }

  /// Returns the layout of the sink for a stream; nil if there are no sinks.
  ///
  /// Among the sinks with enough channels for the stream, the sink with the fewest channels is
  /// chosen. For a stream with height channels, sinks with height channels are preferred. If no
  /// sink has enough channels, the sink with the most channels is chosen.
  package static func `for`(_ stream: ProgramStream, among layouts: [SinkLayout]) -> SinkLayout? {
    let enough = layouts.filter { $0.channelCount >= stream.channelCount }.sorted()
    return enough.first { $0.covers(stream.layout) } ?? enough.first ?? layouts.max()
  }

  /// Returns false if the stream has height channels and the sink has none.
  private func covers(_ stream: ChannelLayout?) -> Bool {
    guard case .speakers(let speakers) = stream else { return true }
    return self == .surround714 || !speakers.contains(where: \.isHigh)
  }
}

extension Speaker {
  /// Whether the loudspeaker is above ear height.
  fileprivate var isHigh: Bool {
    switch self {
    case .topCenter, .topFrontLeft, .topFrontCenter, .topFrontRight, .topBackLeft, .topBackCenter,
      .topBackRight, .topSideLeft, .topSideRight:
      true
    default: false
    }
  }
}
