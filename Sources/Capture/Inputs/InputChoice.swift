// SPDX-License-Identifier: Apache-2.0

public import SoundServer

/// The rule by which the input of a recording is chosen.
public enum InputChoice: Sendable, Equatable {
  /// The remembered input, or else the default input, or else the first input. Monitors are
  /// skipped.
  case automatic(remembered: String?)
  /// The input with this name, which may be a monitor.
  case named(String)

  /// The chosen input, or the reason why no input can be chosen.
  public enum Outcome: Sendable, Equatable {
    case found(Input)
    /// The remembered input is missing, so another input is used.
    case substitute(Input, missing: String)
    /// The remembered input is a monitor, so another input is used.
    case monitorRefused(Input, monitor: String)
    /// There are no inputs, or only monitors.
    case none
    /// No input has the requested name.
    case unknown(available: [String])
  }

  /// Applies the rule to `inputs`, the current inputs of the server.
  public func outcome(among inputs: [Input]) -> Outcome {
    switch self {
    case .named(let name):
      if let input = inputs.first(where: { $0.name == name }) { return .found(input) }
      return .unknown(available: inputs.map(\.name))
    case .automatic(let remembered):
      let match = inputs.first { $0.name == remembered }
      if let match, !match.isMonitor { return .found(match) }
      let real = inputs.filter { !$0.isMonitor }
      guard let other = real.first(where: \.isDefault) ?? real.first else { return .none }
      guard let remembered else { return .found(other) }
      return match == nil
        ? .substitute(other, missing: remembered) : .monitorRefused(other, monitor: remembered)
    }
  }
}
