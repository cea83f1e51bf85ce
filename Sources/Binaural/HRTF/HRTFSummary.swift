// SPDX-License-Identifier: Apache-2.0

import Geometry

/// What a SOFA file holds and whether it can be used, for people.
public struct HRTFSummary: Sendable, Equatable {
  public var path: String
  /// As the file names them; nil or empty where it does not.
  public var convention: String?
  public var title: String?
  public var database: String?
  public var listener: String?
  public var organization: String?
  public var license: String?
  /// Hz.
  public var sampleRate: Double?
  /// Samples of an impulse response, without its delay.
  public var taps: Int?
  /// Measurements in the file.
  public var measurements: Int?
  /// What an accepted file holds; nil where the file was refused.
  public var content: Content?
  /// True where the set can be decoded with.
  public var isUsable: Bool
  /// Why it is not usable; or, of a usable one, what to know about it.
  public var reasons: [String]

  public struct Content: Sendable, Equatable {
    /// Directions used: those of one distance.
    public var directions: Int
    /// Degrees, lowest and highest.
    public var elevations: ClosedRange<Double>
    /// Metres, mean of the directions used.
    public var radius: Double
    /// Samples; nil where all delays are zero or missing.
    public var delays: ClosedRange<Double>?
    /// The ear that channel 0 is by the file's ReceiverPosition ("left" or "right"); nil: not told.
    public var declaredChannelZero: String?
    /// The ear that channel 0 is by the levels of lateral sources: "left" or "right".
    public var trueChannelZero: String
    /// Largest over smallest energy of an impulse response.
    public var energyRatio: Double
    /// dB, before normalisation; see `HRTFSet.diffuseFieldLevelDecibels`.
    public var diffuseFieldLevelDecibels: Double
    /// Degrees from the farthest point of the sphere to its nearest direction.
    public var largestGapDegrees: Double
    /// Metres, of the sphere whose ears are as far apart in time; nil where the delays are no
    /// head's.
    public var headCircumference: Double?
  }

  /// Reads the file and sums it up. A SOFA file that fails a check gives `isUsable` false.
  /// - Throws: `HRTFError` where the file cannot be opened or is not SOFA, or where reading it
  ///   crashed, took too long or found no reader.
  public init(path: String, loader: SofaLoader = SofaLoader()) throws(HRTFError) {
    self.path = path
    switch try loader.answer(path) {
    case .refused(.refused(_, let check), let attributes):
      (isUsable, reasons) = (false, [check])
      describe(attributes)
    case .refused(let error, _):
      throw error
    case .accepted(let contents):
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
    return ["nothing is measured within \(decimal(gap, digits: 0)) degrees of some directions"]
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
