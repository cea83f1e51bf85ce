// SPDX-License-Identifier: Apache-2.0

private import Ambisonics
private import CRealtime
internal import Rendering
private import SignalProcessing
internal import SoundServer
internal import SoundSources
internal import Synchronization
internal import System

/// The player's own thread, which reads ahead from the source, carries out `wishes` and handles the
/// loss of the server or the sink.
///
/// For a seek during playback, the new sound is read while the old sound plays on. Then the feed
/// fades to the new sound. A pause fades the sound out, and stops the output when the silence has
/// reached the listener. An output that is opened paused begins when there is enough sound for its
/// queue or the source has ended.
final class Conductor: @unchecked Sendable {
  struct Wishes {
    var isPaused = false
    /// The source frame to go to; nil if no seek is pending.
    var seek: Int?
    /// Whether the sound must be read again from the current position.
    var rereads = false
  }

  let wishes = Mutex(Wishes())
  private let worker = Worker()
  private let source: any SoundSource
  /// The stream that the source reads from; nil if the source reads from no stream.
  private let streamed: (any StreamedSource)?
  private let feed: RenderFeed
  private let output: any AudioOutput
  private let tell: @Sendable (PlayerEvent) -> Void
  private let planes: PlanarScratch
  private let finished = Atomic(false)
  private static let readFrames = 2048
  /// The longest sleep of the thread [ms]. A wish wakes it earlier.
  private static let lookMilliseconds = 40
  /// The time after which a seek ends the old sound even if little new sound has been read [ns].
  private static let longestPreparation: Int64 = 300_000_000

  // Use the following properties on the conductor's thread only.
  private var isAtEnd = false
  private var toldWarnings = 0
  private var wasStarved = true
  private var hasRead = false
  private var silentSince: Int64?
  private var isCorked: Bool
  /// Whether the output has not begun yet, because it waits for the first sound.
  private var awaitsSound: Bool
  private var heardLayout: ChannelLayout
  /// The pending seek during which the old sound plays on; nil if there is no such seek.
  private var coming: (frame: Int, firstWritten: Int, since: Int64, isOrdered: Bool)?
  /// Whether queued sound has been lost with the server or the sink since the last seek.
  private var isCut = false

  /// - Parameter startsPaused: whether the output is opened paused.
  init(
    source: any SoundSource, feed: RenderFeed, output: any AudioOutput, startsPaused: Bool = false,
    tell: @escaping @Sendable (PlayerEvent) -> Void
  ) {
    (isCorked, awaitsSound) = (startsPaused, startsPaused)
    self.source = source
    streamed = source.stream
    self.feed = feed
    self.output = output
    self.tell = tell
    heardLayout = source.contentLayout(atFrame: 0)
    planes = PlanarScratch(channels: feed.ring.channelCount, frames: Self.readFrames)
  }

  /// Changes the wishes and wakes the thread.
  func wish(_ change: (inout Wishes) -> Void) {
    wishes.withLock { change(&$0) }
    worker.wake()
  }

  var isFinished: Bool { finished.load(ordering: .acquiring) }

  func start() { worker.start { [self] in run() } }

  /// Stops the thread and waits until it has ended.
  func stop() { worker.stop() }

  private func run() {
    while !worker.isStopped {
      followOutput()
      followWishes()
      readAhead()
      followJump()
      if coming == nil {
        followStream()
        noteLayout()
      }
      noteState()
      if !isFinished { endIfExhausted() }
      worker.sleep(milliseconds: coming == nil ? Self.lookMilliseconds : 5)
    }
  }

  // MARK: The output

  private func followOutput() {
    for event in output.takeEvents() {
      tell(.output(event))
      switch event.kind {
      case .serverLost(_, let frames), .sinkLost(_, let frames):
        // Go back to the sound that had been queued but not yet heard.
        let heard = feed.sourcePosition - frames - feed.renderer.latencyFrames
        wishes.withLock { if $0.seek == nil { $0.seek = max(0, heard) } }
        feed.beginFromSilence()
        isCut = true
      default: break
      }
    }
  }

  private var isPulling: Bool {
    switch output.status.state {
    case .playing, .connecting, .idle: true
    default: false
    }
  }

  // MARK: The listener

  private func followWishes() {
    let wanted = wishes.withLock { $0 }
    if coming != nil, wanted.isPaused || isCut || !isPulling { giveUpJump() }
    if let frame = wanted.seek, coming == nil, canJump(wanted) { beginJump(to: frame) }
    let mustSeek = coming == nil && (wanted.seek != nil || wanted.rereads)
    feed.hold(wanted.isPaused || mustSeek)
    if mustSeek, feed.isSilent || !isPulling || isCorked {
      seek(to: wanted.seek ?? feed.sourcePosition)
    }
    if wanted.isPaused { corkWhenSilent() } else { uncork() }
  }

  private func seek(to frame: Int) {
    defer {
      wishes.withLock {
        if $0.seek == frame { $0.seek = nil }
        $0.rereads = false
      }
    }
    isCut = false
    do throws(PlaybackError) {
      try source.seek(toFrame: frame)
    } catch { return fail(error) }
    feed.setEnded(false)
    isAtEnd = false
    finished.store(false, ordering: .releasing)
    feed.ring.flush()
    feed.sourcePosition = frame
    // Let the server request frames again, even after the end of the source.
    if !isCorked { output.resume() }
  }

