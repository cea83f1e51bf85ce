// SPDX-License-Identifier: Apache-2.0

import CRealtime
internal import SoundServer
import Synchronization

/// Moves a virtual sink's playback stream to another real sink while the sound is faded out.
///
/// ## Threading
/// Use an instance on the loop's thread or with the loop's lock held.
final class SinkMover {
  private static let longestFade: Int64 = 150_000_000
  /// The longest wait for the session manager to link the stream [ns].
  private static let longestMove: Int64 = 1_000_000_000

  /// The number of steady cycles after which a link carries sound without gaps.
  private static let steadyCycles: Int64 = 3
  /// The longest wait for the cycles to become steady [ns].
  private static let longestSettling: Int64 = 400_000_000

  private enum Step {
    case fading(until: Int64)
    case linking(until: Int64)
    case settling(until: Int64)
  }

  private let backend: PipeWireBackend
  private let stream: LiveStream
  private var step: Step?

  init(backend: PipeWireBackend, stream: LiveStream) {
    (self.backend, self.stream) = (backend, stream)
  }

  private var isMuted: Bool {
    get { stream.feed.pointee.control.pointee.isMuted.load(ordering: .relaxed) }
    set { stream.feed.pointee.control.pointee.isMuted.store(newValue, ordering: .relaxed) }
  }

  /// Begins to move the stream to a sink. If the stream is not open, it will open on that sink.
  func move(to sinkName: String) {
    guard stream.configuration.sinkName != sinkName else { return }
    stream.configuration.sinkName = sinkName
    guard stream.flow.isRunning else { return backend.loop.kick() }
    isMuted = true
    step = .fading(until: monotonic_nanoseconds() + Self.longestFade)
    backend.loop.kick()
  }

  func attend(_ now: Int64) {
    switch step {
    case nil: return
    case .fading(let end):
      let isSilent =
        stream.feed.pointee.control.pointee.isSilent.load(ordering: .acquiring)
        || !stream.isRequestDue
      guard isSilent || now > end else { return backend.loop.tick(after: 2_000_000) }
      link(now)
    case .linking(let end):
      let name = backend.sinkID.flatMap { backend.connection.graph?.sink(id: $0)?.name }
      guard name == stream.configuration.sinkName || now > end else {
        return backend.loop.tick(after: 2_000_000)
      }
      stream.feed.pointee.control.pointee.steadyCycles.store(0, ordering: .relaxed)
      step = .settling(until: now + Self.longestSettling)
      backend.loop.tick(after: 2_000_000)
    case .settling(let end):
      let steady = stream.feed.pointee.control.pointee.steadyCycles.load(ordering: .relaxed)
      guard steady >= Self.steadyCycles || now >= end || !stream.isRequestDue else {
        return backend.loop.tick(after: 2_000_000)
      }
      isMuted = false
      step = nil
    }
  }

  private func link(_ now: Int64) {
    if let node = stream.nodeID, let metadata = backend.connection.graph?.defaults {
      metadata.set(
        node, DefaultMetadata.targetObject, to: stream.configuration.sinkName)
    }
    step = .linking(until: now + Self.longestMove)
    backend.loop.tick(after: 2_000_000)
  }
}
