// SPDX-License-Identifier: Apache-2.0

internal import PulseAudio
public import SoundServer
private import Synchronization

/// An input of the sound server: a microphone, a line input, or the monitor of a sink.
public typealias Input = Source

/// The inputs of a sound server, their changes and their levels.
///
/// ## Threading
/// Any thread may use an instance.
public final class Inputs: Sendable {
  /// The inputs whose levels are measured.
  public enum Metering: Sendable, Equatable {
    case none
    /// All inputs except monitors.
    case inputs
    case inputsAndMonitors
    /// The input with this name.
    case one(String)

    /// Returns whether the levels of an input are measured.
    public func includes(_ input: Input) -> Bool {
      switch self {
      case .none: false
      case .inputs: !input.isMonitor
      case .inputsAndMonitors: true
      case .one(let name): input.name == name
      }
    }
  }

  private let monitor: SourceMonitor
  private let listeners: Listeners

  /// Returns the inputs of a server, in the server's order.
  ///
  /// - Throws: `SoundServerError.noServer`, `.serverSilent` or `.systemFailure`.
  public static func list(serverAddress: String? = nil) throws(SoundServerError) -> [Input] {
    try SourceList.read(serverAddress: serverAddress)
  }

  /// Starts to observe the inputs. The server need not be running yet.
  ///
  /// - Throws: `SoundServerError.systemFailure`.
  public init(
    serverAddress: String? = nil, metering: Metering = .none
  ) throws(SoundServerError) {
    let listeners = Listeners()
    self.listeners = listeners
    monitor = try SourceMonitor(
      serverAddress: serverAddress, measures: { metering.includes($0) },
      onChange: { listeners.tell($0) })
  }

  deinit {
    monitor.stop()
    listeners.end()
  }

  /// The inputs as the server last reported them; empty if there is no server.
  public var current: [Input] { monitor.sources }

  /// Lists of the inputs. The first is the current list, unless it is empty. A new list follows
  /// whenever an input or the default input changes. If the server is lost, an empty list follows.
  /// A slow reader receives only the latest list.
  public var changes: AsyncStream<[Input]> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: [Input].self, bufferingPolicy: .bufferingNewest(1))
    listeners.add(continuation, first: monitor.sources)
    return stream
  }

  /// Returns the peak of each channel since the last call, with full scale 1. The keys are the
  /// names of the inputs. An input without new peaks is left out.
  public func takePeaks() -> [String: [Float]] { monitor.takePeaks() }
}

private final class Listeners: Sendable {
  private let all = Mutex<[AsyncStream<[Input]>.Continuation]>([])

  func add(_ listener: AsyncStream<[Input]>.Continuation, first: [Input]) {
    all.withLock { $0.append(listener) }
    if !first.isEmpty { listener.yield(first) }
  }

  func tell(_ inputs: [Input]) {
    all.withLock { all in
      all.removeAll { listener in
        if case .terminated = listener.yield(inputs) { true } else { false }
      }
    }
  }

  func end() {
    all.withLock { all in
      for listener in all { listener.finish() }
    }
  }
}
