// SPDX-License-Identifier: Apache-2.0

import CPipeWire
import CRealtime
package import SoundServer
import Synchronization

/// A sink on a PipeWire server whose sound is rendered in the cycle in which programs play it.
///
/// `configuration.output.latencyMilliseconds` is the cycle length to request [ms]. `setInUse` has
/// no effect.
package final class PipeWireVirtualSink: VirtualSink, @unchecked Sendable {
  private let session: OutputSession<PipeWireBackend>
  private let stream: LiveStream
  private let mover: SinkMover
  private let asked: Mutex<VirtualSinkConfiguration>

  /// Prepares a virtual sink without contacting a server.
  ///
  /// - Throws: `noPipeWire` if libpipewire is not installed or too old, `unsupportedSampleRate` if
  ///   the rate is not from 1 to 384000 Hz, or `systemFailure`.
  package init(
    _ configuration: VirtualSinkConfiguration, render: LiveRenderCallback
  ) throws(SoundServerError) {
    var made: LiveStream?
    let backend = try PipeWireBackend(configuration.output) { library in
      let stream = LiveStream(library: library, configuration: configuration, live: render)
      made = stream
      return stream
    }
    guard let made else { throw .systemFailure(reason: "cannot create a stream; try again") }
    session = OutputSession(backend)
    stream = made
    asked = Mutex(configuration)
    let mover = SinkMover(backend: backend, stream: made)
    self.mover = mover
    backend.onRunning = { [unowned backend, unowned made, unowned mover] now in
      if let graph = backend.connection.graph, made.followPrograms(in: graph, now: now) {
        backend.noteBeginning()
      }
      mover.attend(now)
    }
  }

  deinit { stop() }

  package var configuration: VirtualSinkConfiguration { asked.withLock { $0 } }

  package var status: AudioOutputStatus { session.status }

  package func takeEvents() -> [AudioOutputEvent] { session.takeEvents() }

  package func start() throws(SoundServerError) { try session.start() }

  package func play(to sinkName: String) {
    asked.withLock { $0.output.sinkName = sinkName }
    session.loop.locked { mover.move(to: sinkName) }
  }

  package func report(delayFrames: Int) {
    asked.withLock { $0.delayFrames = delayFrames }
    session.loop.locked { stream.setDelay(frames: delayFrames) }
  }

  package func setInUse(_ isInUse: Bool) {}

  package func stop() { session.stop() }
}
