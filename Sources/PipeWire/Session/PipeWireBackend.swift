// SPDX-License-Identifier: Apache-2.0

import CPipeWire
import CRealtime
internal import SoundServer
import Synchronization

/// The libpipewire backend of an output.
final class PipeWireBackend: OutputBackend {
  static let unopened: String? =
    "the stream did not start: it has no sink, or its sink is not running"

  /// The time after a call of `noteBeginning` during which gaps do not count as underruns [ns].
  private static let changeDuration: Int64 = 300_000_000

  let loop: ThreadedLoop
  let connection: Connection
  let stream: OutputStream
  /// The ID of the sink that the stream was last linked to; nil if unknown.
  var sinkID: UInt32?
  var unlinkedSince: Int64?
  /// The last value of `SinkNode.interruptions` that was handled.
  var interruptionsSeen = 0
  var missesSeen: Int64 = 0
  /// The start of the last stall, in CLOCK_MONOTONIC nanoseconds.
  var lastStall: Int64 = .min / 2
  /// The end of the time in which gaps do not count as underruns, in CLOCK_MONOTONIC nanoseconds.
  /// See `changeDuration`.
  var missesCountFrom: Int64 = 0

  /// The time of the last call of `resume`, in CLOCK_MONOTONIC nanoseconds.
  var resumeTime: Int64 = 0

  var configuration: AudioOutputConfiguration { stream.configuration }
  var board: OutputBoard { stream.board }

  /// Called at every tick while the stream is open, with the current time in CLOCK_MONOTONIC
  /// nanoseconds.
  var onRunning: (Int64) -> Void = { _ in }

  /// - Parameter makeStream: called once, after libpipewire has been loaded.
  init(
    _ configuration: AudioOutputConfiguration, makeStream: (PipeWireLibrary) -> OutputStream
  ) throws(SoundServerError) {
    try SoundServerError.check(sampleRate: configuration.sampleRate)
    if configuration.raisesPriority { AudioThread.lockPages() }
    loop = try ThreadedLoop(name: "audio-output")
    connection = Connection(
      loop: loop, address: configuration.serverAddress,
      applicationName: configuration.applicationName, isRealtime: configuration.raisesPriority)
    stream = makeStream(loop.library)
    stream.onChange = { [unowned loop] in loop.kick() }
  }

  // MARK: Connecting

  func connect() {
    if !connection.isGood { connection.open() }
  }

  func disconnect() { connection.close() }

  var isConnected: Bool { connection.isGood }
  var address: String { describeServerAddress(configuration.serverAddress) }

  func noServer(reason: String) -> SoundServerError {
    .noPipeWire(reason: "no connection to \(address): \(reason)")
  }

  func findSinks() -> Bool { connection.isSettled }

  var sinkNames: [String] { connection.graph?.sinks.map(\.name) ?? [] }

  func open() -> OutputLoss? {
    guard let core = connection.core, !stream.open(on: core) else { return nil }
    return .sink(stream.failure ?? "the stream failed")
  }

  /// Returns whether the stream is linked to a sink and ready. If not, makes the next tick occur
  /// within 5 ms.
  func checkOpen() -> Bool {
    let isLinked = stream.nodeID.flatMap { connection.graph?.sinkID(linkedFrom: $0) } != nil
    if isLinked, stream.isReady { return true }
    loop.tick(after: 5_000_000)
    return false
  }

  func findLoss(_ now: Int64) -> OutputLoss? {
    guard connection.isGood else { return .server(connection.failure ?? "Connection terminated") }
    if let failure = stream.failure { return .sink(failure) }
    guard stream.flow.isRunning else { return nil }
    readGraph(isFirst: false)
    return findLinkLoss(now)
  }

  // MARK: Running

  func begin() {
    (sinkID, unlinkedSince) = (nil, nil)
    missesCountFrom = 0
    readGraph(isFirst: true)
    readQuantum()
    board.post(.connected(sink: board.draft.sinkName))
    if let sink = board.draft.sink { board.post(.routed(sink)) }
  }

  func attend(_ now: Int64) {
    restartIfInterrupted()
    readReports(now)
    noteDrained(now)
    stream.adaptDepth { $0.pass(now: now) }
    onRunning(now)
  }

  func noteBeginning() {
    let now = monotonic_nanoseconds()
    stream.flow.beginning = now
    missesCountFrom = now + Self.changeDuration
    stream.control.pointee.isRelockDue.store(true, ordering: .releasing)
  }

  func ask() { connection.ask() }

  var lastAnswer: Int64 { connection.lastAnswer }
  var queueDuration: Int64 { Int64(board.draft.queueMilliseconds * 1e6) }

  func framesQueued(at time: Int64) -> Int { stream.pump.pointee.framesQueued(at: time) }

  // MARK: Controls

  func pause() { stream.setActive(false) }

  func resume() {
    resumeTime = monotonic_nanoseconds()
    stream.control.pointee.isHeld.store(false, ordering: .releasing)
    stream.setActive(true)
  }

  func flush(_ reposition: () -> Void) {
    stream.withoutRendering(reposition)
    stream.control.pointee.isResetDue.store(true, ordering: .releasing)
    noteBeginning()
  }

  /// Does nothing, because queued sound cannot be rendered again.
  func refresh() {}

  func drain() {
    stream.control.pointee.heldCycles.store(0, ordering: .relaxed)
    stream.control.pointee.isHeld.store(true, ordering: .releasing)
  }

  func close() {
    stream.close()
    connection.destroy()
  }
}
