// SPDX-License-Identifier: Apache-2.0

/// The rows of the option table that only `sink` uses.
extension Options {
  public static let sinkLayouts = CommandOption<[SinkLayoutChoice]>(
    "layouts", "LIST", .sinkLayouts, default: [.stereo, .surround51, .surround71],
    shown: "stereo,5.1,7.1",
    help: """
      Layouts to offer, separated by commas. Each layout gets a virtual sink, and each program \
      plays to the virtual sink that has the program's channels.
      """)
  public static let takesDefault = CommandOption<Bool>(
    "default", "on|off", .onOff, default: true, shown: "on",
    help: """
      Whether the virtual sink with the most channels becomes the default sink while the command \
      runs. With 'off', programs play to a virtual sink only if you choose one for them.
      """)
  public static let sinkRoles = CommandOption<[String]>(
    "roles", "ROLE=plain|spatial,...", .roles, default: [], shown: "phone=plain,event=plain",
    help: """
      Treatment of the programs that state a role: 'plain' plays them directly to the output \
      device, 'spatial' through a virtual sink.
      """)
  public static let sinkUpmix = CommandOption<UpmixChoice>(
    "upmix", "on|off|low-latency", .words, default: .lowLatency, shown: "low-latency",
    help: upmix.specification.help)
  public static let sinkLimiter = CommandOption<Bool>(
    "limiter", "on|off", .onOff, default: true, shown: "on",
    help: "True-peak limiter at -1 dBTP. It delays the sound.")
  public static let quiet = CommandOption<Bool>(
    flag: "quiet", help: "Do not report changes, only errors.")
  public static let sinkStatus = CommandOption<Bool>(
    flag: "status", help: "Show the state of the running instance.")
  public static let recentre = CommandOption<Bool>(
    flag: "recentre",
    help: "In the running instance, turn the front to the direction that the head faces.")
  public static let sinkMode = CommandOption<StageModeChoice>(
    "mode", "MODE", .words, default: .tracked, shown: "tracked",
    help: """
      Mode of the stage in the running instance: 'tracked' keeps it still in the room, 'fixed' \
      fixes it to the head, 'off' plays plain stereo. To set the mode at the start, use 'mode' \
      under 'sink' in config.json.
      """)
  public static let cleanUp = CommandOption<Bool>(
    flag: "clean-up",
    help: """
      Undo the changes of a killed instance: restore the default sink, and remove the instance's \
      virtual sinks and the sound server's stored references to them.
      """)

  /// The names of the options of `sink` that cannot have a default in `config.json`.
  static let sinkActions = ["status", "recentre", "clean-up", "json"]
}

/// `--layouts`: the layout of a virtual sink.
public enum SinkLayoutChoice: String, Sendable, CaseIterable {
  case stereo
  case surround51 = "5.1"
  case surround71 = "7.1"
  case surround714 = "7.1.4"
}

extension ValueForm where Value == [SinkLayoutChoice] {
  static var sinkLayouts: Self {
    let words = SinkLayoutChoice.allCases.map(\.rawValue)
    return Self(grammar: .list(of: .words(words), count: 1...words.count)) { value in
      value.list?.compactMap(\.word).compactMap(SinkLayoutChoice.init)
    }
  }
}

extension ValueForm where Value == [String] {
  /// The form of `--roles`: texts such as `phone=plain`.
  static var roles: Self {
    // PulseAudio's roles; PipeWire's are mapped to them.
    let roles = ["phone", "event", "music", "video", "game", "animation", "production", "a11y"]
    let words = roles.flatMap { ["\($0)=plain", "\($0)=spatial"] }
    return Self(grammar: .list(of: .words(words), count: 1...16)) {
      $0.list?.compactMap(\.word)
    }
  }
}

extension ParsedCommand {
  /// Whether the command line of `sink` queries or controls a running instance, or cleans up.
  public var controlsSink: Bool {
    isGiven(Options.sinkStatus) || isGiven(Options.recentre) || isGiven(Options.sinkMode)
      || isGiven(Options.cleanUp)
  }
}
