// SPDX-License-Identifier: Apache-2.0

/// The commands of the Audio Mix.
extension Program {
  private static let input: [OptionSpecification] = [
    Options.layout.specification, Options.track.specification,
  ]

  static let mixAnalyse = CommandSpecification(
    name: .mixAnalyse, summary: "Compute the Audio Mix tuning of a recording.",
    discussion: """
      Separates a recorded soundfield into speech and ambience, and writes a gain and an \
      equaliser for each. 'play', 'render' and the other 'mix' commands apply them with \
      '--mix-tuning'.
      """,
    arguments: [Arguments.input],
    options: [Options.tuningOutput.specification] + input)

  static let mixBake = CommandSpecification(
    name: .mixBake, summary: "Write a file with the mix and the picture of the input.",
    discussion: """
      Writes a file with the mix as a first-order track, a stereo track for other players, and the \
      tuning. The picture and the other tracks of the input are copied unchanged.
      """,
    arguments: [Arguments.input],
    options: [Options.bakeOutput.specification] + Options.mixingAlways + input)

  static let mixProcess = CommandSpecification(
    name: .mixProcess, summary: "Write a mix for loudspeakers or headphones.",
    discussion: """
      Mixes a soundfield, converts the mix to the format that '--to' names, and writes it to a \
      32-bit float WAV file.
      """,
    arguments: [Arguments.input],
    options: [Options.renderOutput.specification, Options.processTarget.specification]
      + Options.mixingAlways + input
      + [
        Options.hrtf.specification, Options.hrtfEqualization.specification,
        Options.decoder.specification, Options.rate.specification, Options.gain.specification,
        Options.data.specification,
      ])

  static let benchMix = CommandSpecification(
    name: .benchMix, summary: "Measure the separation of the Audio Mix.",
    discussion: """
      Separates built-in scenes with synthetic talkers and ambience. Reports how exactly the stems \
      add up to the original, how well speech and ambience are separated, and the CPU time. Fails \
      if a result is outside its limits.
      """,
    arguments: [],
    options: [Options.json.specification, Options.chart.specification])
}

extension CommandSpecification {
  /// The examples of the `mix` commands and of `bench mix`.
  var mixExamples: [CommandExample] {
    switch name {
    case .mixAnalyse:
      [
        CommandExample(
          "mix analyse field.mov -o tuning.json", "Compute the tuning of a recording."),
        CommandExample(
          "mix analyse field.wav --layout foa -o tuning.json",
          "Compute the tuning of a file that does not state its layout."),
      ]
    case .mixBake:
      [
        CommandExample(
          "mix bake film.mov -o mixed.mov --mix cinematic --amount 0.7",
          "Bring the speech of a film to the front."),
        CommandExample(
          "mix bake film.mov -o quiet.mov --mix in-frame --field-of-view 90",
          "Attenuate talkers who are not in the picture."),
      ]
    case .mixProcess:
      [
        CommandExample(
          "mix process field.wav --to 5.1 -o surround.wav", "Mix a recording for loudspeakers."),
        CommandExample(
          "mix process field.wav --to foa+speech -o stems.wav",
          "Write ambience and speech to separate channels."),
      ]
    default:
      [
        CommandExample("bench mix", "Measure the separation."),
        CommandExample("bench mix --chart mix.svg", "Measure the separation, and draw a chart."),
      ]
    }
  }
}
