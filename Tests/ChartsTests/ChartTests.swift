// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Charts

@Suite struct ChartTests {
  private let chart = Chart(
    title: "What happened",
    panels: [
      ChartPanel(
        xLabel: "time (s)", yLabel: "degrees", yRange: -180...180,
        series: [
          ChartSeries(name: "yaw_of_head", x: [0, 1, 2], y: [0, 90, -90]),
          ChartSeries(name: "roll 'quoted'", x: [0, 2], y: [10, .nan]),
        ]),
      ChartPanel(
        xLabel: "time (s)", yLabel: "dBFS",
        series: [ChartSeries(name: "left ear", x: [0, 1, 2], y: [-.infinity, -20, -23])]),
    ])

  @Test func svgContainsTitleLabelsAndSeriesNames() throws {
    let folder = TemporaryFolder()
    let path = folder.file("demo.svg")
    try chart.write(to: path)
    let svg = try ProgramRun.of("cat", [path]).output
    #expect(svg.hasPrefix("<?xml") && svg.contains("<svg") && svg.contains("</svg>"))
    for name in ["What happened", "yaw_of_head", "left ear", "time (s)", "degrees", "dBFS"] {
      #expect(svg.contains(name), "\(name)")
    }
    #expect(svg.contains("roll 'quoted'") || svg.contains("roll &#39;quoted&#39;"))
  }

  /// A line twice as steep must be drawn twice as steep, which shows that the chart
  /// contains the data.
  @Test func drawnSlopeFollowsTheData() throws {
    let slopes = try [1.0, 2.0].map { slope in
      let ramp = ChartSeries(name: "ramp", x: [0, 10], y: [0, slope])
      let panel = ChartPanel(xLabel: "x", yLabel: "y", yRange: 0...4, series: [ramp])
      let script = ChartScript(chart: Chart(title: "t", panels: [panel]), format: .svg).text
      let svg = String(decoding: try Gnuplot.draw(script).bytes, as: UTF8.self)
      let line = try #require(Self.line(colour: "0, 114, 178)", in: svg))
      return (line.start.y - line.end.y) / (line.end.x - line.start.x)
    }
    #expect(abs(slopes[1] / slopes[0] - 2) < 0.01)
  }

  @Test("A polar plot shows 0 degrees at the top, 90 degrees at the left, and then straight axes")
  func polar() throws {
    let ends = try [0.0, 90].map { angle in
      let ray = ChartSeries(name: "ray", x: [angle, angle], y: [0, 1])
      let diagonal = ChartSeries(name: "diagonal", x: [0, 1], y: [0, 1])
      let straight = ChartPanel(xLabel: "x", yLabel: "y", series: [diagonal])
      let chart = Chart(title: "t", panels: [.polar(series: [ray]), straight])
      let script = ChartScript(chart: chart, format: .svg).text
      let svg = String(decoding: try Gnuplot.draw(script).bytes, as: UTF8.self)
      let line = try #require(Self.line(colour: "0, 114, 178)", in: svg))
      return (x: line.end.x - line.start.x, y: line.end.y - line.start.y)
    }
    // In SVG, y grows downwards.
    #expect(abs(ends[0].x) < 1 && ends[0].y < -50)
    #expect(ends[1].x < -50 && abs(ends[1].y) < 1)
  }

  /// On logarithmic axes equal ratios have equal distances, so a power is a straight line.
  @Test func exponentIsTheDrawnSlopeOnLogarithmicAxes() throws {
    let x = [1.0, 10, 100]
    let slopes = try [1.0, 2.0].map { power in
      let y = x.map { power == 2 ? $0 * $0 : $0 }
      let panel = ChartPanel(
        xLabel: "x", yLabel: "y", yRange: 1...10_000, xScale: .logarithmic(base: 10),
        yScale: .logarithmic(base: 10), series: [ChartSeries(name: "power", x: x, y: y)])
      let script = ChartScript(chart: Chart(title: "t", panels: [panel]), format: .svg).text
      let svg = String(decoding: try Gnuplot.draw(script).bytes, as: UTF8.self)
      let line = try #require(Self.line(colour: "0, 114, 178)", in: svg))
      return (line.start.y - line.end.y) / (line.end.x - line.start.x)
    }
    #expect(abs(slopes[1] / slopes[0] - 2) < 0.01)
  }

  @Test func pngExtensionSelectsPNG() throws {
    let folder = TemporaryFolder()
    let path = folder.file("demo.png")
    try chart.write(to: path)
    let head = try ProgramRun.of("head", ["-c", "4", path])
    #expect(head.output.hasSuffix("PNG"))
  }

