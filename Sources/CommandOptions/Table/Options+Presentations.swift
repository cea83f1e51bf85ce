// SPDX-License-Identifier: Apache-2.0

/// The options for HLS presentations.
extension Options {
  public static let maxBitrate = CommandOption<Double?>(
    "max-bitrate", "RATE", .bitRate(1000...1e9), shown: "none",
    help: "Highest bit rate of a rendition in bits per second, such as 256k or 1.5M.")
  public static let preferTreatment = CommandOption<TreatmentChoice>(
    "prefer", "multichannel|stereo", .words, default: .multichannel, shown: "multichannel",
    help: """
      Renditions to prefer: 'multichannel' chooses multichannel renditions if the connection is \
      fast enough for them, and 'stereo' chooses stereo renditions even then.
      """)
  public static let language = CommandOption<String?>(
    "language", "TAG", .text, shown: "the default language of the presentation",
    help: "Language of the sound, such as en or de-AT, if the presentation has several.")
  public static let root = CommandOption<String?>(
    "root", "DIR", .folder,
    shown: "the given folder, or the folder of the outermost playlist",
    help: "Folder that must contain all files of a downloaded presentation.")
  public static let timeout = CommandOption<Double>(
    "timeout", "SECONDS", .number(1...3600), default: 30, shown: "30",
    help: """
      Time in seconds after which Stillstage gives up on a server that has sent less than \
      100 bytes per second on average.
      """)
  public static let keep = CommandOption<String?>(
    "keep", "DIR", .folder,
    help: "Folder in which to save the sound of a presentation while it plays, for later playback.")
  public static let fetchOutput = CommandOption<String>(
    required: "output", short: "o", "DIR", .folder,
    help: "Folder to download to: new, empty, or from an earlier run, which is then resumed.")
  public static let renditions = CommandOption<RenditionsChoice>(
    "renditions", "all|best|NAME,...", .renditions, default: .best, shown: "best",
    help: """
      Renditions to fetch: 'best' (the best multichannel one and the best stereo one that can be \
      decoded), 'all' (all audio renditions), or names, separated by commas.
      """)
}
