// SPDX-License-Identifier: Apache-2.0

private import CRealtime
private import Glibc
internal import SoundServer

/// Makes the decisions and requests of a `SystemWideOutput`, step by step on its thread.
struct SystemWideLoop {
  private let parts: SystemWideParts
  private let settings: SystemWideOutput.Settings
  private let steward: any StreamSteward
  private let tell: @Sendable (SystemWideEvent) -> Void

  private var contents = ServerContents()
  private var follower: OutputFollower
  private var routing: StreamRouting
  private var sinks: [SinkLayout: any VirtualSink] = [:]
  private var output: Sink?
  private var hasReportedOutput = false
  private var failures: [SinkLayout: SoundServerError] = [:]
  private var nextStart: Int64 = 0
  private var defaultLimit = RequestLimit()
  private var remembered: String?
  /// For each sink, the latest time at which a stream played to it [ns].
  private var lastUse: [SinkLayout: Int64] = [:]
  private var inUse: [SinkLayout: Bool] = [:]
  /// The streams of the latest report, by ID. `layout` is nil for a stream that is not on a virtual
  /// sink.
  private var places: [UInt64: (layout: SinkLayout?, stream: ProgramStream)] = [:]

  private static let restartTime: Int64 = 2_000_000_000
  /// The time for which a sink counts as in use after its last stream has stopped playing [ns].
  private static let idleTime: Int64 = 5_000_000_000

  init(
    _ parts: SystemWideParts, _ settings: SystemWideOutput.Settings, _ steward: any StreamSteward,
    _ tell: @escaping @Sendable (SystemWideEvent) -> Void
  ) {
    (self.parts, self.settings, self.steward, self.tell) = (parts, settings, steward, tell)
    follower = OutputFollower(
      named: settings.sinkName, previousDefault: settings.previousDefault)
    routing = StreamRouting(
      layouts: settings.layouts, roles: settings.roles, ownsDefault: settings.takesDefault)
  }

  /// Whether a change is pending, so the next step is due earlier than usual.
  private(set) var isWaiting = false

  var status: SystemWideStatus {
    var status = SystemWideStatus()
    status.output = output
    status.isDefault = contents.defaultSink.map(SinkLayout.isOurs) ?? false
    status.sinks = sinks.sorted { $0.key < $1.key }.map { layout, sink in
      .init(layout: layout, output: sink.status, isInUse: inUse[layout] ?? false)
    }
    status.streams = contents.streams
    return status
  }

  /// Evaluates the newest report, if there is one, and makes the requests that are now necessary.
  mutating func step(_ report: ServerContents?, now: Int64) {
    if let report { contents = report }
    isWaiting = false
    follower.follow(contents)
    followOutput()
    startSinks(now)
    takeDefault(now)
    let moves = routing.moves(for: contents, realSink: output?.name, now: now)
    for move in moves { steward.move(stream: move.stream, to: move.sink) }
    if !moves.isEmpty { isWaiting = true }
    reportStreams()
    followUse(now)
    for (layout, sink) in sinks {
      for event in sink.takeEvents() { tell(.stream(layout, event)) }
    }
  }

  private mutating func followOutput() {
    let sink = contents.sinks.first { $0.name == follower.sink }
    let former = output
    if let sink {
      output = sink
      if sink.name != former?.name {
        for virtual in sinks.values { virtual.play(to: sink.name) }
      }
      if !sink.leadsWhere(former) { parts.stage.follow(sink) }
      if sink.name != former?.name || !hasReportedOutput { tell(.output(sink)) }
      hasReportedOutput = true
    } else if former != nil || !hasReportedOutput, !contents.sinks.isEmpty {
      output = nil
      hasReportedOutput = true
      tell(.noOutput)
    }
  }

