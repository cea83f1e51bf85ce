// SPDX-License-Identifier: Apache-2.0

/// One pair of axes with lines.
public struct ChartPanel: Sendable, Equatable {
  /// Names of the axes, with units: "time (s)".
  public var xLabel: String
  public var yLabel: String
  /// What the y axis shows; `nil` shows all data.
  public var yRange: ClosedRange<Double>?
  public var series: [ChartSeries]

  public init(
    xLabel: String, yLabel: String, yRange: ClosedRange<Double>? = nil, series: [ChartSeries]
  ) {
    self.xLabel = xLabel
    self.yLabel = yLabel
    self.yRange = yRange
    self.series = series
  }
}

/// A named line. Points that are not finite are gaps in it.
public struct ChartSeries: Sendable, Equatable {
  public let name: String
  public let x: [Double]
  public let y: [Double]

  /// `x` and `y` must be of the same length.
  public init(name: String, x: [Double], y: [Double]) {
    precondition(x.count == y.count, "a point has an x and a y")
    self.name = name
    self.x = x
    self.y = y
  }

  var hasPoints: Bool { zip(x, y).contains { $0.isFinite && $1.isFinite } }
}
