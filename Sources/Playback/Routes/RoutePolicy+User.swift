// SPDX-License-Identifier: Apache-2.0

public import UserFiles

extension RoutePolicy {
  /// Returns the policy that the user has set with `spatialize`, `route` and `sinks` in
  /// `config.json`.
  ///
  /// - Parameter folder: the folder of the file. If the folder is nil or the file is missing, the
  ///   defaults of `RoutePolicy` apply.
  /// - Throws: an error that describes what is wrong with the file.
  public static func ofUser(
    in folder: UserFolder? = .ofThisProcess
  ) throws(UserFileError) -> RoutePolicy {
    var policy = RoutePolicy()
    guard let folder else { return policy }
    let texts = try ConfigFile.texts(in: folder)
    policy.spatialization = try choice("spatialize", in: texts, folder) ?? .all
    policy.choice = try choice("route", in: texts, folder) ?? .automatic
    policy.sinks = try sinks(in: folder)
    return policy
  }

  private static func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, in texts: [String: String], _ folder: UserFolder
  ) throws(UserFileError) -> Choice? where Choice.RawValue == String {
    guard let text = texts[name] else { return nil }
    if let choice = Choice(rawValue: text) { return choice }
    let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
    throw UserFileError(
      path: folder.configPath, reason: "'\(name)' is '\(text)', but must be one of \(words)")
  }

  /// Returns the settings for individual sinks in `config.json`, by the server's names for the
  /// sinks.
  ///
  /// - Throws: an error that describes what is wrong with the file.
  public static func sinks(
    in folder: UserFolder
  ) throws(UserFileError) -> [String: SinkPermission] {
    let words = SinkPermission.allCases.map(\.rawValue)
    return try ConfigFile.sinks(in: folder, accepting: words)
      .compactMapValues { SinkPermission(rawValue: $0) }
  }
}
