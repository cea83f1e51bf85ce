// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import Synchronization
import Testing

struct HelperFailure: Error, CustomStringConvertible {
  var description: String
}

/// A folder of the test's own, gone with it.
final class TemporaryFolder {
  let path: String

  init() throws {
    var name = Array("/tmp/stillstage-tracking-XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else { throw HelperFailure(description: "no temporary folder") }
    path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    guard let folder = opendir(path) else { return }
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { unlink(path + "/" + name) }
    }
    closedir(folder)
    rmdir(path)
  }

  func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    let file = fopen(path + "/" + name, "wb")
    defer { fclose(file) }
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count else {
      throw HelperFailure(description: "cannot write \(name)")
    }
    return path + "/" + name
  }

  func read(_ name: String) throws -> [UInt8] {
    guard let file = fopen(path + "/" + name, "rb") else {
      throw HelperFailure(description: "cannot read \(name)")
    }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes.prefix(count))
  }
}

/// Folders, files and links of the test's own, gone with it.
class FileTree {
  let root: String

  init() throws {
    var name = Array("/tmp/stillstage-tree-XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else { throw HelperFailure(description: "no folder") }
    root = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { _ = try? run("/bin/rm", ["-r", root]) }

  func folder(_ path: String) throws { try run("/bin/mkdir", ["-p", "\(root)/\(path)"]) }

  func link(_ path: String, to target: String) { symlink("\(root)/\(target)", "\(root)/\(path)") }

  func write(_ path: String, _ text: String) { write(path, Array((text + "\n").utf8)) }

  func write(_ path: String, _ bytes: [UInt8]) {
    guard let file = fopen(root + "/" + path, "wb") else { return }
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
  }
}

/// Runs a program to its end.
func run(_ program: String, _ arguments: [String]) throws {
  let process = try ChildProcess([program] + arguments)
  guard process.wait() == 0 else { throw HelperFailure(description: "\(program) failed") }
}

/// A program with its standard input and output in the test's hands.
final class ChildProcess: Sendable {
  let pid: pid_t
  private let input: Int32
  private let status = Mutex<Int32?>(nil)
  private let reader: pthread_t

  private final class Output {
    let descriptor: Int32
    let box: Box
    init(_ descriptor: Int32, _ box: Box) {
      self.descriptor = descriptor
      self.box = box
    }
  }

  private final class Box: Sendable {
    let lines = Mutex<[String]>([])
    let isClosed = Atomic(false)
  }
  private let box: Box

  init(_ words: [String]) throws {
    var toChild: [Int32] = [0, 0]
    var fromChild: [Int32] = [0, 0]
    guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else {
      throw HelperFailure(description: "no pipe")
    }
    _ = fcntl(toChild[1], F_SETFD, FD_CLOEXEC)
    _ = fcntl(fromChild[0], F_SETFD, FD_CLOEXEC)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
    posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
    posix_spawn_file_actions_addclose(&actions, toChild[0])
    posix_spawn_file_actions_addclose(&actions, fromChild[1])
    var arguments = words.map { strdup($0) }
    defer { for argument in arguments { free(argument) } }
    arguments.append(nil)
    // A program that has ended must not take the test with it when it is written to.
    signal(SIGPIPE, SIG_IGN)
    // Children inherit that, and the signals that the threads of the test runner hold back.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    var pipes = sigset_t()
    sigemptyset(&pipes)
    sigaddset(&pipes, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &pipes)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var id = pid_t()
    let result = posix_spawnp(&id, words[0], &actions, &attributes, arguments, environ)
    close(toChild[0])
    close(fromChild[1])
    guard result == 0 else {
      throw HelperFailure(
        description: "cannot start \(words[0]): \(String(cString: strerror(result)))")
    }
    pid = id
    input = toChild[1]
    let box = Box()
    self.box = box
    let output = Output(fromChild[0], box)
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      {
        let output = Unmanaged<Output>.fromOpaque($0!).takeRetainedValue()
        ChildProcess.follow(output.descriptor, into: output.box)
        return nil
      }, Unmanaged.passRetained(output).toOpaque())
    reader = thread
  }

  private static func follow(_ descriptor: Int32, into box: Box) {
    var pending: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(descriptor, &part, part.count)
      guard count > 0 else { break }
      pending += part[..<count]
      while let end = pending.firstIndex(of: 10) {
        let line = String(decoding: pending[..<end], as: UTF8.self)
        box.lines.withLock { $0.append(line) }
        pending.removeSubrange(...end)
      }
    }
    close(descriptor)
    box.isClosed.store(true, ordering: .releasing)
  }

  /// All lines so far.
  var output: [String] { box.lines.withLock { $0 } }

  /// Whether no more lines come.
  private var hasEnded: Bool { box.isClosed.load(ordering: .acquiring) }

  func send(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(input, bytes, bytes.count)
  }

  /// The first line from index `start` on that fits, or a failure with all there was.
  func line(
    from start: Int = 0, seconds: Double = 10, where fits: (String) -> Bool
  ) throws -> String {
    let end = monotonic_nanoseconds() + Int64(seconds * 1e9)
    while monotonic_nanoseconds() < end {
      // Asked before the lines are looked at: so none is missed.
      let isLast = hasEnded
      if let line = output.dropFirst(start).first(where: fits) { return line }
      if isLast { break }
      usleep(5000)
    }
    throw HelperFailure(
      description: "nothing fits in:\n" + output.suffix(60).joined(separator: "\n"))
  }

  /// The exit status; 128 + signal after a signal.
  @discardableResult
  func wait() -> Int32 {
    if let known = status.withLock({ $0 }) { return known }
    var raw: Int32 = 0
    while waitpid(pid, &raw, 0) < 0 && errno == EINTR {}
    pthread_join(reader, nil)
    let value = raw & 0x7F == 0 ? raw >> 8 & 0xFF : 128 + (raw & 0x7F)
    status.withLock { $0 = value }
    close(input)
    return value
  }

  deinit {
    if status.withLock({ $0 }) == nil {
      kill(pid, SIGTERM)
      wait()
    }
  }
}
