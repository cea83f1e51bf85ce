// SPDX-License-Identifier: Apache-2.0

/// Why a file was not accepted.
struct Refusal: Error {
  enum Kind: String {
    case cannotOpen = "cannot-open"
    case notSofa = "not-sofa"
    case check = "refused"
  }

  let kind: Kind
  let reason: String

  /// Creates a refusal for a file whose size or content is not supported.
  init(_ reason: String) {
    kind = .check
    self.reason = reason
  }

  init(_ kind: Kind, _ reason: String) {
    self.kind = kind
    self.reason = reason
  }
}

/// Throws a refusal of the kind `check` unless the condition is true.
func require(_ condition: Bool, _ reason: @autoclosure () -> String) throws(Refusal) {
  if !condition { throw Refusal(reason()) }
}
