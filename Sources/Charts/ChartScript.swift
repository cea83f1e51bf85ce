// SPDX-License-Identifier: Apache-2.0

enum ChartFormat {
  case svg
  case png
}

/// A gnuplot script with the chart's data.
struct ChartScript {
  let chart: Chart
  let format: ChartFormat

  var text: String {
    var lines = [
      "set encoding utf8",
      "set terminal \(terminal)",
      "set multiplot layout \(max(1, chart.panels.count)),1 title \(Self.quoted(chart.title))",
      "set grid linetype 1 linewidth 0.7 linecolor rgb '#d0d0d0'",
      "set lmargin 11",
      "set rmargin 18",
      "set key outside right top",
    ]
    for (index, panel) in chart.panels.enumerated() { lines += Self.commands(panel, at: index) }
    return lines.joined(separator: "\n") + "\nunset multiplot\n"
  }

  /// The arguments of `set terminal`. With `noenhanced`, text is literal.
  private var terminal: String {
    let size = "size \(chart.size.width),\(chart.size.height) noenhanced background 'white'"
    return switch format {
    case .svg: "svg \(size) font 'sans-serif,13'"
    case .png: "pngcairo \(size) font 'sans,11'"
    }
  }

  private static func commands(_ panel: ChartPanel, at index: Int) -> [String] {
    var lines: [String] = []
    for (number, series) in panel.series.enumerated() {
      lines.append("$data\(index)_\(number) << END")
      lines += zip(series.x, series.y).map { "\(plain($0)) \(plain($1))" }
      lines.append("END")
    }
    lines += panel.isPolar ? polarAxes : axes(of: panel)
    let plots = panel.series.enumerated().map { number, series in
      let source = series.hasPoints ? "$data\(index)_\(number) using 1:2" : "NaN"
      let place = panel.series[..<number].count { $0.isDashed == series.isDashed }
      let colour = colours[place % colours.count]
      return "\(source) with lines linewidth 1.5 \(series.isDashed ? "dashtype 2 " : "")"
        + "linecolor rgb '\(colour)' title \(quoted(series.name))"
    }
    lines.append("plot \(plots.isEmpty ? "NaN notitle" : plots.joined(separator: ", "))")
    if panel.isPolar { lines += afterPolarAxes }
    return lines
  }

  private static func axes(of panel: ChartPanel) -> [String] {
    let hasPoints = panel.series.contains(where: \.hasPoints)
    return [
      "set xlabel \(quoted(panel.xLabel))", "set ylabel \(quoted(panel.yLabel))",
      scale("x", panel.xScale), scale("y", panel.yScale),
      hasPoints ? "set xrange [*:*]" : "set xrange [0:1]",
      "set yrange \(range(panel.yRange, hasPoints: hasPoints))",
    ]
  }

  /// The settings for polar axes, with a ray every 30 degrees.
  private static let polarAxes = [
    "unset xlabel", "unset ylabel", "unset logscale", "set polar", "set angles degrees",
    "set theta top counterclockwise", "set rrange [0:*]", "set xrange [*:*]", "set yrange [*:*]",
    "set size ratio 1", "unset border", "unset xtics", "unset ytics", "unset rtics",
    "set ttics 0,30", "set grid polar 30 linetype 1 linewidth 0.7 linecolor rgb '#d0d0d0'",
  ]

  /// Restores the settings for panels with straight axes.
  private static let afterPolarAxes = [
    "unset polar", "set angles radians", "set size noratio", "set border", "set xtics", "set ytics",
    "unset ttics", "set grid linetype 1 linewidth 0.7 linecolor rgb '#d0d0d0'",
  ]

  private static func scale(_ axis: String, _ scale: ChartScale) -> String {
    switch scale {
    case .linear: "unset logscale \(axis)"
    case .logarithmic(let base): "set logscale \(axis) \(base)"
    }
  }

  private static func range(_ range: ClosedRange<Double>?, hasPoints: Bool) -> String {
    if let range { return "[\(range.lowerBound):\(range.upperBound)]" }
    return hasPoints ? "[*:*]" : "[0:1]"
  }

  private static func plain(_ value: Double) -> String {
    value.isFinite ? "\(value)" : "NaN"
  }

  /// Returns text in gnuplot's single quotes. Newlines become spaces, because they would end the
  /// command.
  private static func quoted(_ text: String) -> String {
    let plain = text.map { character in
      character.isNewline ? " " : character == "'" ? "''" : String(character)
    }
    return "'\(plain.joined())'"
  }

  /// Colours that colour-blind people can distinguish [Okabe and Ito, Color Universal Design,
  /// 2008].
  private static let colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]
}
