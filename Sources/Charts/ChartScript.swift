// SPDX-License-Identifier: Apache-2.0

private import Glibc

enum ChartFormat {
  case svg
  case png
}

/// The gnuplot script that draws a chart; it contains the data.
struct ChartScript {
  let chart: Chart
  let format: ChartFormat

  /// The least number of marks on a line without gaps. If the line has fewer points, all are
  /// marked.
  private static let marks = 24

  /// The panels that are drawn: those with points or, if there are none, all.
  private var panels: [ChartPanel] {
    let full = chart.panels.filter(\.hasPoints)
    return full.isEmpty ? chart.panels : full
  }

  var text: String {
    let panels = self.panels
    var lines = [
      "set encoding utf8",
      "set terminal \(terminal)",
      "set multiplot layout \(max(1, panels.count)),1 title \(Self.quoted(chart.title))",
      "set grid linetype 1 linewidth 0.7 linecolor rgb '#d0d0d0'",
      "set lmargin 11",
      "set rmargin \(keyWidth)",
      "set key outside right top",
    ]
    for (index, panel) in panels.enumerated() { lines += commands(panel, at: index) }
    return lines.joined(separator: "\n") + "\nunset multiplot\n"
  }

  /// The width of the legend beside the panels, in characters.
  private var keyWidth: Int {
    let names = panels.flatMap { $0.series.map(\.name) + $0.goals.map(\.name) }
    return min(50, (names.map(\.count).max() ?? 0) + 9)
  }

  /// The names of the series in the drawn panels, each name once, in the order of their colours.
  private var names: [String] {
    var names: [String] = []
    for series in panels.flatMap(\.series) where !names.contains(series.name) {
      names.append(series.name)
    }
    return names
  }

  /// The arguments of `set terminal`. With `noenhanced`, gnuplot does not interpret markup in text.
  private var terminal: String {
    let height = chart.size.height * max(1, panels.count) / max(1, chart.panels.count)
    let size = "size \(chart.size.width),\(height) noenhanced background 'white'"
    return switch format {
    case .svg: "svg \(size) font 'sans-serif,13'"
    case .png: "pngcairo \(size) font 'sans,11'"
    }
  }

  private func commands(_ panel: ChartPanel, at index: Int) -> [String] {
    var lines: [String] = []
    for (number, series) in panel.series.enumerated() {
      lines.append("$data\(index)_\(number) << END")
      lines += zip(series.x, series.y).map { "\(Self.plain($0)) \(Self.plain($1))" }
      lines.append("END")
    }
    lines += panel.isPolar ? Self.polarAxes(of: panel) : Self.axes(of: panel)
    let names = self.names
    let plots = panel.series.enumerated().map { number, series in
      let source = series.hasPoints ? "$data\(index)_\(number) using 1:2" : "NaN"
      return "\(source) with \(Self.look(series, names.firstIndex(of: series.name) ?? 0)) "
        + "title \(Self.quoted(series.name))"
    }
    let goals = panel.goals.map { goal in
      "\(Self.plain(goal.y)) with lines linewidth 1.5 dashtype 3 linecolor rgb '#000000' "
        + "title \(Self.quoted(goal.name))"
    }
    let all = plots + goals
    if !panel.hasPoints { lines += Self.noData }
    lines.append("plot \(all.isEmpty ? "NaN notitle" : all.joined(separator: ", "))")
    if panel.isPolar { lines += Self.afterPolarAxes }
    return lines
  }

  /// Returns the style of a line. The colour and the marks follow from `place`, the index of the
  /// line's name in `names`.
  private static func look(_ series: ChartSeries, _ place: Int) -> String {
    let colour = colours[place % colours.count]
    let point = points[place % points.count]
    let interval = max(1, series.x.count / marks)
    return "linespoints linewidth 1.5 \(series.isDashed ? "dashtype 2 " : "")"
      + "linecolor rgb '\(colour)' pointtype \(point) pointsize 0.6 pointinterval \(interval)"
  }

  /// The settings for a panel without points: no numbers at the axes, and the text "no data". No
  /// label of `polarAxes` has the tag 99.
  private static let noData = [
    "unset xtics", "unset ytics", "set label 99 'no data' at graph 0.5, 0.5 center",
  ]

