// SPDX-License-Identifier: Apache-2.0

/// The manual page's description, the introduction to its options, and the sections after the
/// options.
enum ManualText {
  static let description = """
    Stillstage plays spatial audio over headphones: it reads a head tracker, rotates the soundfield
    against the head's motion, decodes it with the listener's HRTF set and plays it through
    PulseAudio or PipeWire.
    """

  static let options = """
    Options can be anywhere after the command, as
    .B \\-\\-name value
    or
    .BR \\-\\-name=value ;
    .B \\-\\-
    ends the options.
    If an option is repeated, its last value counts.
    """

  static let ending = """
    .SH KEYS
    On a terminal,
    .B stillstage play
    and
    .B stillstage demo
    read these keys. If standard input is not a terminal, the keys come from the terminal that
    controls the process.
    \(Roff.lines(PlayKeys.all.map { Roff.definition($0.keys, $0.sentence) }))
    .SH FILES
    The program looks for the folders HRTF and Calibration in the folder that
    .B \\-\\-data
    names, in the folder that
    .B STILLSTAGE_DATA
    names, in share/stillstage under the prefix of the installation, and in the source tree.
    It uses the first of these that applies.
    .PP
    The user's own files are in $XDG_CONFIG_HOME/stillstage or ~/.config/stillstage. The file
    config.json has the defaults for the options of play, render and sink. The folder headphones has
    the headphone profiles, and the folder tracker-profiles has the tracker profiles. The folder
    trackers has the calibrations that
    .B stillstage calibrate
    saves.
    .SH ENVIRONMENT
    .TP
    .B STILLSTAGE_DATA
    Folder with the data files, used when
    .B \\-\\-data
    is not given.
    .TP
    .B STILLSTAGE_CACHE
    Folder of cached decoder designs, HRTF sets and loudness values, or
    .B off
    to disable the cache. The default is stillstage in
    .B XDG_CACHE_HOME
    or in ~/.cache.
    .SH EXIT STATUS
    \(Roff.lines(statuses.map { Roff.definition($0.0, $0.1) }))
    .PP
    Errors and notes go to standard error, one line each.
    .SH EXAMPLES
    \(Roff.lines(examples.map { Roff.definition($0.0, $0.1) }))
    """

  private static let statuses = [
    ("0", "Success."), ("1", "Failure."), ("2", "Usage error."),
    ("129, 130, 143", "Clean exit after SIGHUP, SIGINT or SIGTERM."),
  ]

  private static var examples: [(String, String)] {
    Program.commands.flatMap(\.examples).map { ($0.line, $0.help) }
  }
}
