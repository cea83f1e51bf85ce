// SPDX-License-Identifier: Apache-2.0

/// One diagram of a chart: axes with lines.
public struct ChartPanel: Sendable, Equatable {
  /// The label of the x axis with its unit, such as "time (s)".
  public var xLabel: String
  /// The label of the y axis with its unit.
  public var yLabel: String
  /// The range of the y axis; nil to fit it to the data and the goals.
  public var yRange: ClosedRange<Double>?
  public var xScale: ChartScale
  public var yScale: ChartScale
  /// The names of x = 1, 2 and so on; empty if x is a quantity.
  public var xNames: [String]
  public var series: [ChartSeries]
  /// Target values or limits of y, each drawn as a line across the panel.
  public var goals: [ChartGoal]
  /// Whether the panel is a polar plot. In a polar plot, `x` is an angle in degrees, measured from
  /// the top and positive to the left, and `y` is the radius. The scales, the labels, the names
  /// and the range are ignored.
  public private(set) var isPolar = false

  /// Creates a polar plot of directions as seen from above.
  public static func polar(series: [ChartSeries]) -> ChartPanel {
    var panel = ChartPanel(xLabel: "", yLabel: "", series: series)
    panel.isPolar = true
    return panel
  }

  public init(
    xLabel: String, yLabel: String, yRange: ClosedRange<Double>? = nil,
    xScale: ChartScale = .linear, yScale: ChartScale = .linear, xNames: [String] = [],
    series: [ChartSeries], goals: [ChartGoal] = []
  ) {
    self.xLabel = xLabel
    self.yLabel = yLabel
    self.yRange = yRange
    self.xScale = xScale
    self.yScale = yScale
    self.xNames = xNames
    self.series = series
    self.goals = goals
  }

  /// Whether a series of the panel has a point with finite coordinates.
  var hasPoints: Bool { series.contains(where: \.hasPoints) }
}

/// A target value or a limit of y.
public struct ChartGoal: Sendable, Equatable {
  public var name: String
  public var y: Double

  public init(name: String, y: Double) {
    self.name = name
    self.y = y
  }
}

/// The scale of an axis.
public enum ChartScale: Sendable, Equatable {
  case linear
  /// Equal distances represent equal ratios. Values that are not positive are gaps in the line.
  case logarithmic(base: Int)
}

/// A named line with points. A point with a coordinate that is not finite is a gap in the line.
///
/// In all panels of a chart, series of the same name have the same colour.
public struct ChartSeries: Sendable, Equatable {
  public let name: String
  public let x: [Double]
  public let y: [Double]
  public let isDashed: Bool

  /// Creates a line; `x` and `y` must have the same length.
  public init(name: String, x: [Double], y: [Double], isDashed: Bool = false) {
    precondition(x.count == y.count, "x and y must have the same length")
    self.isDashed = isDashed
    self.name = name
    self.x = x
    self.y = y
  }

  var hasPoints: Bool { zip(x, y).contains { $0.isFinite && $1.isFinite } }

  /// The points with finite coordinates.
  var drawn: [(x: Double, y: Double)] {
    zip(x, y).filter { $0.isFinite && $1.isFinite }.map { (x: $0, y: $1) }
  }
}
