// SPDX-License-Identifier: Apache-2.0

internal import Rendering
internal import SoundServer
internal import SoundSources
private import Synchronization

/// Informs a program which outputs can play spatial sound, whether the user has allowed it, and
/// when that changes.
///
/// ```swift
/// let monitor = try RouteMonitor { event in
///   if case .spatialOffered(let route) = event { print("spatial sound on", route.facts.name) }
/// }
/// monitor.declareMultichannelContent(true)
/// ```
///
/// ## Threading
/// May be used from any thread. The monitor makes one call of `onEvent` at a time: on its own
/// thread, or on the thread that sets `policy` or declares content. `onEvent` may use the monitor
/// but must not call `stop`.
public final class RouteMonitor: Sendable {
  /// A change that the monitor reports.
  public enum Event: Sendable, Equatable {
    /// The routes have changed. The list is empty without a sound server.
    case routesChanged([SpatialRoute])
    /// The program's multichannel content is, or would be, spatial on the route in use.
    case spatialOffered(SpatialRoute)
    /// The last offer no longer applies.
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

  /// The state that the sink monitor's thread and the callers share.
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

    /// Reports the events one by one, without holding the lock. While one thread reports, other
    /// threads leave their events to it.
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
  private let sinks: any SinkMonitor

  /// Starts to observe the sound server, now or as soon as there is one.
  ///
  /// - Parameters:
  ///   - policy: what the user allows; `RoutePolicy.ofUser()` reads it from `config.json`.
  ///   - sink: the server's name for the sink that the program plays to; nil for the default sink.
  ///   - output: see `PlayerOptions.output`.
  ///   - serverAddress: see `PlayerOptions.serverAddress`.
  ///   - onEvent: receives the initial routes and every change.
  /// - Throws: `PlaybackError.output` if the system lacks the resources for the monitor's thread,
  ///   or if `output` is PipeWire and libpipewire is not installed or too old.
  public init(
    policy: RoutePolicy = RoutePolicy(), sink: String? = nil,
    output: OutputChoice = .automatic, serverAddress: String? = nil,
    onEvent: @escaping @Sendable (Event) -> Void
  ) throws(PlaybackError) {
    let board = Board(policy, sink, onEvent)
    self.board = board
    do throws(SoundServerError) {
      let client = SoundServerClient(output, serverAddress: serverAddress)
      sinks = try client.monitor { sinks in
        board.update { $0.sinks = sinks }
      }
    } catch { throw .output(error.description) }
  }

  deinit { stop() }

  /// All routes that are currently known, in the server's order.
  public var routes: [SpatialRoute] { board.state.withLock { $0.routes } }

  /// What the user allows. If a change affects the routes, it is reported like any other change.
  public var policy: RoutePolicy {
    get { board.state.withLock { $0.policy } }
    set { board.update { $0.policy = newValue } }
  }

  /// Returns the decision for a programme on a sink with this name; nil if there is no such sink.
  public func decision(for programme: Programme, on sink: String) -> RouteDecision? {
    board.state.withLock { state in
      state.routes.first { $0.facts.sink == sink }
        .map { state.policy.decision(for: programme, on: $0.facts) }
    }
  }

  /// Declares whether the program has, or could play, content with more channels than stereo, so
  /// that the listener can be informed. `.spatialOffered` follows if the route is spatial.
  public func declareMultichannelContent(_ isThere: Bool) {
    board.update { $0.hasMultichannel = isThere }
  }

  /// Stops observing the sound server. The monitor cannot be started again.
  public func stop() { sinks.stop() }
}
