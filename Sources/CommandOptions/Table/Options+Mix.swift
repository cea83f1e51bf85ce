// SPDX-License-Identifier: Apache-2.0

/// The options of the Audio Mix.
extension Options {
  private static let styleHelp = """
    Audio Mix style of a soundfield: 'standard' is the original; 'cinematic' moves the speech to \
    the front and attenuates the ambience; 'studio' also reduces the reverberation of the speech; \
    'in-frame' attenuates talkers outside the field of view; the other styles are \
    single stems.
    """
  public static let mix = CommandOption<MixChoice?>(
    "mix", "STYLE", .words, shown: "no mix", help: styleHelp)
  /// `--mix` of the commands that always mix.
  public static let mixStyle = CommandOption<MixChoice>(
    "mix", "STYLE", .words, default: .cinematic, shown: "cinematic", help: styleHelp)
  public static let amount = CommandOption<Double>(
    "amount", "A", .number(0...1), default: 0.5, shown: "0.5",
    help: """
      Amount of the Audio Mix: 0 is the original, 1 is the full style. It has no effect on single \
      stems.
      """)
  public static let fieldOfView = CommandOption<Double>(
    "field-of-view", "DEG", .number(10...360), default: 70, shown: "70",
    help: """
      Width of the picture in degrees of azimuth, centred on the front, for the style 'in-frame'.
      """)
  public static let mixTuning = CommandOption<String>(
    "mix-tuning", "FILE|auto|off", .suggested(["auto", "off"]), default: "auto", shown: "auto",
    help: """
      Gain and equalisers of speech and ambience in the Audio Mix: a JSON file from 'mix \
      analyse', 'auto' for the tuning inside the input (if there is one), or 'off' for none.
      """)
  public static let separator = CommandOption<SeparatorChoice>(
    "separator", "spatial|neural", .words, default: .spatial, shown: "spatial",
    help: """
      Separator of the Audio Mix. 'neural' also uses libdeepfilter.so and its model, which the \
      user must put into the data folder or into the folder that $STILLSTAGE_SEPARATOR names.
      """)
  public static let tuningOutput = CommandOption<String>(
    required: "output", short: "o", "TUNING.json", .file, help: "JSON file to write.")
  public static let bakeOutput = CommandOption<String>(
    required: "output", short: "o", "OUT.mov|OUT.mka", .file,
    help: "QuickTime movie or Matroska file to write.")
  public static let processTarget = CommandOption<ProcessTarget>(
    required: "to", "FORMAT", .words,
    help: """
      Format of the output: a loudspeaker layout with the channels in WAV order, 'foa+speech' for \
      first-order ambience with the separated speech in a fifth channel, or 'binaural' for \
      headphones.
      """)

  static let mixing: [OptionSpecification] = [
    mix.specification, amount.specification, fieldOfView.specification, mixTuning.specification,
    separator.specification,
  ]
  static let mixingAlways: [OptionSpecification] =
    [mixStyle.specification] + mixing.filter { $0.name != mix.specification.name }
}
