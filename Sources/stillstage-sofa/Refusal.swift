// SPDX-License-Identifier: Apache-2.0

/// Why a file is not read.
struct Refusal: Error {
  enum Kind: String {
    case cannotOpen = "cannot-open"
    case notSofa = "not-sofa"
    case check = "refused"
  }

  let kind: Kind
  let reason: String

  /// A check of the content that failed; `reason` names it with the numbers.
  init(_ reason: String) {
    kind = .check
    self.reason = reason
  }

  init(_ kind: Kind, _ reason: String) {
    self.kind = kind
    self.reason = reason
  }
}

/// Throws a refusal unless the condition holds.
func require(_ condition: Bool, _ reason: @autoclosure () -> String) throws(Refusal) {
  if !condition { throw Refusal(reason()) }
}
