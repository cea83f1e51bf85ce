// SPDX-License-Identifier: Apache-2.0

import Capture
import CommandOptions
import CommandSupport
import PulseAudio
import SoundServer

/// Prepares the input that the options demand, and later undoes the resulting changes to the sound
/// server.
final class InputPreparation {
  /// The longest time after a signal for ending the command and undoing the changes, in ms.
  static let patience = 6000

  private let command: ParsedCommand
  private var undoing = InputUndo()
  private var bluetooth: BluetoothMicrophone.Former?
  private var voice: VoiceInput?

  /// Undoes the changes to the sound server that remain from `record` and `listen` processes that
  /// were killed.
  init(_ command: ParsedCommand) {
    self.command = command
    for note in InputUndo.undoLeftovers() { printNote(note.withoutControls) }
  }

  /// The name of the sink to which the echo canceller plays; nil without the voice mode.
  var realSink: String? { voice?.realSink }

  /// Whether `--bluetooth` or the voice mode is used. If so, the input does not change to the
  /// remembered one when that one becomes available.
  var isFixed: Bool { voice != nil || bluetooth != nil || command[Options.bluetooth] != .off }

  /// Returns the input to record, and makes the changes to the sound server that the options
  /// demand. In the wide mode, sets `settings.microphone` if the input has more than two channels.
  func input(for settings: inout RecordSettings) throws(CommandFailure) -> Input {
    let mode = MicrophoneMode(rawValue: command[Options.microphoneMode].rawValue) ?? .standard
    try refuse(mode, settings)
    if command[Options.bluetooth] != .off || mode == .voice {
      SignalDeadline.allow(milliseconds: Self.patience)
    }
    let input: Input
    if let microphone = try bluetoothInput() {
      input = microphone
    } else {
      input = try settings.chosen(among: try currentInputs())
    }
    guard input.microphoneModes.contains(mode) else { throw unsupported(mode, input) }
    if mode == .wide, input.channelCount > 2 {
      settings.microphone = .plain(channels: input.channelCount)
    }
    try settings.check(input)
    return mode == .voice ? try treated(input) : input
  }

  private func refuse(
    _ mode: MicrophoneMode, _ settings: RecordSettings
  ) throws(CommandFailure) {
    if command[Options.bluetooth] != .off, case .named = settings.choice {
      throw .usage("'--bluetooth' chooses the input itself; leave out '--input'")
    }
    guard mode != .standard else { return }
    if settings.selection != nil {
      throw .usage("'--mic-mode \(mode.rawValue)' records all channels; leave out '--channels'")
    }
    if mode == .wide, settings.microphone != nil {
      throw .usage("'--mic-mode wide' records the channels as they are; leave out '--mic-format'")
    }
  }

  private func unsupported(_ mode: MicrophoneMode, _ input: Input) -> CommandFailure {
    mode == .voice
      ? .usage(
        "'--mic-mode voice' needs a microphone with one or two channels, but '\(input.name)' "
          + (input.isMonitor ? "is a monitor" : "has \(input.channelCount) channels")
          + "; choose another input or mode")
      : .usage(
        "'--mic-mode \(mode.rawValue)' needs an input with several channels, but '\(input.name)' "
          + "has only one; choose another input or mode")
  }

  /// Returns the microphone that `--bluetooth` selects; nil without this option, or if no Bluetooth
  /// microphone can be used.
  private func bluetoothInput() throws(CommandFailure) -> Input? {
    let choice = command[Options.bluetooth]
    guard choice != .off else { return nil }
    do throws(BluetoothMicrophone.Refusal) {
      let microphone = try during("selecting the Bluetooth microphone") {
        () throws(BluetoothMicrophone.Refusal) in
        try BluetoothMicrophone.open(handsFreeOnly: choice == .hfp) { undoing.note($0) }
      }
      bluetooth = microphone.former
      if microphone.former == nil { undoing.note(nil) }
      return microphone.input
    } catch {
      undoing.note(nil)
      if case .server(let error) = error { throw CommandFailure(error.message) }
      printNote("no Bluetooth microphone is used: \(error.description)".withoutControls)
      return nil
    }
  }

  private func treated(_ input: Input) throws(CommandFailure) -> Input {
    do throws(SoundServerError) {
      let voice = try VoiceInput(input) { undoing.note(defaultSink: $0) }
      self.voice = voice
      return voice.input
    } catch {
      undoing.note(defaultSink: nil)
      throw CommandFailure(
        "cannot use voice mode: \(error.message)".withoutControls)
    }
  }

  /// Undoes the changes to the sound server. Call this after the recording has ended.
  func undo() {
    if let voice {
      voice.stop()
      undoing.note(defaultSink: nil)
    }
    voice = nil
    if let bluetooth, BluetoothMicrophone.restore(bluetooth) != .failed { undoing.note(nil) }
    bluetooth = nil
  }
}
