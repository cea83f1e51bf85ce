// SPDX-License-Identifier: Apache-2.0

import Charts
import Geometry
import HeadTracking
import Playback
import Rendering
import SoundSources

/// A chart of a render: the head pose and the level at both ears over time.
struct RenderPicture {
  /// The duration of sound that becomes one point of the chart, in seconds.
  static let windowSeconds = 0.05
  /// The lowest level in the chart, in dBFS.
  static let floorDecibels = -80.0

  private let windowFrames: Int
  private var energies = SIMD2<Double>()
  private var count = 0
  private var levels: [SIMD2<Double>] = []

  init(sampleRate: Double) {
    windowFrames = max(1, Int(Self.windowSeconds * sampleRate))
  }

  /// Returns "demo.svg" for "demo.wav"; appends .svg to a name that does not end in .wav.
  static func path(beside path: String) -> String {
    let isWAV = path.lowercased().hasSuffix(".wav")
    return (isWAV ? String(path.dropLast(4)) : path) + ".svg"
  }

  mutating func add(_ ears: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int) {
    for i in 0..<frames {
      let pair = SIMD2(Double(ears[0][i]), Double(ears[1][i]))
      energies += pair * pair
      count += 1
      if count == windowFrames { endWindow() }
    }
  }

  /// Returns a chart with the pose of `head` in degrees and the level at each ear in dB rms.
  func chart(title: String, head: HeadTrajectory) -> Chart {
    let times = levels.indices.map { (Double($0) + 0.5) * Self.windowSeconds }
    let angles = times.map { YawPitchRoll(head.pose(atSeconds: $0)) }
    let pose = ChartPanel(
      xLabel: "time (s)", yLabel: "head (degrees)",
      series: [
        ChartSeries(name: "yaw (left +)", x: times, y: angles.map(\.yaw)),
        ChartSeries(name: "pitch (up +)", x: times, y: angles.map(\.pitch)),
        ChartSeries(name: "roll (right +)", x: times, y: angles.map(\.roll)),
      ])
    let ears = ChartPanel(
      xLabel: "time (s)", yLabel: "level (dB rms)",
      series: [
        ChartSeries(name: "left ear", x: times, y: levels.map(\.x)),
        ChartSeries(name: "right ear", x: times, y: levels.map(\.y)),
      ])
    return Chart(title: title, panels: [pose, ears])
  }

  private mutating func endWindow() {
    let mean = energies / Double(count)
    levels.append(SIMD2(Self.level(mean.x), Self.level(mean.y)))
    (energies, count) = (SIMD2(), 0)
  }

  private static func level(_ meanSquare: Double) -> Double {
    max(floorDecibels, decibels(Float(meanSquare.squareRoot())))
  }
}
