// SPDX-License-Identifier: Apache-2.0

/// The reason why an HRTF set is unavailable.
public enum HRTFError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The file cannot be opened. For example, it is missing, unreadable or not a regular file.
  case cannotOpen(path: String, reason: String)
  /// The content cannot be read as SOFA.
  case notSOFA(path: String, reason: String)
  /// The set, or a decoder designed from it, failed a check. `check` describes the failure.
  case refused(path: String, check: String)
  /// The set has too few directions for a decoder of order `order`.
  case tooFewDirections(path: String, count: Int, order: Int)
  /// The reader took longer than `seconds`, the permitted time, and was stopped.
  case timedOut(path: String, seconds: Double)
  /// A signal killed the reader.
  case crashed(path: String, signal: Int32)
  /// No executable `stillstage-sofa` was found at any of `places`, or it cannot be started.
  case readerNotFound(places: [String])
  /// The reader ran but did not give a valid answer.
  case readerFailed(path: String, reason: String)
  /// The caller cancelled the operation.
  case interrupted

  public var description: String {
    let text =
      switch self {
      case .cannotOpen(let path, let reason):
        "cannot open the HRTF set '\(path)': \(reason); "
          + "check its path and permissions, or choose another SOFA file"
      case .notSOFA(let path, let reason):
        "cannot read '\(path)' as a SOFA file: \(reason); "
          + "choose another file with the SOFA convention SimpleFreeFieldHRIR"
      case .refused(let path, let check):
        "the HRTF set '\(path)' cannot be used: \(check); choose another set"
      case .tooFewDirections(let path, let count, let order):
        "the HRTF set '\(path)' cannot be used: no decoder of order \(order) can be computed from "
          + "its \(count) directions; choose another set or a lower order"
      case .timedOut(let path, let seconds):
        "reading the HRTF set '\(path)' took longer than "
          + "\(decimal(seconds, digits: seconds == seconds.rounded() ? 0 : 1)) s and was stopped; "
          + "the file may be damaged or malicious, so choose another one"
      case .crashed(let path, let signal):
        "signal \(signal) killed the SOFA reader while it read '\(path)'; "
          + "the file may be damaged or malicious, so choose another one"
      case .readerNotFound(let places):
        "cannot find or start the SOFA reader stillstage-sofa"
          + (places.isEmpty ? "" : " at \(places.joined(separator: " or "))") + "; "
          + "install it and the libraries that it needs, or set STILLSTAGE_SOFA to its path"
      case .readerFailed(let path, let reason):
        "the SOFA reader failed on '\(path)': \(reason); "
          + "install the stillstage-sofa that belongs to this version of the program"
      case .interrupted:
        "interrupted"
      }
    return withoutControlCharacters(text)
  }
}

/// Replaces each control character with a space.
func withoutControlCharacters(_ text: String) -> String {
  var scalars = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    scalars.append(scalar.properties.generalCategory == .control ? " " : scalar)
  }
  return String(scalars)
}