  @Test func panelsWithoutPointsAreLeftOut() throws {
    let folder = TemporaryFolder()
    let silence = ChartSeries(name: "silent", x: [0, 1], y: [-.infinity, -.infinity])
    let dot = ChartSeries(name: "dot", x: [1], y: [1])
    let panels = [
      ChartPanel(xLabel: "x", yLabel: "y", series: [silence]),
      ChartPanel(xLabel: "x", yLabel: "y", series: []),
      ChartPanel(xLabel: "x", yLabel: "y", series: [silence, dot]),
    ]
    func svg(_ panels: [ChartPanel]) throws -> String {
      try Chart(title: "t", panels: panels, size: ChartSize(width: 900, height: 900))
        .write(to: folder.file("a.svg"))
      return try ProgramRun.of("cat", [folder.file("a.svg")]).output
    }
    let all = try svg(panels)
    #expect(all.contains("silent") && all.contains("dot"))
    #expect(all.contains(#"height="300""#), "two of three panels are left out")
    // A chart without any data still has its axes and names.
    #expect(try svg(Array(panels.prefix(1))).contains("silent"))
  }

  @Test func aSeriesHasTheSameColourInAllPanelsAndNoOtherHasIt() throws {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"]
    let series = names.map { ChartSeries(name: $0, x: [0, 1], y: [0, 1], isDashed: $0 > "d") }
    let panels = [series, Array(series.reversed()), [series[5]]].map {
      ChartPanel(xLabel: "x", yLabel: "y", series: $0)
    }
    let script = ChartScript(chart: Chart(title: "t", panels: panels), format: .svg).text
    var colours: [String: Set<String>] = [:]
    for plot in script.split(separator: "\n").filter({ $0.hasPrefix("plot ") }) {
      for part in plot.split(separator: ",") where part.contains("linecolor rgb") {
        let words = part.split(separator: "'").map(String.init)
        colours[words[3], default: []].insert(words[1])
        #expect(part.contains("linespoints") && part.contains("pointtype"))
      }
    }
    #expect(colours.keys.sorted() == names)
    #expect(colours.values.allSatisfy { $0.count == 1 })
    #expect(Set(colours.values).count == names.count)
  }

  @Test func goalsAreLinesInsideTheRange() throws {
    let panel = ChartPanel(
      xLabel: "x", yLabel: "y", series: [ChartSeries(name: "s", x: [0, 1], y: [0, 1])],
      goals: [ChartGoal(name: "goal: 5", y: 5)])
    let script = ChartScript(chart: Chart(title: "t", panels: [panel]), format: .svg).text
    #expect(script.contains("5.0 with lines") && script.contains("title 'goal: 5'"))
    let svg = String(decoding: try Gnuplot.draw(script).bytes, as: UTF8.self)
    #expect(svg.contains("goal: 5"))
    #expect(script.contains("set yrange [-0.2:5.2]"))
  }

  /// Returns whether a text of the picture is `text`; gnuplot puts spaces before numbers.
  private static func shows(_ svg: String, _ text: String) -> Bool {
    svg.filter { $0 != " " }.contains(">\(text)<")
  }

