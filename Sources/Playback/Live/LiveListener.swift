// SPDX-License-Identifier: Apache-2.0

private import CRealtime
package import Geometry
internal import HeadTracking
package import Rendering
package import SoundServer
private import Synchronization

/// The reason why `LiveListener.listen` cannot play the sound.
package enum ListeningRefusal: Error, Sendable, Equatable, CustomStringConvertible {
  /// The sink leads to loudspeakers, whose sound the microphone would pick up again.
  case loudspeakers(sink: String)
  /// The kind of device that the sink leads to is unknown.
  case unknownDevice(sink: String)
  /// The sound comes from the monitor of the sink to which it would be played.
  case ownMonitor(sink: String)
  /// The render settings or the output cannot be used.
  case playback(PlaybackError)

  package var description: String {
    switch self {
    case .loudspeakers(let sink):
      "'\(sink)' leads to loudspeakers, whose sound the microphone would pick up again"
    case .unknownDevice(let sink): "it is not known whether '\(sink)' leads to headphones"
    case .ownMonitor(let sink): "the input is the monitor of '\(sink)' itself"
    case .playback(let error): error.description
    }
  }
}

/// Plays sound as it arrives, for example from a microphone, with head tracking.
///
/// Listening ends if the sink disappears, or if it led to headphones and no longer does. The sound
/// does not move to another sink, because that sink could lead to loudspeakers near the microphone.
///
/// ## Threading
/// Only one thread may call `receive`, and only one thread may call `pose`. Any thread may use the
/// other members.
package final class LiveListener: Sendable {
  package enum Event: Sendable {
    case began(Sink)
    case ended(reason: String)
    case player(PlayerEvent)
  }

  private struct State {
    var output: LiveOutput?
    var monitor: (any SinkMonitor)?
    /// The total of `LiveOutput.pauses` for the outputs that have ended.
    var pauses = 0
    /// The events of outputs that have ended.
    var endedOutputEvents: [AudioOutputEvent] = []
    var mode: StageMode
    var isStopped = false
  }

  private let options: PlayerOptions
  private let head: PlayedHead
  /// The poses for the audio thread; nil if the head is not tracked or its motion comes from a
  /// recording.
  private let poses: HeadPoseSource?
  private let client: SoundServerClient
  private let playerEvents = EventQueue()
  private let events = Mutex<[Event]>([])
  private let state: Mutex<State>

  /// Starts the trackers. The call can block for half a second.
  ///
  /// - Parameter options: how to render, which tracker to follow, and which sink to use. Settings
  ///   for sources, upmix, levelling and rewriting are ignored.
  package init(_ options: PlayerOptions) {
    self.options = options
    head = PlayedHead(options, playerEvents)
    poses = head.poses?.branch()
    client = SoundServerClient(options.output, serverAddress: options.serverAddress)
    state = Mutex(State(mode: options.mode))
    head.start()
  }

  deinit { stop() }

  // MARK: Listening

  /// Begins to play sound in the format `sound` instead of any earlier sound. This can take a
  /// second or two.
  ///
  /// - Parameters:
  ///   - onlyHeadphones: whether to refuse sinks that are not known to lead to headphones.
  ///   - monitored: the sink whose monitor the sound comes from; nil for another input.
  /// - Throws: the reason why the sound cannot be heard.
  package func listen(
    to sound: LiveSound, onlyHeadphones: Bool, monitored: String? = nil
  ) throws(ListeningRefusal) {
    endListening()
    let sink = try chosenSink()
    let kind = options.route.kind(of: sink)
    if monitored == sink.name { throw .ownMonitor(sink: sink.name) }
    if onlyHeadphones, kind == .loudspeakers { throw .loudspeakers(sink: sink.name) }
    if onlyHeadphones, kind == .unknown { throw .unknownDevice(sink: sink.name) }
    do throws(PlaybackError) {
      var options = options
      options.mode = state.withLock { $0.mode }
      let output = try LiveOutput(
        sound, to: sink, client, options: options, poses: poses, tell: playerEvents.add)
      state.withLock { $0.output = output }
      do throws(PlaybackError) {
        try watch(sink, isHeadphones: kind == .headphones)
        try output.start()
      } catch {
        endListening()
        throw error
      }
    } catch { throw .playback(error) }
    events.withLock { $0.append(.began(sink)) }
  }

  private func chosenSink() throws(ListeningRefusal) -> Sink {
    do throws(SoundServerError) {
      let sinks = try client.sinks()
      let sink = sinks.first {
        if let name = options.sinkName { $0.name == name } else { $0.isDefault }
      }
      if let sink { return sink }
      if let name = options.sinkName {
        throw .unknownSink(name: name, available: sinks.map(\.name))
      }
      guard let first = sinks.first else { throw .noSink(address: "the default address") }
      return first
    } catch { throw .playback(.output(error.description)) }
  }

  /// Observes the sinks, and ends listening when the sink disappears or, if `isHeadphones` is true,
  /// no longer leads to headphones.
  private func watch(_ sink: Sink, isHeadphones: Bool) throws(PlaybackError) {
    let monitor: any SinkMonitor
    do throws(SoundServerError) {
      monitor = try client.monitor { [weak self] sinks in
        self?.check(sinks, sink: sink.name, isHeadphones: isHeadphones)
      }
    } catch { throw .output(error.description) }
    state.withLock { $0.monitor = monitor }
  }

  private func check(_ sinks: [Sink], sink name: String, isHeadphones: Bool) {
    guard let sink = sinks.first(where: { $0.name == name }) else {
      return lose("the output '\(name)' is gone")
    }
    if isHeadphones, options.route.kind(of: sink) != .headphones {
      lose("'\(name)' no longer leads to headphones")
    }
  }

  private func lose(_ reason: String) {
    guard takeOutput() else { return }
    events.withLock { $0.append(.ended(reason: reason)) }
  }

  /// Ends the output. Returns false if there is no output.
  private func takeOutput() -> Bool {
    let output = state.withLock { state in
      defer { state.output = nil }
      state.pauses += state.output?.pauses ?? 0
      return state.output
    }
    guard let output else { return false }
    output.stop()
    let events = output.takeEvents()
    state.withLock { $0.endedOutputEvents += events }
    return true
  }

  /// Ends listening at once, without an event.
  package func endListening() {
    let monitor = state.withLock { state in
      defer { state.monitor = nil }
      return state.monitor
    }
    monitor?.stop()
    _ = takeOutput()
  }

  package var isListening: Bool { state.withLock { $0.output != nil } }

  /// Queues `frames` frames of interleaved samples in the format given to `listen`. Drops them if
  /// there is no output.
  package func receive(_ samples: UnsafePointer<Float>, frames: Int) {
    state.withLock { $0.output }?.write(samples, frames: frames)
  }

  // MARK: The head and the stage

  /// Returns the pose of the head relative to the front; the identity if the pose is unknown.
  ///
  /// - Parameter time: a past time, in CLOCK_MONOTONIC nanoseconds.
  package func pose(at time: Int64) -> Quaternion { head.poses?.pose(at: time) ?? .identity }

  /// The ID of the last connected tracker, and the yaw of the front; see `Player.front`.
  package var front: (tracker: String, yaw: Double)? { head.front }

  package func recentre() { head.poses?.recenter() }

  package var mode: StageMode {
    get { state.withLock { $0.mode } }
    set {
      let output = state.withLock { state in
        state.mode = newValue
        return state.output
      }
      output?.mode = newValue
      playerEvents.add(.modeChanged(newValue))
    }
  }

  /// The style and the amount of the mix; nil if nothing is mixed.
  package var mix: MixStatus? {
    get { state.withLock { $0.output }?.mix }
    set { state.withLock { $0.output }?.mix = newValue }
  }

  // MARK: Reports

  /// The status of the output; nil if there is no output.
  package var output: AudioOutputStatus? { state.withLock { $0.output }?.status }

  /// The number of times that the sound has paused for lack of frames.
  package var pauses: Int { state.withLock { $0.pauses + ($0.output?.pauses ?? 0) } }

  /// The delay of the clock bridge and the renderer [ms]; nil if there is no output.
  package var delayMilliseconds: Double? { state.withLock { $0.output }?.delayMilliseconds }

  /// Returns the events since the last call: first those of listening, then those of the head and
  /// the renderer, then those of the output. Each group begins with its oldest event.
  package func takeEvents() -> [Event] {
    let own = events.withLock { events in
      defer { events = [] }
      return events
    }
    let (ended, output) = state.withLock { state in
      defer { state.endedOutputEvents = [] }
      return (state.endedOutputEvents, state.output)
    }
    let outputs = ended + (output?.takeEvents() ?? [])
    return own + (playerEvents.take() + outputs.map { .output($0) }).map { .player($0) }
  }

  /// Ends listening and releases the tracker.
  package func stop() {
    let isFirst = state.withLock { state in
      defer { state.isStopped = true }
      return !state.isStopped
    }
    guard isFirst else { return }
    endListening()
    head.stop()
  }
}
