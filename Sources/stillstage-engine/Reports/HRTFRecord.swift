// SPDX-License-Identifier: Apache-2.0

import Binaural

/// The output of `stillstage hrtf info --json`; docs/command-line.md explains the keys. Unknown
/// values are absent.
struct HRTFRecord: Encodable {
  let convention: String?
  let database: String?
  let declaredChannelZero: String?
  let decoderDelayMilliseconds: Double
  let delaysSamples: [Double]?
  let diffuseFieldLevelDecibels: Double?
  let directions: Int?
  let elevationsDegrees: [Double]?
  let energyRatio: Double?
  let file: String
  let headCircumferenceCentimetres: Double?
  let largestGapDegrees: Double?
  let license: String?
  let listener: String?
  let measurements: Int?
  let organization: String?
  let radius: Double?
  let reasons: [String]
  let sampleRate: Double?
  let taps: Int?
  let title: String?
  let trueChannelZero: String?
  let usable: Bool

  /// The delay of the decoder's filters, in addition to the delay of the responses.
  static let decoderDelayMilliseconds = BinauralFilters.delaySeconds * 1000

  init(_ summary: HRTFSummary) {
    let content = summary.content
    convention = told(summary.convention)
    database = told(summary.database)
    declaredChannelZero = content?.declaredChannelZero
    decoderDelayMilliseconds = Self.decoderDelayMilliseconds
    delaysSamples = content?.delays.map { [$0.lowerBound, $0.upperBound] }
    diffuseFieldLevelDecibels = finite(content?.diffuseFieldLevelDecibels)
    directions = content?.directions
    elevationsDegrees = content.map {
      [$0.elevations.lowerBound, $0.elevations.upperBound].compactMap(finite)
    }
    energyRatio = finite(content?.energyRatio)
    file = summary.path
    headCircumferenceCentimetres = finite(content?.headCircumference.map { 100 * $0 })
    largestGapDegrees = finite(content?.largestGapDegrees)
    license = told(summary.license)
    listener = told(summary.listener)
    measurements = summary.measurements
    organization = told(summary.organization)
    radius = finite(content?.radius)
    reasons = summary.reasons
    sampleRate = finite(summary.sampleRate)
    taps = summary.taps
    title = told(summary.title)
    trueChannelZero = content?.trueChannelZero
    usable = summary.isUsable
  }
}

/// Returns a number, rounded to six decimals if its magnitude is below 1e9; nil for nil, NaN and
/// infinity.
private func finite(_ value: Double?) -> Double? {
  guard let value, value.isFinite else { return nil }
  return abs(value) < 1e9 ? (value * 1e6).rounded() / 1e6 : value
}

private func told(_ text: String?) -> String? {
  text.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
}
