// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing

extension MixTuning {
  /// The tuning as a JSON object on one line.
  public var json: String {
    #"{"version":1,"speech":\#(speech.json),"ambience":\#(ambience.json)}"#
  }

  /// The supported value of the member `version`.
  public static let version = 1
  /// The accepted gains of parts and filters, in dB.
  public static let gainRange = -60.0...60.0
  /// The accepted frequencies of filters, in Hz.
  public static let frequencyRange = 1.0...200_000.0
  /// The accepted quality factors of filters.
  public static let qualityRange = 0.01...100.0
  /// The largest number of filters that a part may have.
  public static let filterLimit = 32
}

extension MixTuning.Part {
  fileprivate var json: String {
    let filters = equaliser.map { filter in
      #"{"type":"\#(filter.kind.rawValue)","frequency":\#(number(filter.frequency)),"#
        + #""gain_db":\#(number(filter.gain)),"q":\#(number(filter.quality))}"#
    }
    return #"{"gain_db":\#(number(gainDecibels)),"eq":[\#(filters.joined(separator: ","))]}"#
  }

  /// Formats a number with at most three decimals. Returns 0.0 if it is not finite or its magnitude
  /// is 1e9 or more.
  private func number(_ value: Double) -> String {
    guard value.isFinite, abs(value) < 1e9 else { return "0.0" }
    return "\((value * 1000).rounded() / 1000)"
  }
}