  /// Returns whether audible sound can play on until the new sound of a seek is ready.
  private func canJump(_ wanted: Wishes) -> Bool {
    guard !wanted.isPaused, !isCut, !isCorked, !isFinished else { return false }
    return output.status.state == .playing && feed.isPlaying
  }

  private func beginJump(to frame: Int) {
    do throws(PlaybackError) {
      try source.seek(toFrame: frame)
    } catch {
      wishes.withLock { if $0.seek == frame { $0.seek = nil } }
      return fail(error)
    }
    isAtEnd = false
    coming = (frame, feed.ring.writtenFrames, monotonic_nanoseconds(), false)
    feed.prepareJump()
  }

  /// Orders the jump when enough new sound has been read, the source has ended or
  /// `longestPreparation` has passed. Ends the seek once the audio thread has carried out the jump.
  private func followJump() {
    guard let jump = coming else { return }
    if jump.isOrdered {
      guard !feed.isJumping else { return }
      coming = nil
      wishes.withLock { if $0.seek == jump.frame { $0.seek = nil } }
      return
    }
    let isReady = isAtEnd || feed.ring.writtenFrames - jump.firstWritten >= feed.resumeFrames
    guard isReady || monotonic_nanoseconds() - jump.since > Self.longestPreparation else { return }
    if !isAtEnd { feed.setEnded(false) }
    coming?.isOrdered = true
    feed.jump(toSourceFrame: jump.frame)
  }

  /// Cancels the jump unless the audio thread can still complete it.
  private func giveUpJump() {
    guard let jump = coming else { return }
    // The audio thread completes an ordered jump as soon as nothing is audible.
    if jump.isOrdered, isPulling, !isCut { return followJump() }
    coming = nil
    feed.cancelJump()
  }

  private func corkWhenSilent() {
    guard !isCorked else { return }
    guard feed.isSilent else {
      silentSince = nil
      return
    }
    let now = monotonic_nanoseconds()
    let since = silentSince ?? now
    silentSince = since
    let queued = output.status.measuredLatencyMilliseconds ?? output.status.queueMilliseconds
    guard Double(now - since) * 1e-6 > queued + 20 else { return }
    output.pause()
    isCorked = true
  }

  private func uncork() {
    silentSince = nil
    guard isCorked, !awaitsSound else { return }
    output.resume()
    isCorked = false
  }

  /// Starts an output that was opened paused, once its queue can be filled with sound or the source
  /// has ended. If the user has paused, the output stays paused.
  private func beginWhenReady() {
    guard awaitsSound, isAtEnd || feed.ring.fill >= feed.resumeFrames else { return }
    awaitsSound = false
    if !wishes.withLock({ $0.isPaused }) { uncork() }
  }

  // MARK: The source

  private func readAhead() {
    // Keep space in the ring for the first sound after a seek.
    let kept = coming == nil ? feed.resumeFrames + 2 * Self.readFrames : 0
    while !isAtEnd, !worker.isStopped, feed.ring.room - kept >= Self.readFrames,
      streamed?.isReady ?? true
    {
      do throws(PlaybackError) {
        let count = try source.read(into: planes.planes, frames: Self.readFrames)
        if count == 0 { end() }
        hasRead = true
        feed.ring.write(from: UnsafePointer(planes.planes), frames: count)
        beginWhenReady()
      } catch {
        fail(error)
        end()
      }
      // A new seek does not wait for a full ring.
      if let seek = wishes.withLock({ $0.seek }), seek != coming?.frame { break }
    }
    let warnings = source.warnings
    for text in warnings.dropFirst(toldWarnings) { tell(.warning(text)) }
    toldWarnings = warnings.count
  }

  private func followStream() {
    guard let streamed else { return }
    let frame = feed.sourcePosition
    streamed.isHeard(frame: frame)
    for news in streamed.takeNews(upTo: frame) { tell(.news(news)) }
  }

  private func end() {
    isAtEnd = true
    feed.setEnded(true)
    beginWhenReady()
  }

  private func fail(_ error: PlaybackError) {
    if case .interrupted = error { return }
    tell(.sourceFailed(error))
  }

  /// Reports a change of the layout when the renderer reaches the change.
  private func noteLayout() {
    let layout = source.contentLayout(atFrame: feed.sourcePosition)
    guard layout != heardLayout else { return }
    heardLayout = layout
    tell(.layoutChanged(layout))
  }

  private func noteState() {
    // Before the first sound, there is nothing to interrupt.
    guard hasRead else { return }
    let isStarved = feed.isStarved
    guard isStarved != wasStarved else { return }
    wasStarved = isStarved
    tell(isStarved ? .buffering : .resumed)
  }

  private func endIfExhausted() {
    guard feed.isExhausted else { return }
    // If the server was just lost, `drain` returns false: the lost sound must be rendered again
    // first.
    guard output.drain(timeoutMilliseconds: 1000) else { return }
    finished.store(true, ordering: .releasing)
    tell(.finished)
  }
}
