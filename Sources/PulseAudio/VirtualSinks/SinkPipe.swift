// SPDX-License-Identifier: Apache-2.0

import CPulse
import Glibc
import SoundServer
import System

/// The FIFO of a virtual sink.
///
/// Frames stay in the FIFO for some time after they have been read, so that the server counts them
/// as latency. To read newer frames, `read` copies the kept and the newer frames into a private
/// pipe with `tee(2)`, and drops the kept frames there.
///
/// ## Threading
/// Use it from one thread at a time.
final class SinkPipe {
  let path: String
  let channelCount: Int
  private let bytesPerFrame: Int
  private let fifo: Int32
  private let ahead: SystemPipe
  private let sink: Int32
  /// The number of bytes at the start of the FIFO that have already been read.
  private var kept = 0
  /// The number of bytes to keep.
  private var wanted = 0
  /// The number of bytes to keep according to the plan. `adapt` may set a smaller `wanted`.
  private var planned = 0
  /// The planned least and average numbers of unread bytes before a read.
  private var (least, usual) = (0, 0)
  /// The smallest number of unread bytes since the last check.
  private var smallest = Int.max
  private var reads = 0
  private static let readsPerCheck = 32
  private(set) var pageCount = 0

  /// Deletes any file at `path`, and creates the FIFO with access for the user alone.
  ///
  /// - Throws: `systemFailure`.
  init(path: String, channelCount: Int) throws(SoundServerError) {
    self.path = path
    self.channelCount = channelCount
    bytesPerFrame = 4 * channelCount
    unlink(path)
    guard mkfifo(path, 0o600) == 0 else { throw Self.failure("create", path) }
    // Open both ends: then reading reports no end of file while the server restarts.
    fifo = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
    guard fifo >= 0 else {
      let failure = Self.failure("open", path)
      unlink(path)
      throw failure
    }
    sink = open("/dev/null", O_WRONLY | O_CLOEXEC)
    let sinkError: SystemError? = sink < 0 ? .latest : nil
    do throws(SystemError) {
      if let sinkError { throw sinkError }
      ahead = try SystemPipe()
    } catch {
      close(fifo)
      if sink >= 0 { close(sink) }
      unlink(path)
      let task = sinkError == nil ? "create a pipe" : "open /dev/null"
      throw .systemFailure(
        reason: "cannot \(task): \(error); close other programs and try again")
    }
    _ = fcntl(ahead.reader, F_SETFL, O_NONBLOCK)
  }

  deinit {
    close(fifo)
    close(sink)
    unlink(path)
  }

  private static func failure(_ verb: String, _ path: String) -> SoundServerError {
    .systemFailure(
      reason: "cannot \(verb) \(path): \(SystemError.latest); check XDG_RUNTIME_DIR")
  }

  var unread: Int { max(0, Int(pipe_fill(fifo)) - kept) / bytesPerFrame }

  /// Applies a plan. If the kernel refuses the new capacity, the FIFO keeps its old capacity, but
  /// the rest of the plan applies.
  func apply(_ plan: PipePlan) {
    planned = plan.kept * bytesPerFrame
    wanted = planned
    least = plan.least * bytesPerFrame
    usual = plan.fresh * bytesPerFrame
    guard plan.pageCount != pageCount else { return }
    guard pipe_set_capacity(fifo, Int32(plan.bytes)) >= plan.bytes else { return }
    pageCount = plan.pageCount
    _ = pipe_set_capacity(ahead.writer, Int32(plan.bytes))
  }

  /// Drops all sound except the newest `wanted` bytes, which then count as read.
  func trim() {
    let fill = Int(pipe_fill(fifo)) / bytesPerFrame * bytesPerFrame
    drop(fill - min(fill, wanted), from: fifo)
    kept = min(fill, wanted)
  }

  func empty() {
    drop(Int(pipe_fill(fifo)), from: fifo)
    kept = 0
  }

  /// Reads up to `frameCount` frames. Returns the number of frames read.
  func read(_ samples: UnsafeMutablePointer<Float>, frameCount: Int) -> Int {
    let fill = Int(pipe_fill(fifo)) / bytesPerFrame * bytesPerFrame
    kept = min(kept, fill)
    adapt(unread: fill - kept)
    let bytes = min(frameCount * bytesPerFrame, fill - kept)
    guard bytes > 0 else { return 0 }
    if kept == 0, wanted == 0 { return take(from: fifo, samples, bytes) / bytesPerFrame }
    guard pipe_tee(fifo, ahead.writer, kept + bytes) == kept + bytes else {
      drop(Int(pipe_fill(ahead.reader)), from: ahead.reader)
      return 0
    }
    drop(kept, from: ahead.reader)
    _ = take(from: ahead.reader, samples, bytes)
    let excess = max(0, kept + bytes - wanted)
    drop(excess, from: fifo)
    kept += bytes - excess
    return bytes / bytesPerFrame
  }

  /// Adapts `wanted`. If too few bytes are unread, the kept bytes take up too much of the FIFO, so
  /// fewer are kept. If more bytes than the planned average have been unread for some time, more
  /// are kept again, up to the planned number.
  private func adapt(unread: Int) {
    smallest = min(smallest, unread)
    reads += 1
    if smallest < least, kept >= wanted, wanted > 0 {
      wanted = max(0, wanted - (least - smallest + bytesPerFrame) / bytesPerFrame * bytesPerFrame)
    } else if reads >= Self.readsPerCheck, smallest > usual {
      wanted = min(planned, wanted + (smallest - usual) / bytesPerFrame * bytesPerFrame)
    } else if reads < Self.readsPerCheck {
      return
    }
    (smallest, reads) = (.max, 0)
  }

  private func take(
    from pipe: Int32, _ samples: UnsafeMutablePointer<Float>, _ bytes: Int
  ) -> Int {
    var done = 0
    while done < bytes {
      let count = Glibc.read(pipe, UnsafeMutableRawPointer(samples) + done, bytes - done)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      done += count
    }
    return done
  }

  private func drop(_ bytes: Int, from pipe: Int32) {
    var rest = bytes
    while rest > 0 {
      let count = pipe_splice(pipe, sink, rest)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      rest -= count
    }
  }
}
