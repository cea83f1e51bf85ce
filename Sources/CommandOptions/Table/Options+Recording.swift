// SPDX-License-Identifier: Apache-2.0

/// The options of `record` and of the commands for inputs.
extension Options {
  public static let monitors = CommandOption<Bool>(
    flag: "monitors",
    help: "Include the monitors: inputs that carry the sound of an output.")
  public static let watchSeconds = CommandOption<Double?>(
    "seconds", "S", .number(0.1...1e6), shown: "until stopped",
    help: "Duration in seconds.")
  public static let recordOutput = CommandOption<String>(
    required: "output", short: "o", "OUT", .file,
    help: """
      File to record to. The end of its name selects the format: .mov or .qta (QuickTime movie), \
      .wav, .flac or .mka (Matroska).
      """)
  public static let input = CommandOption<InputArgument>(
    "input", "ID|auto", .input, default: .auto, shown: "auto",
    help: """
      Input to record or listen to, by the ID that 'stillstage inputs' lists. 'auto' chooses the \
      remembered input or, if there is none or it is missing, the default input or another one, \
      but never a monitor.
      """)
  public static let recordGain = CommandOption<Double>(
    "gain", "DB", .number(-60...60), default: 0, shown: "0",
    help: "Gain in decibels.")
  public static let recordRate = CommandOption<Int?>(
    "rate", "HZ", .integer(8000...384_000), shown: "the input's rate",
    help: "Sample rate of the recording.")
  public static let microphoneFormat = CommandOption<String>(
    "mic-format", "auto|mono|stereo|ambix|fuma|a-format[:MIC]",
    .suggested(["auto", "mono", "stereo", "ambix", "fuma", "a-format"]), default: "auto",
    shown: "auto",
    help: """
      Meaning of the microphone's channels. 'auto' accepts one or two channels. 'ambix' is \
      first-order sound in ACN order and SN3D scale. 'a-format' is the signals of the four \
      capsules of a tetrahedral microphone. MIC is the order of the capsules (default: \
      flu,frd,bld,bru), or the name or path of a file like those in Calibration/microphones.
      """)
  public static let microphoneRadius = CommandOption<Double?>(
    "mic-radius", "MM", .number(1...100), shown: "that of the microphone's file, or 14.7",
    help: """
      Distance of the capsules from the centre of the microphone in millimetres, for 'a-format'.
      """)
  public static let channels = CommandOption<String?>(
    "channels", "LIST", .text, shown: "all",
    help: "Channels of the input to use, counted from 1, such as 3-6 or 1,2,5.")
  public static let codec = CommandOption<CodecChoice>(
    "codec", "CODEC", .words, default: .pcm24, shown: "pcm24",
    help: """
      Format of the samples in the file: 'pcm24' is 24-bit integers, 'float' is 32-bit floating \
      point (not in .flac).
      """)
  public static let stereoPair = CommandOption<StereoPairChoice>(
    "stereo", "PAIR", .words, default: .wy, shown: "wy",
    help: """
      Stereo track that .mov and .qta files of first-order sound have for other players: 'wy' is \
      a pair of cardioids that point left and right, 'xy' a pair at 55 degrees to either side.
      """)
  public static let recordSeconds = CommandOption<Double?>(
    "seconds", "S", .number(0.1...1e7), shown: "until stopped",
    help: "Duration of recording or listening in seconds.")
  public static let onLoss = CommandOption<LossChoice>(
    "on-loss", "ACTION", .words, default: .wait, shown: "wait",
    help: """
      What to do if the input or the sound server is lost: 'wait' records silence until it is \
      back, 'stop' ends the recording.
      """)
  public static let armed = CommandOption<Bool>(
    flag: "armed", help: "Start paused; the space key or a media key starts the recording.")
  public static let overwrite = CommandOption<Bool>(
    flag: "overwrite", help: "Replace an existing file.")
}

/// `--input`: the input that `record` or `listen` uses.
public enum InputArgument: Sendable, Equatable {
  /// The remembered input or, if it cannot be used, the default or another input; never a monitor.
  case auto
  case id(String)
}

extension ValueForm where Value == InputArgument {
  static var input: Self {
    .either(["auto": .auto], or: .text) { $0.text.map { .id($0) } }
  }
}

/// `--codec`: the sample format of the recorded file.
public enum CodecChoice: String, Sendable, CaseIterable {
  case pcm24
  case float
}

/// `--stereo`: the stereo track that is made from first-order sound.
public enum StereoPairChoice: String, Sendable, CaseIterable {
  /// (W + Y) / 2 and (W - Y) / 2.
  case wy
  /// Cardioids at 55 degrees to either side.
  case xy
}

/// `--on-loss`: what a recording does when its input or the server is lost.
public enum LossChoice: String, Sendable, CaseIterable {
  case wait
  case stop
}
