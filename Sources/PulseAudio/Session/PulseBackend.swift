// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import SoundServer
import Synchronization

/// The libpulse backend of an output.
///
/// The backend calls the queue and the stream. The queue calls the stream. The stream reports
/// events to the backend.
final class PulseBackend: OutputBackend, CallbackTarget {
  static let unopened: String? = nil

  let loop: ThreadedLoop
  let connection: Connection
  let stream: OutputStream
  let queue: OutputQueue
  private let sinks: DeviceList<Sink>
  private var isAsked = false

  var configuration: AudioOutputConfiguration { stream.configuration }
  var board: OutputBoard { stream.board }

  init(
    configuration: AudioOutputConfiguration, callback: AudioRenderCallback
  ) throws(SoundServerError) {
    try SoundServerError.check(sampleRate: configuration.sampleRate)
    loop = try ThreadedLoop(name: "audio-output", raisesPriority: configuration.raisesPriority)
    connection = Connection(
      loop: loop, address: configuration.serverAddress,
      applicationName: configuration.applicationName)
    sinks = DeviceList(on: connection)
    stream = OutputStream(configuration: configuration, callback: callback)
    queue = OutputQueue(of: stream, loop: loop)
    loop.onWake = { [unowned self] in queue.refreshWanted() }
    loop.onAlarm = { [unowned self] in queue.alarmed() }
    stream.onEvent = { [unowned self] in take($0) }
    connection.onEvent = { [unowned self] in objectChanged($0, $1) }
    connection.onDescription = { [unowned self] in take($0) }
  }

  // MARK: Connecting

  func connect() {
    if !connection.isGood { connection.open() }
    isAsked = false
  }

  func disconnect() { connection.close() }

  var isConnected: Bool { connection.isGood }
  var address: String { describeServerAddress(configuration.serverAddress) }

  func noServer(reason: String) -> SoundServerError { .noServer(address: address, reason: reason) }

  func findSinks() -> Bool {
    guard connection.isReady else { return false }
    if !isAsked {
      isAsked = true
      connection.subscribe(to: Sink.subscription)
      sinks.request()
    }
    return sinks.isComplete
  }

  var sinkNames: [String] { sinks.names }

  func open() -> OutputLoss? {
    guard let context = connection.context, stream.open(in: context) else {
      return .sink(connection.lastError)
    }
    queue.fill.forget()
    return nil
  }

  func checkOpen() -> Bool {
    stream.handle.map { pa_stream_get_state($0) == PA_STREAM_READY } ?? false
  }

  func findLoss(_ now: Int64) -> OutputLoss? {
    guard connection.isGood else { return .server(connection.lastError) }
    let isIntact = stream.handle.map(isGood(stream:)) ?? !stream.flow.isRunning
    return isIntact ? nil : .sink(connection.lastError)
  }

  // MARK: Running

  func begin() {
    stream.corkIfChanged()
    readPlace()
    queue.startRewriting()
    board.post(.connected(sink: board.draft.sinkName))
  }

  func attend(_ now: Int64) {
    stream.readLatency()
    queue.attend(now)
  }

  func noteBeginning() {
    let now = monotonic_nanoseconds()
    stream.flow.beginning = now
    stream.renderer.pointee.clock.relock()
    queue.noteBeginning(now: now)
  }

  func isSuspended(at now: Int64) -> Bool { stream.isSuspended(at: now) }

  func ask() { connection.askServer() }

  var lastAnswer: Int64 { connection.lastAnswer }
  var queueDuration: Int64 { stream.renderer.pointee.grantedLatency }

  func framesQueued(at time: Int64) -> Int { stream.renderer.pointee.framesQueued(at: time) }

  // MARK: Controls

  func pause() { stream.cork() }

  func resume() {
    stream.renderer.pointee.isHeld = false
    queue.isFeedDue = true
    // The queued frames were rendered for poses from before the pause, so rewrite them.
    loop.wake()
    stream.cork()
  }

  func flush(_ reposition: () -> Void) {
    reposition()
    guard stream.flow.isRunning else { return }
    queue.flush()
    loop.kick()
  }

  func refresh() { loop.wake() }

  func drain() { stream.drain() }

  func close() {
    loop.locked {
      stream.close()
      connection.close()
    }
  }
}
