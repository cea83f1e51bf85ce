// SPDX-License-Identifier: Apache-2.0

internal import PulseAudio
internal import Rendering
internal import SoundSources
private import Synchronization

/// Tells a program which outputs can be spatial, whether the user has allowed it, and when that
/// changes.
///
/// ```swift
/// let monitor = try RouteMonitor { event in
///   if case .spatialOffered(let route) = event { print("spatial sound on", route.facts.name) }
/// }
/// monitor.declareMultichannelContent(true)
/// ```
///
/// ## Threading
/// For any thread. `onEvent` is called on a thread of the monitor's own, or on that which changes
/// something, one call at a time; it may use the monitor, but not call `stop`.
public final class RouteMonitor: Sendable {
  public enum Event: Sendable, Equatable {
    /// The routes have become these; empty where there is no sound server.
    case routesChanged([SpatialRoute])
    /// The program's multichannel content would be, or is, spatial on the route that is used.
    case spatialOffered(SpatialRoute)
    /// Not any more.
    case spatialWithdrawn
  }

  private struct State {
    var routes: [SpatialRoute] = []
    var policy: RoutePolicy
    var hasMultichannel = false
    var offered: SpatialRoute?
    var sinks: [Sink] = []
    var untold: [Event] = []
    var isTelling = false
  }

  /// What the sinks' thread and the caller share.
  private final class Board: Sendable {
    let state: Mutex<State>
    private let sinkName: String?
    private let onEvent: @Sendable (Event) -> Void

    init(_ policy: RoutePolicy, _ sinkName: String?, _ onEvent: @escaping @Sendable (Event) -> Void)
    {
      state = Mutex(State(policy: policy))
      (self.sinkName, self.onEvent) = (sinkName, onEvent)
    }

    func update(_ change: (inout State) -> Void) {
      state.withLock { state in
        let old = state.routes
        change(&state)
        let policy = state.policy
        state.routes = state.sinks.map { SpatialRoute($0, policy: policy) }
        if state.routes != old { state.untold.append(.routesChanged(state.routes)) }
        offer(&state)
      }
      tell()
    }

    private func offer(_ state: inout State) {
      let route = state.routes.first {
        if let sinkName { $0.facts.sink == sinkName } else { $0.isDefault }
      }
      let offer = state.hasMultichannel ? route.flatMap { $0.isSpatial ? $0 : nil } : nil
      guard offer != state.offered else { return }
      state.offered = offer
      state.untold.append(offer.map { .spatialOffered($0) } ?? .spatialWithdrawn)
    }

    /// Tells one event after the other with the lock open; who comes in between leaves them to it.
    private func tell() {
      let isFree = state.withLock { state in
        defer { state.isTelling = true }
        return !state.isTelling
      }
      guard isFree else { return }
      while let event = next() { onEvent(event) }
    }

    private func next() -> Event? {
      state.withLock { state in
        guard !state.untold.isEmpty else {
          state.isTelling = false
          return nil
        }
        return state.untold.removeFirst()
      }
    }
  }

  private let board: Board
  private let sinks: SinkMonitor

  /// Begins to follow the sound server, now or as soon as there is one.
  ///
  /// - Parameters:
  ///   - policy: what the user allows; `RoutePolicy.ofUser()` is what is set in `config.json`.
  ///   - sink: the server's name of the sink that the program plays to; nil: the default one.
  ///   - serverAddress: as in `PULSE_SERVER`; nil: that variable, then libpulse's rules.
  ///   - onEvent: hears the routes at first and every change.
  public init(
    policy: RoutePolicy = RoutePolicy(), sink: String? = nil, serverAddress: String? = nil,
    onEvent: @escaping @Sendable (Event) -> Void
  ) throws(PlaybackError) {
    let board = Board(policy, sink, onEvent)
    self.board = board
    do throws(PulseAudioError) {
      sinks = try SinkMonitor(serverAddress: serverAddress) { sinks in
        board.update { $0.sinks = sinks }
      }
    } catch { throw .output(error.description) }
  }

  deinit { stop() }

  /// All routes as they are known now, in the server's order.
  public var routes: [SpatialRoute] { board.state.withLock { $0.routes } }

  /// What the user allows; a change is told as a change of the routes is.
  public var policy: RoutePolicy {
    get { board.state.withLock { $0.policy } }
    set { board.update { $0.policy = newValue } }
  }

  /// What a programme would get on a sink now; nil where there is no such sink.
  public func decision(for programme: Programme, on sink: String) -> RouteDecision? {
    board.state.withLock { state in
      state.routes.first { $0.facts.sink == sink }
        .map { state.policy.decision(for: programme, on: $0.facts) }
    }
  }

  /// Says whether the program has, or could play, more than stereo, so that the listener can be
  /// told that spatial sound is to be had: `.spatialOffered` follows where the route is spatial.
  public func declareMultichannelContent(_ isThere: Bool) {
    board.update { $0.hasMultichannel = isThere }
  }

  /// Ends it; no event follows. It cannot be started again.
  public func stop() { sinks.stop() }
}
