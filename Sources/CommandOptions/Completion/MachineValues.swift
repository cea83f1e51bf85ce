// SPDX-License-Identifier: Apache-2.0

/// Values that completion looks up on the machine, because they differ between machines.
///
/// `stillstage completion-values KIND` prints them, one per line. For some kinds, a tab and a
/// description follow the value. Help does not mention this command.
public enum MachineValues: String, Sendable, CaseIterable {
  /// The IDs of HID trackers, industrial I/O sensors, earphones and Bluetooth LE trackers, as
  /// `stillstage trackers` lists them.
  case trackers
  /// The names of the sound server's outputs.
  case sinks
  /// The names of the SOFA files in the folder `HRTF` of the data folder.
  case hrtf
  /// The names of headphone profiles.
  case headphones

  /// The first word of the command that prints the values.
  public static let command = "completion-values"
  /// The executable that finds trackers and outputs.
  public static let executable = "stillstage-values"

  /// Creates the kind of an option's values; nil if completion does not look them up.
  init?(_ option: OptionSpecification) {
    switch option.name {
    case Options.tracker.specification.name, Options.deviceTracker.specification.name:
      self = .trackers
    case Options.sink.specification.name: self = .sinks
    case Options.hrtf.specification.name: self = .hrtf
    case Options.headphones.specification.name: self = .headphones
    default: return nil
    }
  }

  /// Creates the kind of an argument's values; nil if completion does not look them up.
  init?(_ argument: ArgumentSpecification) {
    guard argument == Arguments.trackerID || argument == Arguments.calibratedTracker else {
      return nil
    }
    self = .trackers
  }

  /// Whether the path of a file is also a valid value.
  var permitsFile: Bool { self == .hrtf || self == .headphones }
}
