// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Capture
import Charts
import Rendering
import Synchronization

/// The chart of a recording: the level and, for a first-order soundfield, the direction of arrival.
///
/// ## Threading
/// The recorder's writing thread adds frames. The chart is made after the recording has ended.
final class RecordPicture: Sendable {
  /// The minimum length of a window, in seconds. A window is the part of the recording that becomes
  /// one point of the chart. The last window may be shorter.
  private static let windowSeconds = 0.1
  /// The lowest level in the chart, in dBFS.
  private static let floor = -100.0
  /// If the diffuseness of a window is at least this value, the chart shows no direction for it.
  private static let mostDiffuse = 0.6

  private let state = Mutex(State())

  private struct State {
    var windowFrames = 1
    var sampleRate = 1.0
    /// The number of frames that `windows` covers.
    var position = 0
    var channels = 0
    var isField = false
    var frames = 0
    var peak: Float = 0
    var energy = 0.0
    var intensity = FieldIntensity()
    var windows: [Window] = []
  }

  private struct Window {
    /// The middle of the window, in seconds.
    var time: Double
    var peak: Double
    var level: Double
    var direction: FieldDirection?
  }

  func prepare(_ format: RecorderFormat) {
    state.withLock { state in
      state.windowFrames = max(1, Int(Self.windowSeconds * Double(format.sampleRate)))
      state.channels = format.channelCount
      state.sampleRate = Double(format.sampleRate)
      state.isField =
        format.layout
        == .ambisonics(
          order: 1, convention: .ambiX, headLocked: false)
    }
  }

  func add(_ block: RecordedBlock) {
    state.withLock { state in
      for channel in 0..<state.channels {
        for frame in 0..<block.frames {
          let sample = block.planes[channel][frame]
          state.peak = max(state.peak, abs(sample))
          if channel == 0 { state.energy += Double(sample * sample) }
        }
      }
      if let intensity = block.intensity { state.intensity += intensity }
      state.frames += block.frames
      if state.frames >= state.windowFrames { Self.endWindow(&state) }
    }
  }

  /// Adds a window with the frames since the previous window.
  private static func endWindow(_ state: inout State) {
    let middle = (Double(state.position) + Double(state.frames) / 2) / state.sampleRate
    state.windows.append(
      Window(
        time: middle, peak: decibels(Double(state.peak)),
        level: decibels((state.energy / Double(state.frames)).squareRoot()),
        direction: state.intensity.direction))
    state.intensity = FieldIntensity()
    state.position += state.frames
    (state.frames, state.peak, state.energy) = (0, 0, 0)
  }

  private static func decibels(_ amplitude: Double) -> Double {
    max(floor, Rendering.decibels(Float(amplitude)))
  }

  func chart(title: String) -> Chart {
    let (windows, isField) = state.withLock { state in
      if state.frames > 0 { Self.endWindow(&state) }
      return (state.windows, state.isField)
    }
    let times = windows.map(\.time)
    let levels = ChartPanel(
      xLabel: "time (s)", yLabel: "level (dBFS)",
      series: [
        ChartSeries(name: "peak", x: times, y: windows.map(\.peak)),
        ChartSeries(name: isField ? "rms of W" : "rms", x: times, y: windows.map(\.level)),
      ])
    guard isField else { return Chart(title: title, panels: [levels]) }
    let degrees = 180 / Double.pi
    let clear = windows.map { window in
      window.direction.flatMap { $0.diffuseness < Self.mostDiffuse ? $0 : nil }
    }
    let directions = ChartPanel(
      xLabel: "time (s)", yLabel: "direction (degrees)",
      series: [
        ChartSeries(
          name: "azimuth (left +)", x: times, y: clear.map { ($0?.azimuth ?? .nan) * degrees }),
        ChartSeries(
          name: "elevation (up +)", x: times, y: clear.map { ($0?.elevation ?? .nan) * degrees }),
      ])
    return Chart(
      title: title, panels: [levels, directions, .polar(series: [rose(windows)])],
      size: ChartSize(width: 900, height: 1100))
  }

  /// Returns the energy from each 10-degree sector of azimuth, relative to the strongest sector.
  /// Windows without a clear direction are left out.
  private func rose(_ windows: [Window]) -> ChartSeries {
    var energies = [Double](repeating: 0, count: 36)
    for window in windows {
      guard let direction = window.direction, direction.diffuseness < Self.mostDiffuse else {
        continue
      }
      let sector = Int((direction.azimuth * 18 / .pi).rounded(.down))
      energies[(sector % 36 + 36) % 36] += Self.power(window.level)
    }
    let largest = max(energies.max() ?? 0, .leastNormalMagnitude)
    // Each sector is an arc whose radius is the sector's energy.
    let points = (0...36).flatMap { sector -> [(Double, Double)] in
      let radius = energies[sector % 36] / largest
      let start = Double(sector) * 10
      return sector < 36 ? [(start, radius), (start + 10, radius)] : [(start, radius)]
    }
    return ChartSeries(
      name: "energy by azimuth", x: points.map(\.0), y: points.map(\.1))
  }

  private static func power(_ decibels: Double) -> Double {
    decibels <= floor ? 0 : Double(linearGain(decibels: 2 * decibels))
  }
}
