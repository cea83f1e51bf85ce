// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import CRealtime
import CommandOptions
import FoundationEssentials
import Geometry
import Glibc
import Playback

/// One row of `bench render`: what a renderer costs.
struct RenderCost: Encodable {
  let renderer: String
  let order: Int
  let blockFrames: Int
  let taps: Int
  /// CPU milliseconds for a second of audio: the smallest of the repetitions.
  let millisecondsPerSecond: Double

  var realTimeMultiple: Double { 1000 / millisecondsPerSecond }
}

/// `stillstage bench render`: CPU time for a second of audio, head turning, and the rivals' in the
/// same run.
func benchRenderCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let hrtf = try playing { () throws(PlaybackError) in try HRTFChoice(path: nil) }
  var rows: [RenderCost] = []
  for (order, block) in [(1, 64), (1, 128), (1, 256), (1, 512), (3, 128), (5, 128), (7, 128)] {
    if Signals.received != nil { throw .interrupted }
    rows.append(try ownCost(hrtf, order: order, blockFrames: block))
    if block == 128, let peer = Peer.libspatialaudio.cost(order: order, blockFrames: block) {
      rows.append(peer)
    }
  }
  if command[Options.json] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    guard let text = try? encoder.encode(rows) else { throw CommandFailure("no JSON") }
    write(String(decoding: text, as: UTF8.self) + "\n", to: STDOUT_FILENO)
  } else {
    write(table(rows), to: STDOUT_FILENO)
  }
}

private func ownCost(
  _ hrtf: HRTFChoice, order: Int, blockFrames: Int
) throws(CommandFailure) -> RenderCost {
  let rate = 48000
  let layout = ChannelLayout.ambisonics(order: order, convention: .ambiX, headLocked: false)
  var settings = RenderSettings()
  settings.blockFrames = blockFrames
  let filters = try playing { () throws(PlaybackError) in
    try hrtf.filters(for: layout, settings: settings, sampleRate: Double(rate))
  }
  let renderer = Renderer(
    layout: layout, filters: filters, busOrder: order, blockFrames: blockFrames)
  let blocks = 4 * rate / blockFrames
  var best = Double.infinity
  for _ in 0..<5 { best = min(best, renderNoise(renderer, blocks, blockFrames)) }
  let seconds = Double(blocks * blockFrames) / Double(rate)
  return RenderCost(
    renderer: "stillstage", order: order, blockFrames: blockFrames, taps: filters.taps,
    millisecondsPerSecond: best * 1000 / seconds)
}

/// CPU seconds for so many blocks of noise, the head turning by a degree in each.
private func renderNoise(_ renderer: Renderer, _ blocks: Int, _ frames: Int) -> Double {
  let planes = (0..<(renderer.channels + 2)).map { _ in
    UnsafeMutablePointer<Float>.allocate(capacity: frames)
  }
  defer { for plane in planes { plane.deallocate() } }
  var generator = SystemRandomNumberGenerator()
  for plane in planes {
    for i in 0..<frames { plane[i] = Float.random(in: -0.1...0.1, using: &generator) }
  }
  let (left, right) = (planes[renderer.channels], planes[renderer.channels + 1])
  let start = cpuSeconds()
  for block in 0..<blocks {
    let pose = YawPitchRoll(yaw: Double(block % 360)).quaternion
    let poses = [Quaternion](
      repeating: pose, count: renderer.gridPoints(forNext: frames).count)
    renderer.process(input: planes, frames: frames, poses: poses, left: left, right: right)
  }
  return cpuSeconds() - start
}

/// CPU time of this process.
func cpuSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

private func table(_ rows: [RenderCost]) -> String {
  var text = "CPU milliseconds for a second of audio at 48 kHz, head turning; smallest of 5 runs\n"
  for row in rows {
    text +=
      "\(padded(row.renderer, 18)) order \(row.order)  block \(padded("\(row.blockFrames)", 4))"
      + "  taps \(padded("\(row.taps)", 5)) \(rounded(row.millisecondsPerSecond)) ms/s"
      + "  x\(Int(row.realTimeMultiple))\n"
  }
  for row in rows where row.renderer != "stillstage" {
    let own = rows.first {
      $0.renderer == "stillstage" && $0.order == row.order && $0.blockFrames == row.blockFrames
    }
    guard let own else { continue }
    let ratio = row.millisecondsPerSecond / own.millisecondsPerSecond
    text += "order \(row.order), block \(row.blockFrames): \(row.renderer) takes "
    text += "\(rounded(ratio)) times our CPU\n"
  }
  return text
}

private func padded(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}

private func rounded(_ value: Double) -> String {
  let hundredths = Int((value * 100).rounded())
  let fraction = hundredths % 100
  return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
}
