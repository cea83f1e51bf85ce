// SPDX-License-Identifier: Apache-2.0

private import CRealtime
private import CSpawn
private import Glibc

/// How a program ended, or why this process killed it.
public enum ProgramEnding: Sendable, Equatable {
  case exited(Int32)
  case signalled(Int32)
  case timedOut
  case tooMuchOutput
  case cancelled
  /// The status is lost, because an earlier call of `ChildProcess.ending` or another part of this
  /// process collected it.
  case unknown

  /// The exit code, or the negated signal number; nil for all other endings.
  public var code: Int32? {
    switch self {
    case .exited(let code): code
    case .signalled(let signal): -signal
    default: nil
    }
  }
}

extension ProgramEnding: CustomStringConvertible {
  /// A phrase for error messages.
  public var description: String {
    switch self {
    case .exited(let code): "exit code \(code)"
    case .signalled(let signal): "signal \(signal)"
    case .timedOut: "it took too long"
    case .tooMuchOutput: "it printed too much"
    case .cancelled: "it was cancelled"
    case .unknown: "its exit code is unknown"
    }
  }
}

/// A program that this process has started. Copies of the value refer to the same program.
public struct ChildProcess: Sendable {
  public let id: Int32

  /// Returns how the process ended; nil while it is running. The first call after the end collects
  /// the status; later calls return `unknown`.
  public func ending() -> ProgramEnding? {
    var status: Int32 = 0
    while true {
      let result = waitpid(id, &status, WNOHANG)
      if result == 0 { return nil }
      if result == id { return Self.ending(status) }
      if errno != EINTR { return .unknown }
    }
  }

  /// Waits for the process to end and returns how it ended. Returns nil after the timeout or when
  /// `goesOn` returns false.
  ///
  /// - Parameters:
  ///   - seconds: the longest time to wait.
  ///   - pauseMilliseconds: the time between two checks.
  ///   - goesOn: whether to keep waiting.
  public func wait(
    seconds: Double = .infinity, pauseMilliseconds: Double = 2, while goesOn: () -> Bool = { true }
  ) -> ProgramEnding? {
    let end = monotonic_nanoseconds() + Int64(min(seconds, 1e9) * 1e9)
    while true {
      if let ending = ending() { return ending }
      guard monotonic_nanoseconds() < end, goesOn() else { return nil }
      usleep(useconds_t(pauseMilliseconds * 1000))
    }
  }

  /// How the main thread of a process has used processors so far.
  public struct ProcessorUse {
    /// The time on a processor, and the time spent waiting for one, in nanoseconds. A wait that has
    /// not ended is not included.
    public var (used, waited): (Int64, Int64) = (0, 0)
    /// Whether the main thread is running or waiting for a processor.
    public var isReady = false
  }

  /// The values from /proc/ID/schedstat and /proc/ID/stat; 0 or false if a file cannot be read.
  public var processorUse: ProcessorUse {
    func text(_ name: String) -> [UInt8] { (try? SystemFile.contents("/proc/\(id)/\(name)")) ?? [] }
    let words = text("schedstat").split(separator: UInt8(ascii: " ")).prefix(2)
      .map { Int64(String(decoding: $0, as: UTF8.self)) ?? 0 }
    var use = ProcessorUse()
    if words.count == 2 { (use.used, use.waited) = (words[0], words[1]) }
    // The state follows the name, which is in parentheses.
    let state = text("stat")
    if let end = state.lastIndex(of: UInt8(ascii: ")")) {
      use.isReady = state[end...].dropFirst(2).first == UInt8(ascii: "R")
    }
    return use
  }

  /// Kills the process, and its process group if it leads one, and collects the status.
  public func destroy() {
    if getpgid(id) == id { kill(-id, SIGKILL) }
    kill(id, SIGKILL)
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0, errno == EINTR {}
  }

  private static func ending(_ status: Int32) -> ProgramEnding {
    let signal = status & 0x7f
    return signal == 0 ? .exited((status >> 8) & 0xff) : .signalled(signal)
  }
}

/// Kills a process or a process group when this process dies.
public final class ProcessGuardian: Sendable {
  private let shell: ChildProcess
  private let pipe: SystemPipe

  /// Starts watching this process.
  ///
  /// - Parameter target: the ID of the process to kill, or the negated ID of a process group.
  /// - Throws: the system's error if the watching process cannot be started.
  public init(killing target: Int32) throws(SystemError) {
    pipe = try SystemPipe()
    var launch = ProgramLaunch(["/bin/sh", "-c", "read line; kill -KILL \(target)"])
    launch.environment = ["PATH=/usr/bin:/bin"]
    launch.input = .descriptor(pipe.reader)
    launch.group = .own
    shell = try launch.start()
    pipe.closeReader()
  }

  /// Ends the watch without killing the target.
  deinit { shell.destroy() }
}

/// A pipe that child processes do not inherit.
public final class SystemPipe: @unchecked Sendable {
  public private(set) var reader: Int32
  public private(set) var writer: Int32

  public init() throws(SystemError) {
    var ends: [Int32] = [-1, -1]
    guard spawn_pipe(&ends) == 0 else { throw .latest }
    (reader, writer) = (ends[0], ends[1])
  }

  deinit {
    closeReader()
    closeWriter()
  }

  public func closeReader() {
    if reader >= 0 { close(reader) }
    reader = -1
  }

  public func closeWriter() {
    if writer >= 0 { close(writer) }
    writer = -1
  }
}
