// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
private import Geometry
internal import Rendering
private import Surround

/// Determines the bus for several layouts, and the gains that convert a layout to the bus.
///
/// - For a mono or stereo bus, layouts are folded down.
/// - For a soundfield bus, layouts are encoded.
/// - For a bus with more loudspeakers, soundfields are sampled. A loudspeaker at ear height that
///   the bus lacks is panned between its two neighbours if they are less than 150 degrees apart
///   (vector base amplitude panning: Pulkki, J. Audio Eng. Soc. 45(6), 1997). Any other missing
///   loudspeaker goes to the nearest loudspeakers of the bus. Low-frequency effects go to the
///   low-frequency channel of the bus; without one, they are dropped.
enum LayoutBus {
  /// Returns the bus for several layouts; stereo if there are none.
  ///
  /// If all layouts are equal, the bus is that layout. Otherwise, if any of them is a soundfield,
  /// the bus is a soundfield of the highest order, with a head-locked pair if any layout has one.
  /// Without a soundfield, the bus has all loudspeakers that occur. However, if no layout has both
  /// side and back loudspeakers, the bus has at most one of these pairs: the first to occur.
  static func bus(for layouts: [ChannelLayout]) -> ChannelLayout {
    guard let first = layouts.first else { return .stereo }
    if layouts.allSatisfy({ $0 == first }) { return first }
    let orders = layouts.compactMap {
      if case .ambisonics(let order, _, _) = $0 { order } else { nil }
    }
    if let order = orders.max() {
      let hasPair = layouts.contains {
        if case .ambisonics(_, _, true) = $0 { true } else { false }
      }
      return .ambisonics(order: order, convention: .ambiX, headLocked: hasPair)
    }
    return .speakers(union(of: layouts.compactMap(\.speakers)))
  }

  private static func union(of layouts: [[Speaker]]) -> [Speaker] {
    var all = Set(layouts.joined())
    let sides: Set<Speaker> = [.sideLeft, .sideRight]
    let backs: Set<Speaker> = [.backLeft, .backRight]
    // If the bus had both pairs, the surrounds would move when a layout with a side pair follows
    // one with a back pair, or vice versa.
    let hasBoth = layouts.contains { !sides.isDisjoint(with: $0) && !backs.isDisjoint(with: $0) }
    if !hasBoth, !sides.isDisjoint(with: all), !backs.isDisjoint(with: all) {
      let isSide =
        layouts.lazy.flatMap { $0 }.first { sides.union(backs).contains($0) }
        .map(sides.contains) ?? true
      all.subtract(isSide ? backs : sides)
      all.formUnion(isSide ? sides : backs)
    }
    return Speaker.allCases.filter(all.contains)
  }

  /// Returns the gains that mix a layout to a bus: bus channels x layout channels. If the two
  /// differ and either is unknown, the gains are 0.
  static func gains(from layout: ChannelLayout, to bus: ChannelLayout) -> [[Double]] {
    if layout == bus { return identity(layout.channelCount) }
    switch (layout, bus) {
    case (_, .ambisonics(let order, _, let hasPair)):
      return field(layout, order: order, hasPair: hasPair)
    case (.speakers(let speakers), .speakers(let targets)):
      return bus.isMultichannel ? panned(speakers, to: targets) : folded(layout, to: targets)
    case (.ambisonics, .speakers(let targets)):
      return bus.isMultichannel ? sampled(layout, at: targets) : folded(layout, to: targets)
    default:
      return zero(bus.channelCount, layout.channelCount)
    }
  }

  private static func zero(_ outputs: Int, _ inputs: Int) -> [[Double]] {
    Array(repeating: [Double](repeating: 0, count: inputs), count: outputs)
  }

  private static func identity(_ count: Int) -> [[Double]] {
    (0..<count).map { row in (0..<count).map { $0 == row ? 1 : 0 } }
  }

  /// Returns the gains that encode a layout as a soundfield. Low-frequency effects and head-locked
  /// stereo go to the head-locked pair of the bus; without one, they are dropped.
  private static func field(_ layout: ChannelLayout, order: Int, hasPair: Bool) -> [[Double]] {
    let treatment = Treatment(spatial: layout, busOrder: order)
    let channels = SphericalHarmonics.channelCount(order: order)
    var gains = zero(channels + (hasPair ? 2 : 0), layout.channelCount)
    for (row, values) in treatment.field.prefix(channels).enumerated() { gains[row] = values }
    guard hasPair else { return gains }
    for ear in 0..<2 {
      gains[channels + ear] = zip(treatment.headLocked[ear], treatment.lowFrequency[ear]).map(+)
    }
    return gains
  }

