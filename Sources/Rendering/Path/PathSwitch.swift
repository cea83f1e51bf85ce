// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import SignalProcessing
internal import Synchronization

/// The audible spatial path, and the change to another path.
///
/// A new path first runs inaudibly until its filters are filled with past input. A crossfade from
/// the old path to the new path follows.
///
/// ## Threading
/// Only the audio thread may use the members under "For the audio thread" and "Rewriting, by the
/// audible path"; these are real-time safe. Any other thread may call `offer` and `collect`, which
/// free the paths that are no longer needed. Any thread may read `isSwitching`.
struct PathSwitch: ~Copyable, @unchecked Sendable {
  /// The length of the crossfade, in seconds. A crossfade adds sidebands to a tone: the longer the
  /// crossfade, the closer they are to the tone's frequency.
  static let fadeSeconds = 0.2

  private struct Slot: ~Copyable {
    let path: SpatialPath
    var next: UnsafeMutableRawPointer?
  }

  private struct State {
    var current: UnsafeMutablePointer<Slot>
    var coming: UnsafeMutablePointer<Slot>?
    /// The number of completed frames of the fade; negative while the new path's filters are being
    /// filled.
    var position = 0
    /// The number of the current path, counted from 1.
    var number = 1
    /// The number of the path that the last call of `process` used; 0 if it also ran a new path.
    var heard = 1

    @_noLocks
    init(_ current: UnsafeMutablePointer<Slot>) { self.current = current }
  }

  private let state: UnsafeMutablePointer<State>
  private let pending = Atomic<UnsafeMutableRawPointer?>(nil)
  private let retired = Atomic<UnsafeMutableRawPointer?>(nil)
  /// The number of offered paths to which a change is still pending or in progress.
  private let unfinished = Atomic(0)
  private let shape: AlignedFloats
  private let fadeFrames: Int
  private let other: PlanarScratch
  private let otherPlain: PlanarScratch

  init(_ path: consuming SpatialPath, sampleRate: Double, chunkFrames: Int) {
    state = .allocate(capacity: 1)
    state.initialize(to: State(Self.slot(path)))
    fadeFrames = Int(Self.fadeSeconds * sampleRate)
    shape = AlignedFloats(count: fadeFrames)
    for i in 0..<fadeFrames {
      let t = (Double(i) + 0.5) / Double(fadeFrames)
      // The minimum-jerk step: its first two derivatives are zero at both ends.
      shape.pointer[i] = Float(t * t * t * (10 - 15 * t + 6 * t * t))
    }
    other = PlanarScratch(channels: 2, frames: chunkFrames)
    otherPlain = PlanarScratch(channels: 2, frames: chunkFrames)
  }

  deinit {
    collect()
    Self.free(pending.load(ordering: .acquiring))
    Self.free(UnsafeMutableRawPointer(state.pointee.coming))
    Self.free(UnsafeMutableRawPointer(state.pointee.current))
    state.deallocate()
  }

  private static func slot(_ path: consuming SpatialPath) -> UnsafeMutablePointer<Slot> {
    let slot = UnsafeMutablePointer<Slot>.allocate(capacity: 1)
    slot.initialize(to: Slot(path: path, next: nil))
    return slot
  }

  private static func free(_ pointer: UnsafeMutableRawPointer?) {
    guard let slot = pointer?.assumingMemoryBound(to: Slot.self) else { return }
    slot.deinitialize(count: 1)
    slot.deallocate()
  }

  // MARK: For other threads

  /// Offers a path to change to. The offer replaces an earlier offer that has not been taken. A
  /// change in progress is completed first.
  func offer(_ path: consuming SpatialPath) {
    unfinished.wrappingAdd(1, ordering: .relaxed)
    let slot = UnsafeMutableRawPointer(Self.slot(path))
    if let replaced = pending.exchange(slot, ordering: .acquiringAndReleasing) {
      unfinished.wrappingSubtract(1, ordering: .relaxed)
      Self.free(replaced)
    }
    collect()
  }

  func collect() {
    var list = retired.exchange(nil, ordering: .acquiring)
    while let pointer = list {
      list = pointer.assumingMemoryBound(to: Slot.self).pointee.next
      Self.free(pointer)
    }
  }

  /// Whether a change is in progress: from `offer` until only the new path is audible.
  var isSwitching: Bool { unfinished.load(ordering: .relaxed) > 0 }

  // MARK: For the audio thread

  var latencyFrames: Int { state.pointee.current.pointee.path.latencyFrames }

  var tailFrames: Int {
    @_noLocks get { state.pointee.current.pointee.path.tailFrames }
  }

