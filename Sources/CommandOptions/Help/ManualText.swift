// SPDX-License-Identifier: Apache-2.0

/// The parts of the manual page that do not come from the option table.
enum ManualText {
  static let description = """
    Stillstage plays spatial audio over headphones: it reads a head tracker, turns the sound field
    against the head's motion, decodes it with the listener's HRTF and plays it through PulseAudio
    or PipeWire.
    """

  static let options = """
    Options may stand anywhere after the command, as
    .B \\-\\-name value
    or
    .BR \\-\\-name=value ;
    .B \\-\\-
    ends them.
    Of a repeated option the last one counts.
    """

  static let ending = """
    .SH KEYS
    While
    .B stillstage play
    runs on a terminal:
    \(Roff.lines(keys.map { Roff.definition($0.0, $0.1) }))
    .SH FILES
    The folders HRTF and Calibration are looked for in the folder that
    .B \\-\\-data
    names, in the one that
    .B STILLSTAGE_DATA
    names, in ../share/stillstage beside the executable, and in the source tree.
    .PP
    $XDG_CONFIG_HOME/stillstage, or ~/.config/stillstage, holds config.json with the user's
    defaults for the options of play and render, and the folder trackers with what
    .B stillstage calibrate
    found.
    .SH ENVIRONMENT
    .TP
    .B STILLSTAGE_DATA
    Folder with the data files, used when
    .B \\-\\-data
    is not given.
    .TP
    .B STILLSTAGE_CACHE
    Folder in which finished decoder designs are kept, or
    .B off
    to keep none; otherwise stillstage in
    .B XDG_CACHE_HOME
    or in ~/.cache.
    .SH EXIT STATUS
    \(Roff.lines(statuses.map { Roff.definition($0.0, $0.1) }))
    .PP
    Errors go to standard error, one line each.
    .SH EXAMPLES
    \(Roff.lines(examples.map { Roff.definition($0.0, $0.1) }))
    """

  private static let keys = [
    ("space, p", "Pause and go on."),
    ("left, right", "Ten seconds back or ahead."),
    ("up, down", "Louder or softer."),
    ("c", "Recentre: where the head looks now becomes the front."),
    ("t", "Next mode: stage still in the room, fixed to the head, plain stereo."),
    ("q", "Quit."),
  ]

  private static let statuses = [
    ("0", "Done."), ("1", "Failed."), ("2", "Wrong usage."),
    ("130, 143", "Ended cleanly by SIGINT or SIGTERM."),
  ]

  private static let examples = [
    ("stillstage play concert.opus", "Play with the first head tracker that is found."),
    ("stillstage play film.mka --sink headset --hrtf mine.sofa", "Choose the device and the HRTF."),
    ("stillstage render field.wav -o out.wav --pose 90,0,0", "What a head turned left would hear."),
    ("stillstage hrtf info mine.sofa", "Whether a SOFA file can be used."),
  ]
}