  /// Returns the gains of the fold-down to plain stereo (ITU-R BS.775-4, annex 4). For a mono bus,
  /// returns the average of the gains to left and right.
  private static func folded(_ layout: ChannelLayout, to targets: [Speaker]) -> [[Double]] {
    var stereo = Treatment(plain: layout).headLocked
    // Mono is folded down like a centre channel.
    let share = 0.5.squareRoot()
    if layout == .mono { stereo = [[share], [share]] }
    return targets.count == 2 ? stereo : [zip(stereo[0], stereo[1]).map { ($0 + $1) / 2 }]
  }

  /// Returns the gains that sample a soundfield in the directions of the loudspeakers. Degree `n`
  /// has the weight `(2n + 1) / (L (N + 1))`, where `L` is the number of loudspeakers with a
  /// direction and `N` is the order. A head-locked pair goes to the front pair.
  private static func sampled(_ layout: ChannelLayout, at targets: [Speaker]) -> [[Double]] {
    let treatment = Treatment(spatial: layout, busOrder: 1)
    let places = targets.map { $0.direction(in: targets)?.unitVector }
    let count = Double(places.count { $0 != nil })
    return targets.indices.map { index in
      let pair = targets[index] == .frontLeft ? 0 : targets[index] == .frontRight ? 1 : nil
      var row = pair.map { treatment.headLocked[$0] } ?? zero(1, layout.channelCount)[0]
      guard let place = places[index] else { return row }
      let harmonics = SphericalHarmonics.evaluate(order: treatment.order, place)
      for (channel, value) in harmonics.enumerated() {
        let degree = Int(Double(channel).squareRoot())
        let weight = Double(2 * degree + 1) / (count * Double(treatment.order + 1)) * value
        for input in row.indices { row[input] += weight * treatment.field[channel][input] }
      }
      return row
    }
  }
}

extension ChannelLayout {
  fileprivate var speakers: [Speaker]? {
    if case .speakers(let speakers) = self { speakers } else { nil }
  }
}

extension LayoutBus {
  private static func panned(_ speakers: [Speaker], to targets: [Speaker]) -> [[Double]] {
    let places = targets.map { $0.direction(in: targets) }
    var gains = zero(targets.count, speakers.count)
    for (input, speaker) in speakers.enumerated() {
      guard let place = speaker.direction(in: speakers) else {
        let effects = targets.firstIndex(of: speaker) ?? targets.firstIndex(where: \.isLowFrequency)
        if let effects { gains[effects][input] = 1 }
        continue
      }
      for (output, gain) in shares(of: place, among: places) { gains[output][input] = gain }
    }
    return gains
  }

  /// Returns the gains that mix a loudspeaker in the direction `place` to the bus. An output that
  /// is not returned has a gain of 0. `places` are the directions of the bus channels; nil for
  /// low-frequency effects.
  private static func shares(
    of place: Direction, among places: [Direction?]
  ) -> [(output: Int, gain: Double)] {
    let angles = places.map { other in
      other.map { angle(place.unitVector, $0.unitVector) } ?? .infinity
    }
    let least = angles.min() ?? .infinity
    if least > 1e-6, place.elevation == 0, let pair = neighbours(of: place, among: places) {
      return pair
    }
    let nearest = angles.indices.filter { angles[$0] < least + 0.5 }
    return nearest.map { ($0, 1 / Double(nearest.count).squareRoot()) }
  }

  /// Returns the gains that pan between the nearest ear-height loudspeakers on both sides of a
  /// direction. Returns nil if a side has none, or if the two are 150 degrees or more apart.
  private static func neighbours(
    of place: Direction, among places: [Direction?]
  ) -> [(output: Int, gain: Double)]? {
    let ring = places.indices.compactMap { index -> (index: Int, turn: Double)? in
      guard let other = places[index], other.elevation == 0 else { return nil }
      return (index, wrapped(other.azimuth - place.azimuth))
    }
    guard let left = ring.filter({ $0.turn > 0 }).min(by: { $0.turn < $1.turn }),
      let right = ring.filter({ $0.turn <= 0 }).max(by: { $0.turn < $1.turn }),
      left.turn - right.turn < 150
    else { return nil }
    let (a, b) = (sin(-right.turn), sin(left.turn))
    let norm = (a * a + b * b).squareRoot()
    return [(left.index, a / norm), (right.index, b / norm)]
  }

  private static func sin(_ degrees: Double) -> Double {
    Direction(azimuth: degrees).unitVector.y
  }

  private static func wrapped(_ degrees: Double) -> Double {
    let turn = degrees.truncatingRemainder(dividingBy: 360)
    return turn > 180 ? turn - 360 : turn <= -180 ? turn + 360 : turn
  }

  /// Returns the angle between two unit vectors, in degrees.
  private static func angle(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Double {
    // Computing half the angle from its sine is accurate even near zero.
    let half = ((a - b) * (a - b)).sum().squareRoot() / 2
    let cosine = (1 - min(1, half * half)).squareRoot()
    return 2 * Direction(SIMD3(cosine, half, 0)).azimuth
  }
}
