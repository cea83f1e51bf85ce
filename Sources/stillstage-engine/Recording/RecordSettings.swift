// SPDX-License-Identifier: Apache-2.0

import Capture
import CommandOptions
import CommandSupport
import Glibc
import PulseAudio
import SoundServer

/// The settings from the options of `record` or `listen`.
struct RecordSettings {
  /// The file; nil for `listen`.
  let output: String?
  let remembered: String?
  let choice: InputChoice
  /// The meaning of the channels; nil for `auto`.
  var microphone: MicrophoneFormat?
  let selection: [Int]?
  let isFloat: Bool

  init(_ command: ParsedCommand) throws(CommandFailure) {
    isFloat = command[Options.codec] == .float
    output = command.name == .listen ? nil : command[Options.recordOutput]
    if let output { try Self.check(output, isFloat: isFloat, command) }
    let remembered = InputStore().read()
    self.remembered = remembered
    choice =
      switch command[Options.input] {
      case .auto: .automatic(remembered: remembered)
      case .id(let id): .named(id)
      }
    selection = try command[Options.channels].map(Self.channels)
    microphone = try Self.microphone(command)
  }

  private static func check(
    _ output: String, isFloat: Bool, _ command: ParsedCommand
  ) throws(CommandFailure) {
    guard let container = RecordingContainer(path: output) else {
      let known = RecordingContainer.suffixes.joined(separator: ", ")
      throw .usage("'\(output)' has no known ending; end the name with one of \(known)")
    }
    if container == .flac, isFloat {
      throw .usage(
        "FLAC files cannot store float samples; choose '--codec pcm24' or another ending")
    }
    var status = stat()
    if stat(output, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      !command[Options.overwrite]
    {
      throw CommandFailure("'\(output)' exists; choose another name, or add '--overwrite'")
    }
  }

  func sink(
    _ format: RecorderFormat, _ command: ParsedCommand
  ) throws(RecordingError) -> any RecordingSink {
    guard let output else { return NoSink() }
    return FileSink(
      try RecordingContainer.open(
        path: output,
        format: RecordingFormat(
          layout: format.layout, sampleRate: format.sampleRate, codec: isFloat ? .float : .pcm24,
          stereo: command[Options.stereoPair] == .wy ? .wy : .xy),
        overwriting: command[Options.overwrite]))
  }

  /// Throws an error if the channels of an input do not fit the options.
  func check(_ input: Input) throws(CommandFailure) {
    if let wrong = selection?.first(where: { $0 >= input.channelCount }) {
      throw .usage(
        "the input '\(input.name)' has no channel \(wrong + 1); choose channels from 1 to "
          + "\(input.channelCount) with '--channels'")
    }
    let count = selection?.count ?? input.channelCount
    guard let microphone else {
      guard count > 2 else { return }
      throw .usage(
        count == 4
          ? "four channels of '\(input.name)' would be used; say what they are with "
            + "'--mic-format ambix', 'fuma' or 'a-format', or choose other channels with "
            + "'--channels'"
          : "\(count) channels of '\(input.name)' would be used; select the microphone's channels "
            + "with '--channels', and say what they are with '--mic-format'")
    }
    guard microphone.channelCount == count else {
      throw .usage(
        "'--mic-format \(name(of: microphone))' is for "
          + (microphone.channelCount == 1 ? "1 channel" : "\(microphone.channelCount) channels")
          + ", but \(count) of '\(input.name)' would be used; choose other channels with "
          + "'--channels', or choose another format")
    }
  }

  /// Returns the input that the options choose. Prints a note if another input replaces the
  /// remembered one. Throws an error if no input can be chosen.
  func chosen(among inputs: [Input]) throws(CommandFailure) -> Input {
    switch choice.outcome(among: inputs) {
    case .found(let input): return input
    case .substitute(let input, let missing):
      printNote(
        "the remembered input '\(missing)' is missing; '\(input.name)' is used instead"
          .withoutControls)
      return input
    case .monitorRefused(let input, let monitor):
      printNote(
        ("the remembered input '\(monitor)' is a monitor, which is recorded only with '--input'; "
          + "'\(input.name)' is used instead").withoutControls)
      return input
    case .none:
      throw CommandFailure(
        "the sound server has no inputs except monitors; connect a microphone, or name a monitor "
          + "with '--input'")
    case .unknown(let available):
      guard case .named(let id) = choice else {
        throw CommandFailure("no input is named; name one with '--input'")
      }
      throw CommandFailure(
        SoundServerError.unknownSource(name: id, available: available).message.withoutControls)
    }
  }

  private func name(of format: MicrophoneFormat) -> String {
    switch format {
    case .mono: "mono"
    case .stereo: "stereo"
    case .ambiX: "ambix"
    case .fuMa: "fuma"
    case .aFormat: "a-format"
    case .plain: "plain"
    }
  }

  /// Discards the sound: `listen` writes no file.
  private final class NoSink: RecordingSink {
    func append(_ planes: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int) {}
    func finish() {}
  }

  // MARK: Values of options

  /// Parses a list of channels such as "3-6" or "1,2,5". Returns the channels counted from 0.
  static func channels(_ text: String) throws(CommandFailure) -> [Int] {
    var all: [Int] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
      guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2,
        1 <= first, first <= last, last <= 256
      else {
        throw .usage(
          Options.channels.refusal(
            of: text, expectation: "channels from 1 to 256, such as 3-6 or 1,2,5", among: []
          ).description)
      }
      all += (first - 1...last - 1)
    }
    guard Set(all).count == all.count else {
      throw .usage("'--channels \(text)' names a channel more than once; name each channel once")
    }
    return all
  }

