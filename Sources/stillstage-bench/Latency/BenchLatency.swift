// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CommandOptions
import CommandSupport
import Glibc
import Laboratory

/// The output of `bench latency --json` without `--manual`.
struct LatencyReport: Codable {
  var machine: BenchMachine
  /// Tracker reports per second.
  var trackerRate: Double
  var chains: [ChainFigures]
  var renderer: [RendererFigures]
  /// The servers that were skipped and the settings that failed, with the reasons.
  var notes: [String]
}

/// Runs `stillstage bench latency`. Without `--manual`, a virtual tracker is needed. If none runs
/// yet, runs this command again with one, and exits with the exit code of that run.
func benchLatencyCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let picture = try chartPath(command)
  let flags = fcntl(STDOUT_FILENO, F_GETFL)
  guard flags >= 0, flags & O_ACCMODE != O_RDONLY else {
    throw CommandFailure(
      "cannot write to standard output: it is closed or open only for reading; "
        + "redirect it to a writable file")
  }
  if command[Options.manual] { return try manualLatencyCommand(command, picture: picture) }
  if command.isGiven(Options.tracker) {
    throw .usage("--tracker needs --manual; without --manual, a virtual tracker is used")
  }
  let plan = try LatencyPlan(command)
  guard let socket = getenv(VirtualHead.variable).map({ String(cString: $0) }) else {
    try VirtualTrackerProgram(command).become()
  }
  let report = try measure(plan, command, head: VirtualHead(socketPath: socket))
  if let picture { try report.chart.draw(to: picture) }
  if command[Options.json] {
    try printJSON(report)
  } else {
    try printOutput(report.text)
  }
}

struct LatencyPlan {
  var settings: [LatencySetting]
  var steps: Int
  var notes: [String] = []

  init(_ command: ParsedCommand) throws(CommandFailure) {
    steps = command[Options.benchSteps] ?? (command[Options.compare] ? 40 : 200)
    if command[Options.compare] {
      settings = []
      try takeAll(command[Options.benchDepths].map(Double.init))
      return
    }
    let source = command[Options.benchSource]
    if source != nil, command.isGiven(Options.benchServer), command[Options.benchServer] != .current
    {
      throw .usage("--source names an input of the current server; omit --server")
    }
    let server = source == nil ? command[Options.benchServer] : .current
    let setting = LatencySetting(
      server: .init(server),
      output: try LatencySetting.Output(command, server: .init(server)),
      queueMilliseconds: command[Options.benchQueue])
    if let package = LatencyServer.missingPackage(setting.server) {
      throw CommandFailure(
        "cannot start a private \(server.rawValue) server: a program is missing; "
          + "run 'apt install \(package)'")
    }
    settings = [setting]
  }

  private mutating func takeAll(_ depths: [Double]) throws(CommandFailure) {
    settings = []
    for server in [LatencySetting.Server.pulseaudio, .pipewire] {
      if let package = LatencyServer.missingPackage(server) {
        notes.append("skipped \(server.rawValue): run 'apt install \(package)' to measure it")
        continue
      }
      if server == .pipewire { settings.append(.init(server: server, output: .native)) }
      for depth in depths {
        for output in [LatencySetting.Output.appended, .rewritten] {
          settings.append(.init(server: server, output: output, queueMilliseconds: depth))
        }
      }
    }
    if settings.isEmpty { throw CommandFailure(notes.joined(separator: "; ")) }
  }
}

private func measure(
  _ plan: LatencyPlan, _ command: ParsedCommand, head: VirtualHead
) throws(CommandFailure) -> LatencyReport {
  defer { head.end() }
  let progress = BenchProgress(total: plan.settings.count * plan.steps)
  defer { progress.end() }
  var references = References()
  var chains: [ChainFigures] = []
  var notes = plan.notes
  for (index, setting) in plan.settings.enumerated() {
    if Signals.received != nil { throw .interrupted }
    progress.show(index * plan.steps)
    do throws(CommandFailure) {
      chains.append(
        try chain(setting, plan, command, head, &references) {
          progress.show(index * plan.steps + $0)
        })
    } catch {
      // If several settings are measured, note the failure and continue, except after a signal.
      guard plan.settings.count > 1, Signals.received == nil else { throw error }
      notes.append("\(setting.title): \(error.message ?? "failed")")
    }
  }
  let rate = references.rate ?? 48_000
  let renderer = try RendererLatency(
    ahead: references.ahead(rate), left: references.left(rate), sampleRate: rate)
  var rows: [RendererFigures] = []
  for block in [64, 128, 256, 512, 1024] { rows.append(try renderer.figures(block: block)) }
  return LatencyReport(
    machine: .current, trackerRate: command[Options.benchTrackerRate], chains: chains,
    renderer: rows, notes: notes)
}

private func chain(
  _ setting: LatencySetting, _ plan: LatencyPlan, _ command: ParsedCommand, _ head: VirtualHead,
  _ references: inout References, tell: (Int) -> Void
) throws(CommandFailure) -> ChainFigures {
  let server = try LatencyServer(setting.server, sink: command[Options.sink])
  defer { server.stop() }
  let source = command[Options.benchSource]
  let injected = command[Options.injectDelay]
  let run = try LatencyRun(setting, on: server, source: source, head: head)
  let result = try run.measure(steps: plan.steps, injected: injected, tell: tell)
  let rate = result.sampleRate
  let check = try CaptureCheck(
    setting, on: server, source: source, sampleRate: rate
  ) { seconds in
    for _ in 0..<Int(seconds * 100) where Signals.received == nil { usleep(10_000) }
    return Signals.received == nil
  }
  return ChainFigures(
    setting, result, ahead: try references.ahead(rate, setting.layout),
    left: try references.left(rate, setting.layout),
    capture: check, injected: injected)
}

/// The renderings of the noise, kept while the sample rate and the layout stay the same.
private struct References {
  private(set) var rate: Int?
  private var layout = BenchNoise.soundfield
  private var made: [Double: EarSound] = [:]

  mutating func ahead(
    _ rate: Int, _ layout: ChannelLayout = BenchNoise.soundfield
  ) throws(CommandFailure) -> EarSound { try rendered(0, rate, layout) }

  mutating func left(
    _ rate: Int, _ layout: ChannelLayout = BenchNoise.soundfield
  ) throws(CommandFailure) -> EarSound { try rendered(LatencyRun.angle, rate, layout) }

  private mutating func rendered(
    _ yaw: Double, _ rate: Int, _ layout: ChannelLayout
  ) throws(CommandFailure) -> EarSound {
    if (self.rate, self.layout) != (rate, layout) { made = [:] }
    (self.rate, self.layout) = (rate, layout)
    if let there = made[yaw] { return there }
    let sound = try BenchNoise.rendered(yaw: yaw, sampleRate: rate, layout: layout)
    made[yaw] = sound
    return sound
  }
}
