// SPDX-License-Identifier: Apache-2.0

/// One pair of axes with lines.
public struct ChartPanel: Sendable, Equatable {
  /// Names of the axes, with units: "time (s)".
  public var xLabel: String
  public var yLabel: String
  /// What the y axis shows; `nil` shows all data.
  public var yRange: ClosedRange<Double>?
  /// Default: linear.
  public var xScale: ChartScale
  /// Default: linear.
  public var yScale: ChartScale
  public var series: [ChartSeries]

  public init(
    xLabel: String, yLabel: String, yRange: ClosedRange<Double>? = nil,
    xScale: ChartScale = .linear, yScale: ChartScale = .linear, series: [ChartSeries]
  ) {
    self.xLabel = xLabel
    self.yLabel = yLabel
    self.yRange = yRange
    self.xScale = xScale
    self.yScale = yScale
    self.series = series
  }
}

/// How an axis is divided.
public enum ChartScale: Sendable, Equatable {
  case linear
  /// Equal steps are powers of the base. What is not positive is a gap in the line.
  case logarithmic(base: Int)
}

/// A named line. Points that are not finite are gaps in it.
public struct ChartSeries: Sendable, Equatable {
  public let name: String
  public let x: [Double]
  public let y: [Double]
  /// Dashed lines begin again with the first colour.
  public let isDashed: Bool

  /// `x` and `y` must be of the same length.
  public init(name: String, x: [Double], y: [Double], isDashed: Bool = false) {
    precondition(x.count == y.count, "a point has an x and a y")
    self.isDashed = isDashed
    self.name = name
    self.x = x
    self.y = y
  }

  var hasPoints: Bool { zip(x, y).contains { $0.isFinite && $1.isFinite } }
}