  private static func microphone(_ command: ParsedCommand) throws(CommandFailure)
    -> MicrophoneFormat?
  {
    let text = command[Options.microphoneFormat]
    let radius = command[Options.microphoneRadius].map { $0 / 1000 }
    if radius != nil, !text.hasPrefix("a-format") {
      throw .usage(
        "'--mic-radius' works only with '--mic-format a-format[:MIC]'; choose that format, or omit "
          + "'--mic-radius'")
    }
    switch text {
    case "auto": return nil
    case "mono": return .mono
    case "stereo": return .stereo
    case "ambix": return .ambiX
    case "fuma": return .fuMa
    default: break
    }
    guard text == "a-format" || text.hasPrefix("a-format:") else {
      let words = ["auto", "mono", "stereo", "ambix", "fuma", "a-format"]
      throw .usage(
        Options.microphoneFormat.refusal(
          of: text, expectation: "one of \(words.joined(separator: ", ")), a-format:MIC",
          among: words
        ).description)
    }
    var microphone = try tetrahedral(String(text.dropFirst("a-format:".count)), command)
    if let radius { microphone.radius = radius }
    return .aFormat(microphone)
  }

  /// Returns the microphone for the text after "a-format:": four capsules, a name or a path. Empty
  /// text means the default microphone.
  private static func tetrahedral(
    _ text: String, _ command: ParsedCommand
  ) throws(CommandFailure) -> TetrahedralMicrophone {
    guard !text.isEmpty else { return TetrahedralMicrophone() }
    let words = text.lowercased().split(separator: ",").map(String.init)
    let capsules = words.compactMap { Capsule(rawValue: $0) }
    if words.count == 4, capsules.count == 4 {
      guard Capsule.areTetrahedron(capsules) else {
        throw .usage(
          "the capsules \(text) are not at the corners of a regular tetrahedron; name four "
            + "that are, such as flu,frd,bld,bru")
      }
      return TetrahedralMicrophone(capsules: capsules)
    }
    let path = try microphonePath(text, command)
    do throws(MicrophoneFileError) {
      guard case .aFormat(let microphone) = try MicrophoneFile(path: path).format else {
        throw MicrophoneFileError.notTetrahedral(path)
      }
      return microphone
    } catch { throw CommandFailure(error.description.withoutControls) }
  }
}

/// Returns the path of the microphone file that `word` names. `word` is a microphone's name, or
/// already a path.
private func microphonePath(
  _ word: String, _ command: ParsedCommand
) throws(CommandFailure) -> String {
  if word.contains("/") || access(word, F_OK) == 0 { return word }
  guard let folder = microphoneFolder(command) else {
    throw CommandFailure(
      "cannot look up the microphone '\(word)': there is no data folder; give the path of a file")
  }
  let names = microphoneNames(in: folder)
  guard let name = names.first(where: { $0.lowercased() == word.lowercased() }) else {
    let fitting = names.filter { name in
      guard let file = try? MicrophoneFile(path: "\(folder)/\(name).json") else { return false }
      return if case .aFormat = file.format { true } else { false }
    }
    let choice = fitting.isEmpty ? "" : "name one of these: \(fitting.joined(separator: ", ")); or "
    throw CommandFailure(
      "no A-format microphone is named '\(word)'; \(choice)give the path of a file, or the order "
        + "of the capsules, such as flu,frd,bld,bru")
  }
  return "\(folder)/\(name).json"
}
