// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing

extension MixTuning {
  /// The tuning as a JSON object on one line; docs/audio-mix.md describes its form.
  public var json: String {
    #"{"version":1,"speech":\#(speech.json),"ambience":\#(ambience.json)}"#
  }

  /// The value of the member `version` that is supported.
  public static let version = 1
  /// The accepted gains, in dB, of a part and of a filter.
  public static let gainRange = -60.0...60.0
  /// The accepted frequencies of filters, in Hz.
  public static let frequencyRange = 1.0...200_000.0
  /// The accepted qualities of filters.
  public static let qualityRange = 0.01...100.0
  /// The largest accepted number of filters of a part.
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

  /// Returns a number with at most three decimals; 0 for a number that is not finite.
  private func number(_ value: Double) -> String {
    guard value.isFinite, abs(value) < 1e9 else { return "0.0" }
    return "\((value * 1000).rounded() / 1000)"
  }
}
