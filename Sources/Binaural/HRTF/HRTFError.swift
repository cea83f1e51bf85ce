// SPDX-License-Identifier: Apache-2.0

/// The reason why an HRTF set is unavailable.
///
/// The description is one line that states the problem, its cause and a remedy.
public enum HRTFError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The file is missing, unreadable or not a regular file.
  case cannotOpen(path: String, reason: String)
  /// The content is not SOFA, or it is damaged.
  case notSOFA(path: String, reason: String)
  /// The content of a SOFA file failed a check; `check` describes it with the values.
  case refused(path: String, check: String)
  /// The reader was stopped after this time.
  case timedOut(path: String, seconds: Double)
  /// A signal killed the reader while it read the file.
  case crashed(path: String, signal: Int32)
  /// `stillstage-sofa` is at none of these paths.
  case readerNotFound(places: [String])
  /// The reader ran but gave no valid answer.
  case readerFailed(path: String, reason: String)
  /// The caller cancelled the operation.
  case interrupted

  public var description: String {
    let text =
      switch self {
      case .cannotOpen(let path, let reason):
        "cannot open the HRTF set '\(path)': \(reason); give a SOFA file that you may read"
      case .notSOFA(let path, let reason):
        "'\(path)' is no SOFA file: \(reason); give a SimpleFreeFieldHRIR SOFA file"
      case .refused(let path, let check):
        "the HRTF set '\(path)' cannot be used: \(check)"
      case .timedOut(let path, let seconds):
        "reading the HRTF set '\(path)' took longer than \(seconds) s and was stopped; "
          + "the file is damaged or hostile"
      case .crashed(let path, let signal):
        "the file '\(path)' crashed the SOFA reader (signal \(signal)); it is damaged or hostile"
      case .readerNotFound(let places):
        "the SOFA reader stillstage-sofa is not at \(places.joined(separator: ", ")); "
          + "install it there or name it in STILLSTAGE_SOFA"
      case .readerFailed(let path, let reason):
        "the SOFA reader gave no proper answer for '\(path)': \(reason); "
          + "install the stillstage-sofa of this version"
      case .interrupted:
        "interrupted"
      }
    return withoutControlCharacters(text)
  }
}

/// Replaces control characters by spaces, so that text from a path or a file stays on one line.
func withoutControlCharacters(_ text: String) -> String {
  var scalars = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    scalars.append(scalar.properties.generalCategory == .control ? " " : scalar)
  }
  return String(scalars)
}
