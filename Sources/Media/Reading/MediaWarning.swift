// SPDX-License-Identifier: Apache-2.0

/// A kind of problem in a file that can still be played, and the number of its occurrences.
public struct MediaWarning: Sendable, Equatable {
  public enum Kind: Sendable, Equatable, Hashable, CaseIterable {
    /// Packets did not decode, decoded frames were rejected, or the container is damaged. `count`
    /// is the number of packets, rejected frames and damaged places.
    case corruptPackets
    /// Audio is missing according to the timestamps. `count` is the number of places.
    case missingAudio
    /// NaN, infinite or extremely large samples were muted. `count` is the number of samples.
    case invalidSamples
    /// The file is shorter than the length that it states.
    case truncated
    /// The sample rate changed in mid-stream.
    case sampleRateChange
    /// The number of channels changed in mid-stream; frames with another number of channels are
    /// mixed to the first layout.
    case channelChange
    /// A track cannot be played; another track is played.
    case trackSkipped
  }

  public let kind: Kind
  /// The time of the first occurrence, in seconds from the start of the track.
  public let seconds: Double
  /// The number of occurrences so far.
  public internal(set) var count: Int
  let detail: String
}

extension MediaWarning: CustomStringConvertible {
  public var description: String {
    let place = "near \(fixed(seconds, decimals: 1)) s"
    return switch kind {
    case .corruptPackets:
      count == 1
        ? "1 damaged place \(place) was replaced by silence"
        : "\(count) damaged places, the first \(place), were replaced by silence"
    case .missingAudio:
      count == 1
        ? "missing audio \(place) was replaced by silence"
        : "missing audio in \(count) places, the first \(place), was replaced by silence"
    case .invalidSamples:
      count == 1
        ? "1 invalid sample (NaN, infinite or huge) \(place) was muted"
        : "\(count) invalid samples (NaN, infinite or huge), the first \(place), were muted"
    case .truncated: "the file is truncated: it ends at \(detail)"
    case .sampleRateChange:
      "the sample rate changes \(place) (\(detail)); the output rate stays the same"
    case .channelChange:
      "the number of channels changes \(place) (\(detail)); "
        + "frames with another number of channels are mixed to the first layout"
    case .trackSkipped: detail
    }
  }
}

/// Collects one warning for each kind of problem. Calls `onWarning` when a kind first occurs.
struct WarningCollector {
  private(set) var warnings: [MediaWarning] = []
  var onWarning: ((MediaWarning) -> Void)?

  mutating func add(
    _ kind: MediaWarning.Kind, at seconds: Double, count: Int = 1, detail: String = ""
  ) {
    if let index = warnings.firstIndex(where: { $0.kind == kind }) {
      warnings[index].count += count
      return
    }
    let warning = MediaWarning(kind: kind, seconds: seconds, count: count, detail: detail)
    warnings.append(warning)
    onWarning?(warning)
  }
}

/// Formats a number with `decimals` decimal places (0 to 6). Magnitudes of 1e12 and above, infinity
/// and NaN keep Swift's default format.
package func fixed(_ value: Double, decimals: Int) -> String {
  guard value.isFinite, abs(value) < 1e12 else { return "\(value)" }
  var scale = 1
  for _ in 0..<decimals { scale *= 10 }
  let units = Int((abs(value) * Double(scale)).rounded())
  let sign = value < 0 && units > 0 ? "-" : ""
  guard decimals > 0 else { return sign + "\(units)" }
  let fraction = "\(units % scale)"
  let padding = String(repeating: "0", count: decimals - fraction.count)
  return sign + "\(units / scale).\(padding)\(fraction)"
}
