// SPDX-License-Identifier: Apache-2.0

extension HRTFSet {
  /// The minimum number of directions in a set: the number of channels of a first-order soundfield.
  static let fewestDirections = 4

  /// Creates a set from the measurements that `DistanceShell` selects in a SOFA file. `EarOrder`
  /// assigns the channels to the ears. The set is reduced as in `limited()`.
  ///
  /// - Throws: `HRTFError.refused` if there are too few directions, or if a delay or the level is
  ///   outside the limits.
  init(_ contents: SofaContents, path: String) throws(HRTFError) {
    let shell = DistanceShell(contents.positions)
    let ears = EarOrder(contents)
    let taps = contents.taps
    let count = shell.indices.count
    guard count >= Self.fewestDirections else {
      throw .refused(
        path: path,
        check: "it has at most \(count) direction\(count == 1 ? "" : "s") at the same distance; "
          + "a set needs at least \(Self.fewestDirections)")
    }
    var responses: [Float] = []
    responses.reserveCapacity(count * 2 * taps)
    var delays: [Double] = []
    for index in shell.indices {
      for ear in 0..<2 {
        let channel = ears.isExchanged ? 1 - ear : ear
        let start = (index * 2 + channel) * taps
        responses += contents.impulseResponses[start..<start + taps]
        delays.append(contents.delay(measurement: index, channel: channel))
      }
    }
    let directions = shell.indices.map { index in
      contents.positions[index] / contents.positions[index].length
    }
    self = try HRTFSet(
      name: Self.name(contents, path: path), path: path, sampleRate: contents.sampleRate,
      directions: directions, radius: shell.radius, taps: taps, impulseResponses: responses,
      delays: delays, notes: contents.notes + shell.notes + ears.notes
    ).limited()
  }

  private static func name(_ contents: SofaContents, path: String) -> String {
    let parts = ["DatabaseName", "ListenerShortName"].compactMap { contents.attributes[$0] }
      .filter { !$0.allSatisfy(\.isWhitespace) }
    return parts.isEmpty
      ? String(path.split(separator: "/").last ?? "unnamed") : parts.joined(separator: " ")
  }
}

extension SofaContents {
  /// Returns a channel's delay in a measurement, in samples; 0 if the file has no delays. The
  /// impulse response does not include this delay.
  func delay(measurement: Int, channel: Int) -> Double {
    switch delays.count {
    case 0: 0
    case 2: Double(delays[channel])
    default: Double(delays[measurement * 2 + channel])
    }
  }
}

extension SIMD3 where Scalar == Double {
  var length: Double { (self * self).sum().squareRoot() }
}
