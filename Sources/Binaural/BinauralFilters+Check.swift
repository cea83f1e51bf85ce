// SPDX-License-Identifier: Apache-2.0

private import Ambisonics
private import CRealtime

extension BinauralFilters {
  /// Whether the filters, the equaliser and the plane-wave responses contain only finite numbers.
  public var isFinite: Bool {
    func isFinite(_ arrays: [[Float]]) -> Bool { arrays.allSatisfy { $0.allSatisfy(\.isFinite) } }
    return isFinite(left) && isFinite(right) && isFinite(equaliser.map { [$0] } ?? [])
      && isFinite(direct.map { $0.filters + [$0.gains] } ?? [])
      && isFinite(direct?.crossed.map { $0.left + $0.right } ?? [])
      && (planeWaves?.isFinite ?? true)
  }

  /// The decoder's level in a diffuse field, in dB: the mean power of both ears relative to the
  /// power of W, from 200 Hz to 8 kHz. NaN for direct filters.
  var diffuseFieldLevelDecibels: Double {
    guard !left.isEmpty else { return .nan }
    let power = BandPower(taps: taps, sampleRate: sampleRate, band: HRTFSet.levelBand)
    var sum = 0.0
    for (channel, filters) in zip(left, right).enumerated() {
      let scale = SphericalHarmonics.n3dOverSN3D(channel: channel)
      let both = filters.0.withUnsafeBufferPointer { left in
        filters.1.withUnsafeBufferPointer { right in power.sum(left, right) }
      }
      sum += both / (scale * scale)
    }
    return 10 * realtime_log(sum / 2) / realtime_log(10)
  }

  /// The reason why filters for a normalised set must not be played; nil if there is none.
  var designFault: String? {
    guard isFinite else { return "contains numbers that are not finite" }
    guard direct == nil else { return nil }
    let level = diffuseFieldLevelDecibels
    guard abs(level) <= HRTFLimit.designLevel else {
      return "has a diffuse-field level of \(decimal(level, digits: 1)) dB; "
        + "-12 to 12 dB are supported"
    }
    return nil
  }

  /// Returns these filters unless they have a `designFault`. They must have been designed for a
  /// normalised set.
  ///
  /// - Parameter set: the set to name in the error.
  /// - Throws: `HRTFError.refused` if there is a fault.
  func checked(_ set: HRTFSet) throws(HRTFError) -> BinauralFilters {
    guard let fault = designFault else { return self }
    throw set.refusal("the decoder designed from it \(fault)")
  }
}
