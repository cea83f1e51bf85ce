// SPDX-License-Identifier: Apache-2.0

/// How the streams with a role are played.
package enum RoleTreatment: String, Sendable, CaseIterable {
  /// Directly on the real sink, unchanged.
  case plain
  /// On a virtual sink.
  case spatial
}

/// The treatment of each stream role (`media.role`).
package struct RoleTreatments: Sendable, Equatable {
  /// The treatments, by lower-case role. Roles that are missing here are spatial.
  package private(set) var byRole: [String: RoleTreatment] = ["phone": .plain, "event": .plain]

  /// Creates the default: calls and event sounds are plain.
  package init() {}

  /// Creates the default and applies `changes`, such as "phone=spatial". A change without exactly
  /// one role and one treatment is ignored.
  package init(_ changes: [String]) {
    for change in changes {
      let parts = change.split(separator: "=").map(String.init)
      guard parts.count == 2, let treatment = RoleTreatment(rawValue: parts[1]) else { continue }
      self[parts[0]] = treatment
    }
  }

  package subscript(role: String?) -> RoleTreatment {
    get { role.flatMap { byRole[Self.common($0)] } ?? .spatial }
    set { if let role { byRole[Self.common(role)] = newValue } }
  }

  /// Returns a role in lower case. Replaces PipeWire's role names with PulseAudio's.
  private static func common(_ role: String) -> String {
    switch role.lowercased() {
    case "communication": "phone"
    case "notification": "event"
    case "movie": "video"
    case "accessibility": "a11y"
    case let other: other
    }
  }
}
