// SPDX-License-Identifier: Apache-2.0

/// The options of `listen` and `record` for setting up the input, for playing its sound and for
/// saving the head motion.
extension Options {
  public static let listen = CommandOption<ListenChoice>(
    "listen", "off|on|auto", .words, default: .off, shown: "off",
    help: """
      Play what is recorded, with head tracking: 'auto' plays only over headphones, 'on' also \
      over loudspeakers, whose sound the microphone may pick up. The key l starts and ends the \
      playback.
      """)
  /// `--listen` of the command `listen`.
  public static let listenAnyway = CommandOption<ListenPermission>(
    "listen", "on|auto", .words, default: .auto, shown: "auto",
    help: """
      Outputs to play to: 'auto' plays only over headphones, 'on' also over loudspeakers, whose \
      sound the microphone may pick up.
      """)
  public static let listenServer = CommandOption<SoundServerOption>(
    "listen-output", "auto|pulse|pipewire", .words, default: .auto, shown: "auto",
    help: """
      Sound server to play through. The values have the same meaning as for '--output' of 'listen'.
      """)
  public static let saveMotion = CommandOption<String?>(
    "save-motion", "FILE.csv", .file,
    help: """
      CSV file in which to save the head motion during the recording, for use with '--motion'. \
      Its columns t,w,x,y,z are the time in the recording, in seconds, and the quaternion of the \
      pose relative to the front.
      """)

  public static let bluetooth = CommandOption<BluetoothChoice>(
    "bluetooth", "best|hfp|off", .words, default: .off, shown: "off",
    help: """
      Profile of a Bluetooth microphone: 'best' selects the profile with the best microphone, \
      'hfp' selects the hands-free or headset profile, and 'off' does not change the profile. Both \
      'best' and 'hfp' select the best codec of the profile, and restore the former profile and \
      codec at the end.
      """)
  public static let microphoneMode = CommandOption<MicrophoneModeChoice>(
    "mic-mode", "standard|voice|wide", .words, default: .standard, shown: "standard",
    help: """
      Treatment of the input: 'standard' takes the input as it is, 'voice' uses the sound server's \
      echo cancellation and noise suppression (one or two channels), and 'wide' records all \
      channels without interpreting them.
      """)

  /// Options at the end of the option lists of `record` and `listen`.
  static let listening: [OptionSpecification] =
    [
      bluetooth.specification, microphoneMode.specification,
      sink.specification, route.specification, latency.specification,
      tracker.specification, deviceTracker.specification, trackerAxes.specification,
      trackerPreset.specification, takeOver.specification, mode.specification,
      predict.specification, keepFront.specification, hrtf.specification,
      hrtfEqualization.specification, order.specification, decoder.specification,
      spatialize.specification, headphones.specification, headCircumference.specification,
    ] + mixing
}

/// `--bluetooth`: the profile of a Bluetooth microphone.
public enum BluetoothChoice: String, Sendable, CaseIterable {
  case best
  /// The hands-free or the headset profile.
  case hfp
  case off
}

/// `--mic-mode`: how an input is treated.
public enum MicrophoneModeChoice: String, Sendable, CaseIterable {
  case standard
  case voice
  case wide
}

/// `--listen` of `record`: whether to play what is recorded.
public enum ListenChoice: String, Sendable, CaseIterable {
  case off
  case on
  /// Only over headphones.
  case auto
}

/// `--listen` of `listen`: the outputs to play to.
public enum ListenPermission: String, Sendable, CaseIterable {
  case on
  /// Only over headphones.
  case auto
}
