// SPDX-License-Identifier: Apache-2.0

private import CRealtime
private import Glibc

/// Runs a program and captures its standard output, within limits of time and size.
public struct CapturedProgram {
  public var launch: ProgramLaunch
  /// The maximum duration in seconds. So that runs rarely fail on a busy computer, a program may
  /// exceed the maximum by the time that its main thread has waited for a processor. It may also
  /// continue as long as that thread is ready to run and has used less processor time than the
  /// maximum. The total excess is at most `longestWait` seconds.
  public var timeoutSeconds: Double
  public static let longestWait = 50.0
  public var maximumBytes: Int
  /// `run` calls this repeatedly while the program runs, and kills the program if the result is
  /// true.
  public var isCancelled: () -> Bool

  /// Describes a program with its own process group, empty standard input and discarded error
  /// output.
  ///
  /// - Parameters:
  ///   - words: the program (a path, or a name to find in PATH) and its arguments.
  ///   - environment: nil for the environment of this process.
  public init(
    _ words: [String], environment: [String]? = nil, timeoutSeconds: Double = .infinity,
    maximumBytes: Int = .max, isCancelled: @escaping () -> Bool = { false }
  ) {
    launch = ProgramLaunch(words)
    launch.environment = environment
    launch.errors = .null
    launch.group = .own
    launch.resetsSignals = true
    launch.closesDescriptors = true
    self.timeoutSeconds = timeoutSeconds
    self.maximumBytes = maximumBytes
    self.isCancelled = isCancelled
  }

  /// Runs the program and returns its output and how it ended; nil if it cannot be started.
  public func run() -> (output: [UInt8], ending: ProgramEnding)? {
    let end = monotonic_nanoseconds() + Int64(min(timeoutSeconds, 1e9) * 1e9)
    guard let pipe = try? SystemPipe() else { return nil }
    var launch = launch
    launch.output = .descriptor(pipe.writer)
    guard let child = try? launch.start() else { return nil }
    pipe.closeWriter()
    let hasTime = {
      let late = monotonic_nanoseconds() - end
      guard late >= 0, late < Int64(Self.longestWait * 1e9) else { return late < 0 }
      let use = child.processorUse
      return late < use.waited || use.isReady && Double(use.used) < timeoutSeconds * 1e9
    }
    let (output, early) = readAll(pipe.reader, while: hasTime)
    if early == nil {
      let ending = child.wait(pauseMilliseconds: 0.5, while: { hasTime() && !isCancelled() })
      if let ending { return (output, ending) }
    }
    child.destroy()
    return (output, early ?? (isCancelled() ? .cancelled : .timedOut))
  }

  private func readAll(
    _ descriptor: Int32, while hasTime: () -> Bool
  ) -> ([UInt8], ProgramEnding?) {
    var output: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      guard !isCancelled() else { return (output, .cancelled) }
      let isLate = !hasTime()
      var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&request, 1, isLate ? 0 : 20)
      // This check may be late although the program ended in time, so read any output first.
      if ready <= 0, isLate { return (output, .timedOut) }
      if ready <= 0 { continue }
      let count = read(descriptor, &part, part.count)
      if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
      guard count > 0 else { return (output, nil) }
      guard output.count + count <= maximumBytes else { return (output, .tooMuchOutput) }
      output += part[..<count]
    }
  }
}