  @Test func logarithmicAxesHaveSeveralNumbers() throws {
    let series = [ChartSeries(name: "s", x: [300, 8000], y: [1, 1_000_000])]
    let panel = ChartPanel(
      xLabel: "x", yLabel: "y", xScale: .logarithmic(base: 10), yScale: .logarithmic(base: 10),
      series: series)
    let script = ChartScript(chart: Chart(title: "t", panels: [panel]), format: .svg).text
    #expect(script.contains("set xtics (500.0, 1000.0, 2000.0, 5000.0)"))
    let svg = String(decoding: try Gnuplot.draw(script).bytes, as: UTF8.self)
    for number in ["500", "1000", "2000", "5000"] { #expect(Self.shows(svg, number), "\(number)") }
    #expect(ChartRange.decimalSteps(in: 0.5...1e6) == [1, 10, 100, 1000, 10_000, 100_000, 1e6])
  }

  @Test func categoriesHaveNamesAndTheNextPanelHasNumbers() throws {
    let series = [ChartSeries(name: "s", x: [1, 2], y: [3, 4])]
    let panels = [
      ChartPanel(xLabel: "mix", yLabel: "y", xNames: ["dense", "sparse"], series: series),
      ChartPanel(xLabel: "x", yLabel: "y", series: series),
    ]
    let script = ChartScript(chart: Chart(title: "t", panels: panels), format: .svg).text
    let svg = String(decoding: try Gnuplot.draw(script).bytes, as: UTF8.self)
    #expect(svg.contains(">dense<") && svg.contains(">sparse<"))
    // Only the second panel has numbers between the two.
    #expect(svg.filter { $0 != " " }.ranges(of: ">1.2<").count == 1)
  }

  @Test func aChartWithoutDataSaysSo() throws {
    let empty = ChartPanel(xLabel: "x", yLabel: "y", series: [ChartSeries(name: "s", x: [], y: [])])
    let script = ChartScript(chart: Chart(title: "t", panels: [empty]), format: .svg).text
    let svg = String(decoding: try Gnuplot.draw(script).bytes, as: UTF8.self)
    #expect(svg.contains("no data"))
    #expect(!Self.shows(svg, "0.2"))
  }

  @Test func aPolarChartWithoutDataKeepsTheLabelsOfItsRays() throws {
    let empty = ChartPanel.polar(series: [ChartSeries(name: "s", x: [], y: [])])
    let script = ChartScript(chart: Chart(title: "t", panels: [empty]), format: .svg).text
    let svg = String(decoding: try Gnuplot.draw(script).bytes, as: UTF8.self)
    for label in ["nodata", "front", "back", "90"] {
      #expect(Self.shows(svg, label), "\(label)")
    }
  }

  @Test func rangesFitTheData() throws {
    let linear = try #require(ChartRange.fitted([3, .nan, -1, .infinity], .linear))
    #expect(linear.contains(3) && linear.contains(-1))
    #expect(linear.lowerBound > -1.3 && linear.upperBound < 3.3)
    let ratio = try #require(ChartRange.fitted([1, 1000, 0, -5], .logarithmic(base: 10)))
    #expect(ratio.contains(1) && ratio.contains(1000))
    #expect(ratio.lowerBound > 0.5 && ratio.upperBound < 2000)
    let constant = try #require(ChartRange.fitted([7, 7], .linear))
    #expect(constant.lowerBound < 7 && constant.upperBound > 7)
    #expect(ChartRange.fitted([.nan], .linear) == nil)
  }

  @Test func manyPointsDoNotBlockThePipe() throws {
    let x = (0..<50_000).map { Double($0) }
    let panel = ChartPanel(
      xLabel: "x", yLabel: "y", series: [ChartSeries(name: "long", x: x, y: x.map { $0 / 3 })])
    let script = ChartScript(chart: Chart(title: "t", panels: [panel]), format: .svg).text
    #expect(try Gnuplot.draw(script).bytes.count > 100_000)
  }

  @Test func unwritablePathIsReported() {
    let error = #expect(throws: ChartError.self) { try chart.write(to: "/nonexistent/a.svg") }
    #expect(
      error == .cannotWrite(path: "/nonexistent/a.svg", reason: "No such file or directory"))
  }

  @Test func invalidScriptGivesAOneLineError() {
    let error = #expect(throws: ChartError.self) { try Gnuplot.draw("plot nonsense(") }
    guard case .gnuplotFailed(let reason) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(!reason.contains("\n"))
  }

  @Test func hangingGnuplotIsStopped() {
    let error = #expect(throws: ChartError.self) { try Gnuplot.draw("pause 60\n", seconds: 1) }
    #expect(error == .gnuplotTooSlow(seconds: 1))
  }

  /// The test runs in a separate process because PATH applies to the complete process.
  @Test func missingGnuplotErrorNamesThePackage() async {
    await #expect(processExitsWith: .exitCode(3)) {
      setenv("PATH", "/nonexistent", 1)
      do {
        _ = try Gnuplot.draw("")
      } catch let error as ChartError {
        exit(error.description.contains("install the package gnuplot-nox") ? 3 : 4)
      }
    }
  }

  private typealias Point = (x: Double, y: Double)

  /// Returns the first and last point of a colour's last stroke; earlier strokes belong to the key.
  private static func line(colour: String, in svg: String) -> (start: Point, end: Point)? {
    let path = svg.split(separator: "<path").last { $0.contains(colour) }
    guard let stroke = path?.split(separator: "M").last else { return nil }
    let numbers = stroke.prefix { $0 != "'" }.split { " ,L\n".contains($0) }.compactMap {
      Double($0)
    }
    guard numbers.count >= 4 else { return nil }
    return ((numbers[0], numbers[1]), (numbers[numbers.count - 2], numbers[numbers.count - 1]))
  }
}
