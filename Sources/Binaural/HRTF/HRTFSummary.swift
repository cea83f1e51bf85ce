// SPDX-License-Identifier: Apache-2.0

import Geometry

/// A description of a SOFA file for display.
public struct HRTFSummary: Sendable, Equatable {
  public var path: String
  /// The SOFA convention. This property and the next five contain attributes of the file. A
  /// property is nil if the file has no such attribute or its attributes were not read.
  public var convention: String?
  public var title: String?
  public var database: String?
  public var listener: String?
  public var organization: String?
  public var license: String?
  /// The sample rate, in Hz; nil if unknown.
  public var sampleRate: Double?
  /// The length of an impulse response in samples, without its delay; nil if unknown.
  public var taps: Int?
  /// The number of measurements in the file; nil if unknown.
  public var measurements: Int?
  /// The contents of an accepted file; nil if the file was refused.
  public var content: Content?
  /// Whether the file can be used as an HRTF set.
  public var isUsable: Bool
  /// Notes on the set, or the reasons why the file is not usable.
  public var reasons: [String]

  public struct Content: Sendable, Equatable {
    /// The number of directions used.
    public var directions: Int
    /// The lowest and the highest elevation, in degrees.
    public var elevations: ClosedRange<Double>
    /// The mean distance of the sources used, in m.
    public var radius: Double
    /// The smallest and the largest delay, in samples; nil if all are zero.
    public var delays: ClosedRange<Double>?
    /// The ear of channel 0 according to ReceiverPosition, "left" or "right"; nil if
    /// ReceiverPosition is missing or does not distinguish the ears.
    public var declaredChannelZero: String?
    /// The ear to which channel 0 is assigned, "left" or "right".
    public var trueChannelZero: String
    /// The largest energy of any impulse response in the file, divided by the smallest.
    public var energyRatio: Double
    /// The diffuse-field level before normalisation, in dB.
    public var diffuseFieldLevelDecibels: Double
    /// The largest angle from any point on the sphere to the nearest direction, in degrees.
    public var largestGapDegrees: Double
    /// The circumference of the rigid sphere that fits the set's interaural delays best, in m; nil
    /// if `HeadSize(of:)` is nil.
    public var headCircumference: Double?
  }

  /// Reads and summarises a file. If the file fails a check, `isUsable` is false.
  ///
  /// - Throws: any `HRTFError` except `refused`.
  public init(path: String, loader: SofaLoader = SofaLoader()) throws(HRTFError) {
    self.path = path
    switch try loader.answer(path) {
    case .refused(.refused(_, let check), let attributes):
      (isUsable, reasons) = (false, [check])
      describe(attributes)
    case .refused(let error, _):
      throw error
    case .accepted(let contents, _):
      (isUsable, reasons) = (true, [])
      describe(contents.attributes)
      do {
        let set = try HRTFSet(contents, path: path)
        content = Content(contents, set)
        reasons = set.notes + Self.gapNotes(content)
      } catch {
        isUsable = false
        if case .refused(_, let check) = error { reasons = [check] } else { throw error }
      }
    }
  }

  private mutating func describe(_ attributes: [String: String]) {
    convention = attributes["SOFAConventions"]
    title = attributes["Title"]
    database = attributes["DatabaseName"]
    listener = attributes["ListenerShortName"]
    organization = attributes["Organization"]
    license = attributes["License"]
    sampleRate = attributes["SamplingRate"].flatMap(Double.init)
    taps = attributes["N"].flatMap { Int($0) }
    measurements = attributes["M"].flatMap { Int($0) }
  }

  private static func gapNotes(_ content: Content?) -> [String] {
    guard let gap = content?.largestGapDegrees, gap > 30 else { return [] }
    let limit = decimal(gap, digits: 0)
    return ["some directions have no measurement within about \(limit) degrees"]
  }
}

extension HRTFSummary.Content {
  fileprivate init(_ contents: SofaContents, _ set: HRTFSet) {
    let cells = SphericalVoronoi(set.directions)
    let heights = set.directions.map { Direction($0).elevation }
    let ears = EarOrder(contents)
    let (least, most) = (set.delays.min() ?? 0, set.delays.max() ?? 0)
    directions = set.directions.count
    elevations = (heights.min() ?? 0)...(heights.max() ?? 0)
    radius = set.radius
    delays = most > 0 ? least...most : nil
    declaredChannelZero = ears.declared?.rawValue
    trueChannelZero = ears.channelZero.rawValue
    energyRatio = contents.energyRatio
    diffuseFieldLevelDecibels = set.diffuseFieldLevelDecibels(
      weights: HRTFSet.areaWeights(cells.areas, limitingCaps: true))
    headCircumference = HeadSize(of: set)?.circumference
    largestGapDegrees = cells.largestGap * 180 / .pi
  }
}