  private mutating func startSinks(_ now: Int64) {
    guard let output, !contents.sinks.isEmpty else { return }
    let missing = settings.layouts.filter { sinks[$0] == nil }
    guard !missing.isEmpty else { return }
    isWaiting = true
    guard now >= nextStart else { return }
    for layout in missing {
      do throws(SoundServerError) {
        let sink = try parts.makeSink(layout, output)
        do throws(SoundServerError) { try sink.start() } catch {
          sink.stop()
          throw error
        }
        sinks[layout] = sink
        failures[layout] = nil
        tell(.started(layout))
      } catch {
        if failures[layout] != error { tell(.failed(layout, error)) }
        failures[layout] = error
        nextStart = now + Self.restartTime
      }
    }
  }

  private mutating func takeDefault(_ now: Int64) {
    guard settings.takesDefault, let widest = settings.layouts.max(), sinks[widest] != nil else {
      return
    }
    if follower.realDefault != remembered {
      remembered = follower.realDefault
      settings.remember(remembered)
      parts.keepDefault(remembered)
    }
    let isOffered = contents.sinks.contains { $0.name == widest.sinkName }
    guard isOffered, contents.defaultSink != widest.sinkName else { return }
    isWaiting = true
    let wasExhausted = defaultLimit.isExhausted
    if defaultLimit.allows(at: now) {
      steward.setDefault(sinkName: widest.sinkName)
    } else if defaultLimit.isExhausted, !wasExhausted {
      tell(.defaultContested)
    }
  }

  private mutating func reportStreams() {
    var gone = places
    for stream in contents.streams {
      gone[stream.id] = nil
      let layout = stream.sink.flatMap(SinkLayout.init(sinkName:))
      let former = places[stream.id]
      places[stream.id] = (layout, stream)
      // Do not report a stream that has never been on a virtual sink.
      if former?.layout != layout { tell(.routed(stream, layout)) }
    }
    for (id, place) in gone {
      places[id] = nil
      if place.layout != nil { tell(.ended(place.stream)) }
    }
  }

  private mutating func followUse(_ now: Int64) {
    for (layout, sink) in sinks {
      let plays = contents.streams.contains { $0.sink == layout.sinkName && !$0.isCorked }
      if plays { lastUse[layout] = now }
      let isUsed = lastUse[layout].map { now - $0 < Self.idleTime } ?? false
      guard isUsed != inUse[layout] else { continue }
      inUse[layout] = isUsed
      sink.setInUse(isUsed)
    }
  }

  /// Undoes what was changed on the server.
  ///
  /// - Parameter newest: returns the report that has arrived since the last call, if any.
  mutating func leave(newest: () -> ServerContents?) {
    if let report = newest() { contents = report }
    if !contents.sinks.isEmpty, !sinks.isEmpty {
      let real = follower.sinkToRestore(in: contents)
      let isOurs = contents.defaultSink.map(SinkLayout.isOurs) ?? true
      if let real, isOurs { steward.setDefault(sinkName: real) }
      let target = contents.sinks.contains { $0.name == output?.name } ? output?.name : real
      if let target { moveBack(to: target, newest: newest) }
      steward.forget(sinksWithPrefix: SinkLayout.namePrefix)
      // Forget the stored default sink only here: without a server, the next start needs it.
      settings.remember(nil)
    }
    for sink in sinks.values { sink.stop() }
    sinks = [:]
  }

  /// Moves the streams on virtual sinks to a real sink, and waits at most about 600 ms for the
  /// result.
  private mutating func moveBack(to sink: String, newest: () -> ServerContents?) {
    var requested: Set<UInt64> = []
    let end = monotonic_nanoseconds() + 600_000_000
    while true {
      let left = contents.streams.filter { $0.sink.map(SinkLayout.isOurs) ?? false }
      for stream in left where requested.insert(stream.id).inserted {
        steward.move(stream: stream.id, to: sink)
      }
      let isDone = left.isEmpty && contents.defaultSink.map(SinkLayout.isOurs) != true
      guard !isDone, !contents.sinks.isEmpty, monotonic_nanoseconds() < end else { return }
      usleep(5000)
      if let report = newest() { contents = report }
    }
  }
}
