// SPDX-License-Identifier: Apache-2.0

private import CommandOptions
public import UserFiles

extension RoutePolicy {
  /// What the user has set in `config.json`: `spatialize`, `route` and `sinks`.
  ///
  /// - Parameter folder: where the file is; nil or without a file: everything is allowed.
  /// - Throws: what is wrong with the file.
  public static func ofUser(
    in folder: UserFolder? = .ofThisProcess
  ) throws(UserFileError) -> RoutePolicy {
    var policy = RoutePolicy()
    guard let folder else { return policy }
    let words = ["play", "-"]
    if case .run(let play) = try? CommandParser.parse(words) {
      let command = try ConfigFile.read(in: folder).applied(to: play)
      policy.spatialization = Spatialization(rawValue: command[Options.spatialize].rawValue) ?? .all
      policy.choice = RouteChoice(rawValue: command[Options.route].rawValue) ?? .automatic
    }
    policy.sinks = try sinks(in: folder)
    return policy
  }

  /// The permissions of sinks that `config.json` sets.
  public static func sinks(
    in folder: UserFolder
  ) throws(UserFileError) -> [String: SinkPermission] {
    let words = SinkPermission.allCases.map(\.rawValue)
    return try ConfigFile.sinks(in: folder, accepting: words)
      .compactMapValues { SinkPermission(rawValue: $0) }
  }
}
