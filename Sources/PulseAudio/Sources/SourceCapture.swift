// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
public import SoundServer
import Synchronization

/// Records one source in the source's own format. Continues after a loss of the source or the
/// server.
///
/// The stream has the source's rate, channels and sample encoding. The server converts the encoding
/// `.other` to float32. If the server moves the stream, the capture opens the original source
/// again. The capture tries again about 100 ms after a loss and after each failed attempt, but not
/// after a failed `start`.
///
/// ## Threading
/// The receiver is called on a thread that the capture owns, one call at a time. The receiver must
/// neither block nor stop the capture. Call the capture's functions on any other thread.
public final class SourceCapture: CallbackTarget, @unchecked Sendable {
  /// The recipient of the recorded sound. The capture retains it.
  public protocol Receiver: AnyObject, Sendable {
    func receive(_ block: SourceBlock)
    func receive(_ event: SourceCaptureEvent, timeNanoseconds: Int64)
  }

  enum Phase {
    case idle, connecting, listing, opening, running, waiting, failed
  }

  static let scratchSamples = 1 << 15

  let loop: ThreadedLoop
  let sourceName: String
  let fragmentMilliseconds: Double
  let timeoutMilliseconds: Int
  let receiver: any Receiver
  private let isStopped = Mutex(false)

  // Use the following properties on the loop's thread or with the loop's lock held.
  let connection: Connection
  let list: DeviceList<Source>
  var attempts: ConnectionAttempts
  var phase = Phase.idle
  var stream: OpaquePointer?
  var format: SourceFormat?
  var isLossReported = false
  var isSuspended = false
  var isSourceStale = false
  var isMoved = false
  var lastBlock: Int64 = 0
  var watchdog = Watchdog(now: 0)
  let scratch = UnsafeMutablePointer<Float>.allocate(capacity: scratchSamples)

  /// Creates a capture without starting it.
  ///
  /// - Parameters:
  ///   - serverAddress: see `AudioOutputConfiguration.serverAddress`.
  ///   - sourceName: the server's name for the source.
  ///   - fragmentMilliseconds: the requested interval between deliveries of sound.
  ///   - timeoutMilliseconds: the longest wait for the server in each attempt.
  /// - Throws: `systemFailure`.
  public init(
    serverAddress: String? = nil, sourceName: String, fragmentMilliseconds: Double = 10,
    timeoutMilliseconds: Int = 2000, receiver: any Receiver
  ) throws(SoundServerError) {
    loop = try ThreadedLoop(name: "source-capture", raisesPriority: true)
    connection = Connection(loop: loop, address: serverAddress)
    list = DeviceList(on: connection)
    attempts = ConnectionAttempts(timeoutMilliseconds: timeoutMilliseconds)
    self.sourceName = sourceName
    self.fragmentMilliseconds = fragmentMilliseconds
    self.timeoutMilliseconds = timeoutMilliseconds
    self.receiver = receiver
    let this = Unmanaged.passUnretained(self)
    loop.onTick = { this._withUnsafeGuaranteedRef { $0.attend() } }
    connection.onEvent = { _, _ in this._withUnsafeGuaranteedRef { $0.objectChanged() } }
    try loop.start()
  }

  deinit {
    stop()
    scratch.deallocate()
  }

  /// Opens the source and begins to record. Returns when the stream is open. Does nothing if the
  /// capture has been started before.
  ///
  /// - Throws: `noServer`, `serverSilent`, `unknownSource`, `streamRefused` or `stopped`.
  public func start() throws(SoundServerError) {
    if isStopped.withLock({ $0 }) { throw .stopped }
    try loop.locked { () throws(SoundServerError) in
      guard phase == .idle else { return }
      connect()
      let limit = monotonic_nanoseconds() + Int64(timeoutMilliseconds + 300) * 1_000_000
      _ = loop.wait(untilNanoseconds: limit) { phase == .running || phase == .failed }
      if let failure = attempts.failure { throw failure }
      if phase != .running {
        throw .serverSilent(
          address: describeServerAddress(connection.address), milliseconds: timeoutMilliseconds)
      }
    }
  }

  /// Begins to record as soon as the source exists. Returns at once. Does nothing if the capture
  /// has been started before.
  public func startWaiting() {
    loop.locked {
      guard phase == .idle else { return }
      attempts.succeeded()
      isLossReported = true
      connect()
    }
  }

  /// Ends the capture without waiting for the server. The receiver is not called after `stop`
  /// returns.
  public func stop() {
    let isFirst = isStopped.withLock { isStopped in
      defer { isStopped = true }
      return !isStopped
    }
    guard isFirst else { return }
    loop.stop()
    closeStream()
    connection.close()
  }

  // MARK: Steps

  func connect() {
    phase = .connecting
    attempts.begin(now: monotonic_nanoseconds())
    connection.open()
    loop.kick()
  }

  private func attend() {
    let now = monotonic_nanoseconds()
    switch phase {
    case .idle, .failed: return
    case .waiting: if attempts.isRetryDue(now) { retry() }
    case .connecting, .listing, .opening: attendOpening(now)
    case .running: attendRunning(now)
    }
  }

  private func attendOpening(_ now: Int64) {
    guard connection.isGood else { return loseServer() }
    if let stream, !isGood(stream: stream) {
      return loseSource(reason: connection.lastError)
    }
    if phase == .connecting, connection.isReady {
      connection.subscribe(to: Source.subscription)
      askSources()
    }
    if phase == .listing, list.isComplete { choose() }
    if phase == .opening, let stream, pa_stream_get_state(stream) == PA_STREAM_READY { begin(now) }
    if phase != .running, phase != .waiting, phase != .failed, attempts.isLate(now) {
      loseServer(reason: "no answer", isSilent: true)
    }
  }

  func askSources() {
    phase = .listing
    list.request()
  }

  private func choose() {
    guard let source = list.devices.first(where: { $0.name == sourceName }) else {
      let names = list.devices.map(\.name)
      return loseSource(
        reason: "no input is named '\(sourceName)'",
        failure: .unknownSource(name: sourceName, available: names))
    }
    phase = .opening
    guard open(source) else { return loseSource(reason: connection.lastError) }
    loop.kick()
  }

  private func begin(_ now: Int64) {
    phase = .running
    attempts.succeeded()
    (isLossReported, isSuspended, isSourceStale, isMoved) = (false, false, false, false)
    lastBlock = now
    watchdog = Watchdog(now: now)
    if let format { report(.opened(format)) }
    loop.signal()
  }

  private func retry() {
    if connection.isGood {
      attempts.begin(now: monotonic_nanoseconds())
      askSources()
      loop.kick()
    } else {
      connect()
    }
  }

  private func attendRunning(_ now: Int64) {
    guard connection.isGood else { return loseServer() }
    guard let stream, isGood(stream: stream) else {
      return loseSource(reason: connection.lastError)
    }
    if isMoved, let name = pa_stream_get_device_name(stream).map({ String(cString: $0) }) {
      isMoved = false
      if name != sourceName { return reopen(.moved(source: name)) }
    }
    let suspended = pa_stream_is_suspended(stream) == 1
    if suspended != isSuspended { report(suspended ? .suspended : .unsuspended) }
    isSuspended = suspended
    if isSourceStale { askSource() }
    if connection.lastAnswer > watchdog.lastAnswer { watchdog.answered(now: connection.lastAnswer) }
    switch watchdog.check(
      now: now, lastRequest: lastBlock, isRequestDue: false, queueDuration: 0)
    {
    case .ask: connection.askServer()
    case .frozen: report(.serverFrozen)
    case .thawed: report(.serverThawed)
    case nil: break
    }
  }
}
