// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import CommandSupport
@testable import Playback

@Suite struct ControlServerTests {
  /// A folder with a server that repeats requests.
  private func echo() throws -> (folder: TemporaryFolder, server: ControlServer) {
    let folder = TemporaryFolder()
    let server = try ControlServer(in: RuntimeFolder(path: folder.path), name: "s") { "<\($0)>" }
    return (folder, server)
  }

  private func connect(_ folder: TemporaryFolder) throws -> Int32 {
    try #require(UnixSocket.connect(in: folder.path, name: "s", seconds: 3))
  }

  private func exchange(_ socket: Int32, _ text: String) -> String {
    _ = write(text, to: socket)
    var bytes = [UInt8](repeating: 0, count: 8192)
    let count = max(0, recv(socket, &bytes, bytes.count, 0))
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  @Test func everyLineIsAnswered() throws {
    let (folder, server) = try echo()
    let socket = try connect(folder)
    #expect(exchange(socket, "one\n") == "<one>\n")
    #expect(exchange(socket, "two\nthree\n") == "<two>\n<three>\n")
    close(socket)
    server.stop()
    #expect(!folder.names.contains("s"))
  }

  @Test func socketIsTheUsersOwn() throws {
    let (folder, server) = try echo()
    var status = stat()
    #expect(stat(folder.file("s"), &status) == 0 && status.st_mode & 0o777 == 0o600)
    let runtime = RuntimeFolder(path: folder.file("stillstage"))
    try runtime.create()
    #expect(stat(runtime.path, &status) == 0 && status.st_mode & 0o777 == 0o700)
    chmod(runtime.path, 0o755)
    try runtime.create()
    #expect(stat(runtime.path, &status) == 0 && status.st_mode & 0o777 == 0o700)
    server.stop()
  }

  @Test func silentAndGarbledClientsDoNotDisturbOthers() throws {
    let (folder, server) = try echo()
    let silent = try (0..<10).map { _ in try connect(folder) }
    let garbled = try connect(folder)
    let noise = (0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 97) }
    _ = send(garbled, noise, noise.count, Int32(MSG_NOSIGNAL))
    let long = try connect(folder)
    let megabyte = [UInt8](repeating: 65, count: 1 << 20)
    var sent = 0
    while sent < megabyte.count {
      let count = send(long, megabyte, megabyte.count - sent, Int32(MSG_NOSIGNAL))
      if count <= 0 { break }
      sent += count
    }
    #expect(sent < megabyte.count)
    let good = try connect(folder)
    #expect(exchange(good, "hello\n") == "<hello>\n")
    for socket in silent + [garbled, long, good] { close(socket) }
    server.stop()
  }

  @Test func requestThatIsTooLongIsRefused() throws {
    let (folder, server) = try echo()
    let socket = try connect(folder)
    let full = String(repeating: "A", count: ControlServer.longestLine - 2)
    #expect(exchange(socket, full + "\n") == "<\(full)>\n")
    let answer = exchange(socket, full + "AA")
    #expect(answer.contains("too long"))
    var byte: UInt8 = 0
    #expect(recv(socket, &byte, 1, 0) == 0)
    close(socket)
    server.stop()
  }

  @Test func manyClientsReplaceTheOldestOnes() throws {
    let (folder, server) = try echo()
    var sockets: [Int32] = []
    for _ in 0..<60 {
      let socket = try connect(folder)
      #expect(exchange(socket, "x\n") == "<x>\n")
      sockets.append(socket)
    }
    #expect(exchange(sockets[59], "y\n") == "<y>\n")
    for socket in sockets { close(socket) }
    server.stop()
  }

  @Test func staleSocketIsReplacedAndLongPathsWork() throws {
    let folder = TemporaryFolder()
    let path = folder.file(String(repeating: "long", count: 40))
    mkdir(path, 0o700)
    try folder.write("stale", to: "\(String(repeating: "long", count: 40))/s")
    let server = try ControlServer(in: RuntimeFolder(path: path), name: "s") { $0 }
    let socket = try #require(UnixSocket.connect(in: path, name: "s", seconds: 3))
    #expect(exchange(socket, "z\n") == "z\n")
    close(socket)
    server.stop()
  }

  @Test func lockHasOneHolderAndNamesIt() throws {
    let folder = TemporaryFolder()
    let path = folder.file("lock")
    do {
      let lock = try InstanceLock(path: path)
      #expect(throws: InstanceLock.Failure.held(pid: getpid())) { try InstanceLock(path: path) }
      withExtendedLifetime(lock) {}
    }
    #expect(!folder.names.contains("lock"))
    // The file of a killed process does not block.
    try folder.write("1\n", to: "lock")
    let again = try InstanceLock(path: path)
    withExtendedLifetime(again) {}
  }

  @Test func requestsAndAnswersAreLinesOfJSON() throws {
    for request in [ControlRequest.status, .recentre, .mode(.off), .mode(.fixed)] {
      #expect(ControlRequest(line: request.line) == request)
      #expect(!request.line.contains("\n"))
    }
    for line in ["", "{", "null", #"{"request":"quit"}"#, #"{"request":"mode"}"#, "\u{0}\u{1}"] {
      #expect(ControlRequest(line: line) == nil)
    }
    for answer in [ControlAnswer.done, .error("why\nnot \"this\"")] {
      #expect(ControlAnswer(line: answer.line) == answer)
      #expect(!answer.line.contains("\n"))
    }
    #expect(ControlAnswer(line: "{}") == nil)
  }

  @Test func stateIsKeptForTheNextInstance() throws {
    let folder = TemporaryFolder()
    let runtime = RuntimeFolder(path: folder.path)
    #expect(SinkState.read(in: runtime) == nil)
    let state = SinkState(pid: 7, defaultSink: "alsa \"x\"")
    SinkState.write(state, in: runtime)
    #expect(SinkState.read(in: runtime) == state)
    try folder.write("{", to: SinkFiles.state)
    #expect(SinkState.read(in: runtime) == nil)
    SinkState.write(nil, in: runtime)
    #expect(folder.names.isEmpty)
  }
}
