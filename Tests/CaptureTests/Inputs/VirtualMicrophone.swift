// SPDX-License-Identifier: Apache-2.0

import Glibc
import Laboratory
import Synchronization
import System
import TestSupport

/// A private server that loads modules.
protocol ModuleServer {
  @discardableResult func pactl(_ arguments: [String]) throws -> String
}

extension PrivatePulseServer: ModuleServer {}
extension PrivatePipeWireServer: ModuleServer {}

/// A source of a private server that delivers numbered frames in real time, through a FIFO.
///
/// Channel c of frame n has the value `Numbering.value(n, c)`. PulseAudio 16 reads the FIFO in
/// pages and crashes if a page is not a whole number of frames, so frames that are recorded must
/// have 4, 8, 16 or 32 bytes.
final class VirtualMicrophone: Sendable {
  struct Form: Sendable {
    var name = "mic"
    var rate = 48_000
    var channels = 4
    var format = "float32le"
    /// The first frame's number.
    var first = 1
    /// Values to send instead of the numbered ones.
    var values: (@Sendable (_ frame: Int, _ channel: Int) -> Float)?
  }

  static let blockFrames = 240

  let form: Form
  private let path: String
  private let folder = TemporaryFolder()
  private let worker = Worker()
  private let isMuted = Atomic(false)
  let module: Int

  /// Loads the source, and begins to deliver frames.
  init(_ server: any ModuleServer, _ form: Form = Form()) throws {
    self.form = form
    path = folder.file("fifo")
    let map = (0..<form.channels).map { "aux\($0)" }.joined(separator: ",")
    let answer = try server.pactl([
      "load-module", "module-pipe-source", "source_name=\(form.name)", "file=\(path)",
      "format=\(form.format)", "rate=\(form.rate)", "channels=\(form.channels)",
      "channel_map=\(map)",
    ])
    module = Int(answer.prefix { $0.isNumber }) ?? -1
    worker.start { [unowned self] in deliver() }
  }

  deinit { worker.stop() }

  func stop() { worker.stop() }

  /// Stops or resumes delivery; the frames' numbers continue.
  func mute(_ muted: Bool) { isMuted.store(muted, ordering: .releasing) }

  private func deliver() {
    let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    // A deep pipe, so that a busy machine loses nothing.
    _ = fcntl(descriptor, setPipeSize, 1 << 18)
    var next = monotonicNow()
    var frame = form.first
    while !worker.isStopped {
      next += Int64(Self.blockFrames) * 1_000_000_000 / Int64(form.rate)
      let wait = next - monotonicNow()
      if wait > 0 { usleep(UInt32(wait / 1000)) }
      guard !isMuted.load(ordering: .acquiring) else { continue }
      let bytes = block(frame)
      _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      frame += Self.blockFrames
    }
  }

  private func block(_ first: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for frame in first..<first + Self.blockFrames {
      for channel in 0..<form.channels {
        let value = form.values?(frame, channel) ?? Numbering.value(frame, channel)
        append(value, to: &bytes)
      }
    }
    return bytes
  }

  private func append(_ value: Float, to bytes: inout [UInt8]) {
    switch form.format {
    case "s16le":
      let word = Int16(clamping: Int((value * 32_768).rounded()))
      withUnsafeBytes(of: word.littleEndian) { bytes += $0 }
    case "s32le":
      let word = Int32(clamping: Int((value * 2_147_483_648).rounded()))
      withUnsafeBytes(of: word.littleEndian) { bytes += $0 }
    default: withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes += $0 }
    }
  }
}

/// Linux's F_SETPIPE_SZ.
private let setPipeSize: Int32 = 1031

/// Frames whose values give their numbers.
enum Numbering {
  private static let period = 1 << 14

  /// Returns the value of a frame in a channel: a multiple of 2^-15, which 16 bits can hold, and
  /// never 0.
  static func value(_ frame: Int, _ channel: Int) -> Float {
    let number = frame % (period - 1) + 1
    return (channel % 2 == 0 ? 1 : -1) * Float(number) / Float(period)
      * (channel < 2 ? 1 : 0.5)
  }

  /// Returns the number of a frame, modulo the period of `value`, from its value in the first
  /// channel; nil for silence.
  static func number(_ value: Float) -> Int? {
    value == 0 ? nil : Int((value * Float(period)).rounded()) - 1
  }

  /// Returns the positions in `plane` after which the numbers do not continue.
  static func breaks(_ plane: [Float]) -> [Int] {
    plane.indices.dropLast().filter { i in
      guard let now = number(plane[i]), let next = number(plane[i + 1]) else {
        return (plane[i] == 0) != (plane[i + 1] == 0)
      }
      return (now + 1) % (period - 1) != next
    }
  }
}

func monotonicNow() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

func sleepMilliseconds(_ milliseconds: Int) { usleep(UInt32(milliseconds) * 1000) }

/// Waits at most `limit` milliseconds until a condition is true. Returns whether it became true.
func isTrue(within limit: Int, _ condition: () -> Bool) -> Bool {
  let end = monotonicNow() + Int64(limit) * 1_000_000
  while !condition() {
    guard monotonicNow() < end else { return false }
    usleep(5000)
  }
  return true
}