  @_noLocks
  func reset() {
    state.pointee.current.pointee.path.reset()
    if let coming = state.pointee.coming { coming.pointee.path.reset() }
  }

  /// Renders the next frames with the current path, and mixes in the new path during a change.
  ///
  /// - Parameters:
  ///   - source: inputs x frames.
  ///   - ears: 2 x frames, overwritten.
  ///   - turned: receives the rotated part of the current path, 2 x frames; nil if not needed.
  ///   - plain: plain stereo, 2 x frames, equalised in place; nil if inaudible.
  ///   - frames: at most the initialiser's `chunkFrames`.
  @_noLocks
  func process(
    _ source: UnsafePointer<UnsafeMutablePointer<Float>>, poses: GridPoses,
    into ears: UnsafePointer<UnsafeMutablePointer<Float>>,
    turned: UnsafePointer<UnsafeMutablePointer<Float>>?,
    plain: UnsafePointer<UnsafeMutablePointer<Float>>?, frames: Int
  ) {
    takePending()
    let current = state.pointee.current
    state.pointee.heard = state.pointee.number
    current.pointee.path.process(
      source, poses: poses, into: ears, turned: turned, frames: frames)
    guard let coming = state.pointee.coming else {
      if let plain {
        current.pointee.path.equalisePlain(plain, frames: frames)
      } else {
        current.pointee.path.resetPlain()
      }
      return
    }
    state.pointee.heard = 0
    coming.pointee.path.process(
      source, poses: poses, into: other.planes, turned: nil, frames: frames)
    mix(other.planes, into: ears, frames)
    if let plain {
      for c in 0..<2 { copyFrames(plain[c], otherPlain.planes[c], frames) }
      current.pointee.path.equalisePlain(plain, frames: frames)
      coming.pointee.path.equalisePlain(otherPlain.planes, frames: frames)
      mix(otherPlain.planes, into: plain, frames)
    } else {
      current.pointee.path.resetPlain()
      coming.pointee.path.resetPlain()
    }
    state.pointee.position += frames
    if state.pointee.position >= fadeFrames { arrive(coming) }
  }

  /// The number of the path that the last call of `process` used; 0 if it also ran a new path.
  var heard: Int { @_noLocks get { state.pointee.heard } }

  // MARK: Rewriting, by the audible path

  /// The number of the current path, counted from 1.
  package var number: Int { @_noLocks get { state.pointee.number } }

  /// See `SpatialPath.memoryFrames`.
  var memoryFrames: Int { @_noLocks get { state.pointee.current.pointee.path.memoryFrames } }

  /// See `SpatialPath.hopFrames`.
  var hopFrames: Int { @_noLocks get { state.pointee.current.pointee.path.hopFrames } }

  @_noLocks
  func beginAgain(at frame: Int) {
    state.pointee.current.pointee.path.beginAgain(at: frame)
  }

  @_noLocks
  func processAgain(
    _ source: UnsafePointer<UnsafeMutablePointer<Float>>, poses: GridPoses,
    into ears: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) {
    state.pointee.current.pointee.path.processAgain(
      source, poses: poses, into: ears, frames: frames)
  }

  @_noLocks
  private func takePending() {
    if state.pointee.coming != nil { return }
    guard let pointer = pending.exchange(nil, ordering: .acquiringAndReleasing) else { return }
    let slot = pointer.assumingMemoryBound(to: Slot.self)
    state.pointee.coming = slot
    state.pointee.position = -slot.pointee.path.tailFrames
  }

  @_noLocks
  private func mix(
    _ new: UnsafePointer<UnsafeMutablePointer<Float>>,
    into ears: UnsafePointer<UnsafeMutablePointer<Float>>, _ frames: Int
  ) {
    let first = max(0, -state.pointee.position)
    for i in stride(from: first, to: frames, by: 1) {
      let share = shape.pointer[min(state.pointee.position + i, fadeFrames - 1)]
      for ear in 0..<2 {
        let old = ears[ear][i]
        ears[ear][i] = old + (new[ear][i] - old) * share
      }
    }
  }

  @_noLocks
  private func arrive(_ coming: UnsafeMutablePointer<Slot>) {
    let old = state.pointee.current
    state.pointee.current = coming
    state.pointee.coming = nil
    state.pointee.number += 1
    var top = retired.load(ordering: .relaxed)
    while true {
      old.pointee.next = top
      let result = retired.weakCompareExchange(
        expected: top, desired: UnsafeMutableRawPointer(old), ordering: .releasing)
      if result.exchanged { break }
      top = result.original
    }
    unfinished.wrappingSubtract(1, ordering: .relaxed)
  }
}
