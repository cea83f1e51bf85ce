// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Returns the measurements' source positions in the listener's frame (x front, y left, z up), in
/// metres.
///
/// The positions in the file are Cartesian or spherical (azimuth, elevation, radius; degrees or
/// radians). ListenerPosition is the origin; if it is missing, the file's own origin is used.
/// ListenerView and ListenerUp define the axes [AES69-2022]. The file's own axes are used if
/// ListenerView is missing, or if the two vectors define no orientation. If only ListenerUp is
/// missing, the file's z axis takes its place.
func listenerPositions(_ file: SofaFile, notes: inout [String]) throws(Refusal) -> [SIMD3<Double>] {
  let m = file.measurements
  let sources = try vectors(file.sourcePositions, "SourcePosition", m, defaultType: "spherical")
  guard !sources.isEmpty else { throw Refusal("SourcePosition is missing") }
  let origins = try vectors(file.listenerPositions, "ListenerPosition", m, defaultType: "cartesian")
  let viewType = file.listenerViews.attribute("Type") ?? "cartesian"
  let views = try vectors(file.listenerViews, "ListenerView", m, defaultType: "cartesian")
  let ups = try vectors(file.listenerUps, "ListenerUp", m, defaultType: viewType)
  var frame = ListenerFrame.straightAhead
  var isTurned = false
  var unusable: [Int] = []
  var positions: [SIMD3<Double>] = []
  positions.reserveCapacity(m)
  for index in 0..<m {
    if !views.isEmpty, index == 0 || views.count > 1 || ups.count > 1 {
      let up = ups.isEmpty ? SIMD3(0, 0, 1) : ups[index % ups.count]
      if let given = ListenerFrame(view: views[index % views.count], up: up) {
        frame = given
      } else {
        frame = .straightAhead
        unusable.append(index)
      }
      if frame != .straightAhead { isTurned = true }
    }
    let origin = origins.isEmpty ? .zero : origins[index % origins.count]
    let position = frame.coordinates(of: sources[index % sources.count] - origin)
    let radius = (position * position).sum().squareRoot()
    try require(
      Limit.radius.contains(radius),
      "the source of measurement \(index) is \(radius) m from the listener; 0.05 to 100 m are "
        + "supported")
    positions.append(position)
  }
  if let first = unusable.first {
    let which = unusable.count == 1 ? "measurement \(first)" : "\(unusable.count) measurements"
    notes.append(
      "ListenerView and ListenerUp of \(which) are ignored, because they do not define an "
        + "orientation")
  }
  if isTurned {
    notes.append("the listener is turned; directions are relative to the listener")
  }
  return positions
}

/// Returns a variable's vectors in Cartesian coordinates: one, or one for each of the `m`
/// measurements. Returns an empty list if the variable is missing.
private func vectors(
  _ array: SofaArray, _ name: String, _ m: Int, defaultType: String
) throws(Refusal) -> [SIMD3<Double>] {
  guard array.count > 0 else { return [] }
  try require(
    array.count == 3 || array.count == 3 * m,
    "\(name) has \(array.count) elements; 3 or \(3 * m) (M x 3) are expected")
  try require(array.allFinite, "\(name) contains a number that is not finite")
  let type = (array.attribute("Type") ?? defaultType).lowercased()
  try require(
    type == "spherical" || type == "cartesian",
    "\(name) has the type \(type); only cartesian and spherical are supported")
  let spherical = type == "spherical"
  let unit = array.attribute("Units")?.lowercased() ?? ""
  let scale = unit.hasPrefix("rad") ? 1 : Double.pi / 180
  return (0..<array.count / 3).map { index in
    let v = SIMD3(array[3 * index], array[3 * index + 1], array[3 * index + 2])
    guard spherical else { return v }
    let (azimuth, elevation) = (v.x * scale, v.y * scale)
    return v.z
      * SIMD3(cos(azimuth) * cos(elevation), sin(azimuth) * cos(elevation), sin(elevation))
  }
}

/// The listener's axes in the file's coordinates.
struct ListenerFrame: Equatable {
  private var front: SIMD3<Double>
  private var left: SIMD3<Double>
  private var up: SIMD3<Double>

  static let straightAhead = ListenerFrame()

  private init() {
    (front, left, up) = (SIMD3(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1))
  }

  /// Creates the frame that faces along `view`. Returns nil if a vector is practically zero or the
  /// vectors are practically parallel.
  init?(view: SIMD3<Double>, up: SIMD3<Double>) {
    guard let front = unit(view) else { return nil }
    guard let top = unit(up), let above = unit(top - (top * front).sum() * front) else {
      return nil
    }
    self.front = front
    self.up = above
    left = SIMD3(
      above.y * front.z - above.z * front.y, above.z * front.x - above.x * front.z,
      above.x * front.y - above.y * front.x)
  }

  func coordinates(of v: SIMD3<Double>) -> SIMD3<Double> {
    SIMD3((v * front).sum(), (v * left).sum(), (v * up).sum())
  }
}

private func unit(_ v: SIMD3<Double>) -> SIMD3<Double>? {
  let length = (v * v).sum().squareRoot()
  return length > 1e-6 ? v / length : nil
}
