// SPDX-License-Identifier: Apache-2.0

import CPipeWire
import CRealtime
internal import SoundServer
import Synchronization

/// Reads the state of the graph and the reports of the data thread.
extension PipeWireBackend {
  /// The time without a link to a sink after which the sink counts as lost [ns].
  private static let patienceForLink: Int64 = 700_000_000

  /// The time without a cycle after which the graph counts as stopped [ns]. A sink that the server
  /// reports as suspended counts as suspended only after this time.
  private static let quietOfSuspension: Int64 = 300_000_000

  /// The time after a call of `noteBeginning` during which stalls do not lengthen the cycles [ns].
  private static let startup: Int64 = 5_000_000_000
  /// The time after the first gap of a stall during which further gaps belong to the same stall
  /// [ns].
  private static let stall: Int64 = 1_000_000_000
  /// A stall lengthens the cycles if the previous stall began at most this time earlier [ns].
  private static let stallMemory: Int64 = 10_000_000_000

  /// Reads the default sink and the stream's sink from the graph. Does nothing before the graph is
  /// settled, unless `isFirst` is true.
  func readGraph(isFirst: Bool) {
    guard let graph = connection.graph, connection.isSettled || isFirst else { return }
    board.note(server: "PipeWire", version: connection.version)
    if let name = graph.defaultSinkName { board.note(defaultSink: name, isFirst: isFirst) }
    let linked = stream.nodeID.flatMap { graph.sinkID(linkedFrom: $0) }
    if let linked, let sink = graph.sink(id: linked) {
      let hasMoved = linked != sinkID && !isFirst
      if linked != sinkID { interruptionsSeen = graph.nodes[linked]?.interruptions ?? 0 }
      sinkID = linked
      unlinkedSince = nil
      take(sink, isFirst: isFirst, hasMoved: hasMoved)
    } else if unlinkedSince == nil {
      unlinkedSince = monotonic_nanoseconds()
    }
  }

  /// Restarts the stream after a suspension that interrupted playback. Posts both `suspended` and
  /// `unsuspended`, because the server may have woken the sink before the suspension was observed.
  func restartIfInterrupted() {
    guard let node = sinkID.flatMap({ connection.graph?.nodes[$0] }) else { return }
    guard node.interruptions != interruptionsSeen, board.draft.sink?.state != .suspended else {
      return
    }
    interruptionsSeen = node.interruptions
    board.post(.suspended)
    stream.reactivate()
    board.post(.unsuspended)
    noteBeginning()
  }

  private func take(_ sink: Sink, isFirst: Bool, hasMoved: Bool) {
    let rateChanged = board.draft.sinkSampleRate != sink.sampleRate
    let isNews = board.note(sink)
    if hasMoved { board.post(.moved(sink: sink.name)) }
    if hasMoved || (rateChanged && !isFirst) { noteBeginning() }
    if isNews, !isFirst { board.post(.routed(sink)) }
  }

  /// Returns the loss if the stream has been without a sink for too long; otherwise nil.
  func findLinkLoss(_ now: Int64) -> OutputLoss? {
    // Give the session manager time to link the stream to another sink.
    guard let since = unlinkedSince, connection.isSettled, !stream.flow.isFrozen,
      now - since > Self.patienceForLink
    else { return nil }
    return .sink(
      sinkNames.isEmpty ? "the server has no sinks" : "the stream is not connected to a sink")
  }

  /// Reads the length of a cycle and the sink's delay.
  func readQuantum() {
    let control = stream.control
    let rate = Double(configuration.sampleRate)
    let quantum = Double(control.pointee.quantum.load(ordering: .relaxed)) * 1000 / rate
    board.draft.queueMilliseconds = quantum
    board.draft.minimumRequestMilliseconds = quantum
    board.draft.queuedMilliseconds = stream.hasRun ? quantum : nil
    board.draft.sinkLatencyMilliseconds =
      Double(control.pointee.delay.load(ordering: .relaxed)) / 1e6
  }

  /// Reads the data thread's reports, counts underruns and adapts the quantum.
  func readReports(_ now: Int64) {
    readQuantum()
    let control = stream.control
    let misses = control.pointee.misses.load(ordering: .relaxed)
    let newMisses = Int(misses - missesSeen)
    missesSeen = misses
    guard newMisses > 0, now >= missesCountFrom, stream.isRequestDue else { return }
    let total = stream.counters.pointee.underruns.add(newMisses, ordering: .relaxed).newValue
    board.post(.underrun(total: total))
    // A single stall, which may cause several gaps, is no reason for longer cycles.
    let sinceStall = now - lastStall
    guard sinceStall > Self.stall, now - stream.flow.beginning > Self.startup else { return }
    lastStall = now
    if sinceStall < Self.stallMemory { stream.adaptDepth { $0.ranLow(now: now) } }
  }

  func isSuspended(at now: Int64) -> Bool {
    // After `resume`, a suspended sink needs some time to wake up.
    let isQuiet = now - max(stream.lastWrite, resumeTime) > Self.quietOfSuspension
    return !stream.flow.wantsPause && board.draft.sink?.state == .suspended && isQuiet
  }

  /// Ends `drain` once the last frame has been heard or the graph has stopped.
  func noteDrained(_ now: Int64) {
    guard stream.flow.isDraining else { return }
    let end = stream.control.pointee.end.load(ordering: .relaxed)
    let isHeld = stream.control.pointee.heldCycles.load(ordering: .relaxed) > 0
    // If the graph has stopped, it will not play the remaining frames.
    let isStopped = now - stream.lastWrite > Self.quietOfSuspension
    guard isHeld || isStopped else { return loop.tick(after: 2_000_000) }
    guard now >= end || isStopped else { return loop.tick(after: end - now) }
    stream.flow.isDraining = false
    stream.flow.isDrained = true
    stream.setActive(false)
    board.post(.drained)
    loop.signal()
  }
}
