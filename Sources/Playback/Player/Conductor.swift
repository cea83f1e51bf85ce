// SPDX-License-Identifier: Apache-2.0

private import Ambisonics
private import CRealtime
internal import Rendering
private import SignalProcessing
internal import SoundServer
internal import SoundSources
internal import Synchronization
internal import System

/// The player's own thread: reads the source ahead, carries out the listener's wishes (a pause or a
/// seek), and recovers from failures.
///
/// Before a change that would cut the sound, the sound fades out: a seek waits until the renderer
/// is silent, and a pause stops the output only when the silence has reached the listener.
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
  /// The stream that the source reads from, if its sound arrives during playback; otherwise nil.
  private let streamed: (any StreamedSource)?
  private let feed: RenderFeed
  private let output: any AudioOutput
  private let tell: @Sendable (PlayerEvent) -> Void
  private let planes: PlanarScratch
  private let finished = Atomic(false)
  private static let readFrames = 2048
  /// The longest sleep of the thread [ms]. A wish wakes it earlier.
  private static let lookMilliseconds = 40

  // Used on the thread only.
  private var isAtEnd = false
  private var toldWarnings = 0
  private var wasStarved = true
  private var hasRead = false
  private var silentSince: Int64?
  private var isCorked = false
  private var heardLayout: ChannelLayout

  init(
    source: any SoundSource, feed: RenderFeed,
    output: any AudioOutput, tell: @escaping @Sendable (PlayerEvent) -> Void
  ) {
    self.source = source
    streamed = source.stream
    self.feed = feed
    self.output = output
    self.tell = tell
    heardLayout = source.contentLayout(atFrame: 0)
    planes = PlanarScratch(channels: feed.ring.channelCount, frames: Self.readFrames)
  }

  /// Changes the listener's wishes and wakes the thread.
  func wish(_ change: (inout Wishes) -> Void) {
    wishes.withLock { change(&$0) }
    worker.wake()
  }

  var isFinished: Bool { finished.load(ordering: .acquiring) }

  func start() { worker.start { [self] in run() } }

  /// Ends the thread and waits for its end. Queued sound plays until the output is stopped.
  func stop() { worker.stop() }

  private func run() {
    while !worker.isStopped {
      followOutput()
      followWishes()
      readAhead()
      followStream()
      noteLayout()
      noteState()
      if !isFinished { endIfExhausted() }
      worker.sleep(milliseconds: Self.lookMilliseconds)
    }
  }

  // MARK: The output

  private func followOutput() {
    for event in output.takeEvents() {
      tell(.output(event))
      switch event.kind {
      case .serverLost(_, let frames), .sinkLost(_, let frames):
        // Play again the sound that was queued but not audible.
        let heard = feed.sourcePosition - frames - feed.renderer.latencyFrames
        wishes.withLock { if $0.seek == nil { $0.seek = max(0, heard) } }
        feed.beginFromSilence()
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
    feed.hold(wanted.isPaused || wanted.seek != nil || wanted.rereads)
    if wanted.seek != nil || wanted.rereads, feed.isSilent || !isPulling || isCorked {
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
    do throws(PlaybackError) {
      try source.seek(toFrame: frame)
    } catch { return fail(error) }
    feed.setEnded(false)
    isAtEnd = false
    finished.store(false, ordering: .releasing)
    feed.ring.flush()
    feed.sourcePosition = frame
    // Let the server request frames again, even if the source has been played to its end, or its
    // end was lost with a server.
    if !isCorked { output.resume() }
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
    guard isCorked else { return }
    output.resume()
    isCorked = false
  }

  // MARK: The source

  private func readAhead() {
    while !isAtEnd, !worker.isStopped, feed.ring.room >= Self.readFrames,
      streamed?.isReady ?? true
    {
      do throws(PlaybackError) {
        let count = try source.read(into: planes.planes, frames: Self.readFrames)
        if count == 0 { end() }
        hasRead = true
        feed.ring.write(from: UnsafePointer(planes.planes), frames: count)
      } catch {
        fail(error)
        end()
      }
      // A new seek does not wait for a full ring.
      if wishes.withLock({ $0.seek != nil }) { break }
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
  }

  private func fail(_ error: PlaybackError) {
    if case .interrupted = error { return }
    tell(.sourceFailed(error))
  }

  /// Reports a change of the layout when the renderer reaches it, because the source is read ahead.
  private func noteLayout() {
    let layout = source.contentLayout(atFrame: feed.sourcePosition)
    guard layout != heardLayout else { return }
    heardLayout = layout
    tell(.layoutChanged(layout))
  }

  private func noteState() {
    // Before the first sound, nothing can stop.
    guard hasRead else { return }
    let isStarved = feed.isStarved
    guard isStarved != wasStarved else { return }
    wasStarved = isStarved
    tell(isStarved ? .buffering : .resumed)
  }

  private func endIfExhausted() {
    guard feed.isExhausted else { return }
    // If the server has just been lost, the sound that was lost with it is played again first.
    guard output.drain(timeoutMilliseconds: 1000) else { return }
    finished.store(true, ordering: .releasing)
    tell(.finished)
  }
}
