// SPDX-License-Identifier: Apache-2.0

/// A picture with panels that are stacked vertically. Panels without points are left out, and the
/// picture is then smaller. If no panel has points, all panels are drawn.
public struct Chart: Sendable, Equatable {
  public var title: String
  public var panels: [ChartPanel]
  public var size: ChartSize

  public init(title: String, panels: [ChartPanel], size: ChartSize = .default) {
    self.title = title
    self.panels = panels
    self.size = size
  }

  /// Checks that gnuplot is installed and that `path` selects a format.
  ///
  /// - Throws: `gnuplotMissing` if gnuplot is not in PATH; `unknownFormat` if the path ends in
  ///   neither ".svg" nor ".png".
  public static func check(path: String) throws(ChartError) {
    guard path.hasSuffix(".svg") || path.hasSuffix(".png") else { throw .unknownFormat(path) }
    guard Gnuplot.isInstalled else { throw .gnuplotMissing }
  }

  /// Draws the chart with gnuplot and writes it to a file. The format is PNG if `path` ends in
  /// ".png", otherwise SVG.
  public func write(to path: String) throws(ChartError) {
    let format: ChartFormat = path.hasSuffix(".png") ? .png : .svg
    let picture = try Gnuplot.draw(ChartScript(chart: self, format: format).text)
    try picture.save(to: path)
  }
}

/// A chart's width, and its height if all panels are drawn, in pixels.
public struct ChartSize: Sendable, Equatable {
  public var width: Int
  public var height: Int

  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  public static let `default` = ChartSize(width: 900, height: 600)
}