  private static func axes(of panel: ChartPanel) -> [String] {
    let x =
      panel.xNames.isEmpty
      ? ChartRange.fitted(panel.series.flatMap { $0.drawn.map(\.x) }, panel.xScale)
      : 0.5...(Double(panel.xNames.count) + 0.5)
    let goals = panel.goals.map(\.y)
    let y =
      panel.yRange
      ?? ChartRange.fitted(panel.series.flatMap { $0.drawn.map(\.y) } + goals, panel.yScale)
    return [
      "set xlabel \(quoted(panel.xLabel))", "set ylabel \(quoted(panel.yLabel))",
      scale("x", panel.xScale), scale("y", panel.yScale), "set xrange \(text(of: x))",
      "set yrange \(text(of: y))", "set xtics \(ticks(x, panel.xScale, panel.xNames))",
      "set ytics \(ticks(y, panel.yScale))", "unset label",
    ]
  }

  /// Returns the tick labels of an axis, as the argument of `set xtics` or `set ytics`.
  private static func ticks(
    _ range: ClosedRange<Double>?, _ scale: ChartScale, _ names: [String] = []
  ) -> String {
    if !names.isEmpty {
      return "(\(names.enumerated().map { "\(quoted($1)) \($0 + 1)" }.joined(separator: ", ")))"
    }
    // On a logarithmic axis with base 10, gnuplot itself labels only powers of ten.
    guard scale == .logarithmic(base: 10), let range, range.lowerBound > 0 else {
      return "autofreq"
    }
    let numbers = ChartRange.decimalSteps(in: range)
    return numbers.count < 2
      ? "autofreq" : "(\(numbers.map { "\($0)" }.joined(separator: ", ")))"
  }

  /// Returns the settings for polar axes: rays every 30 degrees, labelled "front", "back" or with
  /// the angle, and circles at the largest radius and at half that radius.
  private static func polarAxes(of panel: ChartPanel) -> [String] {
    let radius = max(panel.series.flatMap { $0.drawn.map(\.y) }.max() ?? 1, .leastNormalMagnitude)
    let labels = (0..<12).map { ray in
      let angle = 30 * (ray > 6 ? ray - 12 : ray)
      let (x, y) = (-1.14 * radius * sin(Double(angle) * .pi / 180), cos(Double(angle) * .pi / 180))
      let name = angle == 0 ? "front" : angle == 180 ? "back" : "\(angle)"
      return "set label '\(name)' at \(x), \(1.14 * radius * y) center"
    }
    return [
      "unset xlabel", "unset ylabel", "unset logscale", "set polar", "set angles degrees",
      "set theta top counterclockwise", "set rrange [0:\(radius)]",
      "set xrange [\(-1.25 * radius):\(1.25 * radius)]",
      "set yrange [\(-1.25 * radius):\(1.25 * radius)]", "set size ratio 1", "unset border",
      "unset xtics", "unset ytics", "unset ttics", "unset raxis",
      "set rtics \(radius / 2) scale 0 format ''",
      "set grid polar 30 linetype 1 linewidth 0.7 linecolor rgb '#d0d0d0'", "unset label",
    ] + labels
  }

  /// The settings that restore Cartesian axes after a polar panel.
  private static let afterPolarAxes = [
    "unset polar", "set angles radians", "set size noratio", "set border", "set xtics", "set ytics",
    "unset rtics", "unset label",
    "set grid linetype 1 linewidth 0.7 linecolor rgb '#d0d0d0'",
  ]

  private static func scale(_ axis: String, _ scale: ChartScale) -> String {
    switch scale {
    case .linear: "unset logscale \(axis)"
    case .logarithmic(let base): "set logscale \(axis) \(base)"
    }
  }

  private static func text(of range: ClosedRange<Double>?) -> String {
    range.map { "[\($0.lowerBound):\($0.upperBound)]" } ?? "[0:1]"
  }

  private static func plain(_ value: Double) -> String {
    value.isFinite ? "\(value)" : "NaN"
  }

  /// Returns the text in single quotes for gnuplot. Newlines become spaces, because they would end
  /// the command.
  private static func quoted(_ text: String) -> String {
    let plain = text.map { character in
      character.isNewline ? " " : character == "'" ? "''" : String(character)
    }
    return "'\(plain.joined())'"
  }

  /// Colours that colour-blind people can distinguish [Okabe and Ito, Color Universal Design,
  /// 2008], and darker ones for more lines.
  private static let colours = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5e3c99", "#7f5539",
    "#666666", "#8c1c13", "#606c38", "#00324f",
  ]

  /// gnuplot's numbers for the marks: filled and open circles, squares, triangles and others.
  private static let points = [7, 5, 9, 11, 13, 6, 4, 8, 10, 12, 1, 2]
}
