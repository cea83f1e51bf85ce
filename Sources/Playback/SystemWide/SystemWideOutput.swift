// SPDX-License-Identifier: Apache-2.0

private import CRealtime
package import SoundServer
private import Synchronization
internal import System

/// Plays the sound of other programs through virtual sinks.
///
/// The output moves each stream on a virtual sink to the virtual sink that fits its layout, or to
/// the real sink if the treatment of its role is plain. `StreamRouting` defines the exceptions,
/// such as streams that the user has moved. The output can make the virtual sink with the most
/// channels the default sink. `OutputFollower` chooses the real sink to play to.
///
/// ## Threading
/// Any thread may use an instance. `onEvent` is called on the output's own thread.
package final class SystemWideOutput: Sendable {
  package struct Settings: Sendable {
    /// The layouts of the virtual sinks to create, one sink for each layout.
    package var layouts: [SinkLayout] = [.stereo, .surround51, .surround71]
    /// The real sink to play to while it exists; nil to follow the default sink and headphones.
    package var sinkName: String?
    /// Whether the virtual sink with the most channels is made the default sink.
    package var takesDefault = true
    package var roles = RoleTreatments()
    /// The default sink that an earlier instance did not restore; nil for none.
    package var previousDefault: String?
    /// Stores the default sink to restore; nil if there is none. The function is called on the
    /// output's thread.
    package var remember: @Sendable (_ defaultSink: String?) -> Void = { _ in }

    package init() {}
  }

  /// Holds the steward's latest report until the loop takes it.
  final class Inbox: Sendable {
    private let contents = Mutex<ServerContents?>(nil)
    private let worker: Worker

    init(_ worker: Worker) { self.worker = worker }

    func put(_ new: ServerContents) {
      contents.withLock { $0 = new }
      worker.wake()
    }

    func take() -> ServerContents? {
      contents.withLock { contents in
        defer { contents = nil }
        return contents
      }
    }
  }

  private let worker = Worker()
  private let inbox: Inbox
  private let board = Mutex(SystemWideStatus())
  private let parts: SystemWideParts
  private let settings: Settings
  private let onEvent: @Sendable (SystemWideEvent) -> Void

  package init(
    _ parts: SystemWideParts, settings: Settings = Settings(),
    onEvent: @escaping @Sendable (SystemWideEvent) -> Void = { _ in }
  ) {
    (self.parts, self.settings, self.onEvent) = (parts, settings, onEvent)
    inbox = Inbox(worker)
  }

  deinit { stop() }

  package var status: SystemWideStatus { board.withLock { $0 } }

  /// Begins to observe the server. The virtual sinks appear once there is a real sink.
  ///
  /// - Throws: the reason why the server cannot be observed.
  package func start() throws(SoundServerError) {
    let inbox = inbox
    let steward = try parts.makeSteward { inbox.put($0) }
    inbox.put(steward.contents)
    let (parts, settings, onEvent) = (parts, settings, onEvent)
    worker.start { [worker, weak self] in
      var loop = SystemWideLoop(parts, settings, steward, onEvent)
      while !worker.isStopped {
        loop.step(inbox.take(), now: monotonic_nanoseconds())
        let status = loop.status
        self?.board.withLock { $0 = status }
        worker.sleep(milliseconds: loop.isWaiting ? 100 : 500)
      }
      loop.leave(newest: { inbox.take() })
      steward.stop()
    }
  }

  /// Restores the default sink, moves the streams on virtual sinks to the real sink, and removes
  /// the virtual sinks. This can take several seconds.
  package func stop() { worker.stop() }
}
