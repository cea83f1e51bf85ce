// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import System

/// Answers requests from the user's other processes on a Unix socket. Each request and each answer
/// is one line of text.
///
/// A client is disconnected if it sends no complete request for 5 s, if it sends too long a line,
/// or if it leaves too many answers unread. At most 16 clients are connected; a further client
/// replaces the oldest one.
///
/// ## Threading
/// The server may be used from any thread. It answers requests on its own thread.
package final class ControlServer: Sendable {
  private let worker = Worker()
  private let wakeUp: SystemPipe
  private let folder: RuntimeFolder
  private let name: String

  static let longestLine = 4096
  private static let largestNumberOfClients = 16
  private static let patience: Int64 = 5_000_000_000

  /// Listens on the socket `name` in the folder. An existing file of that name is replaced.
  ///
  /// - Parameter answer: returns the answer to a request; both are lines without a line break.
  /// - Throws: a failure if the socket cannot be created.
  package init(
    in folder: RuntimeFolder, name: String, answer: @escaping @Sendable (String) -> String
  ) throws(CommandFailure) {
    (self.folder, self.name) = (folder, name)
    do throws(SystemError) { wakeUp = try SystemPipe() } catch {
      throw CommandFailure(
        "cannot create the control socket: \(error.description); "
          + "close other programs and try again")
    }
    guard let listener = UnixSocket.listen(in: folder.path, name: name) else {
      let reason = String(cString: strerror(errno))
      throw CommandFailure(
        "cannot create the control socket \(folder.file(name)): \(reason); "
          + "check the permissions of the folder, or free some space")
    }
    worker.start { [worker, wakeUp] in
      var clients: [Client] = []
      while !worker.isStopped {
        Self.serve(&clients, listener, wakeUp.reader, answer)
      }
      for client in clients { close(client.descriptor) }
      close(listener)
    }
  }

  deinit { stop() }

  /// Disconnects all clients and removes the socket.
  package func stop() {
    guard !worker.isStopped else { return }
    unlink(folder.file(name))
    wakeUp.closeWriter()
    worker.stop()
  }

  private struct Client {
    let descriptor: Int32
    var received: [UInt8] = []
    var unsent: [UInt8] = []
    var deadline: Int64
    /// Whether the client will be disconnected once `unsent` has been sent.
    var isLeaving = false
  }

  /// Waits for events, then serves the clients and accepts at most one new client.
  private static func serve(
    _ clients: inout [Client], _ listener: Int32, _ wakeUp: Int32, _ answer: (String) -> String
  ) {
    var requests = [
      pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
      pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
    ]
    requests += clients.map { client in
      let events = (client.unsent.isEmpty ? 0 : POLLOUT) | (client.isLeaving ? 0 : POLLIN)
      return pollfd(fd: client.descriptor, events: Int16(events), revents: 0)
    }
    let count = poll(&requests, nfds_t(requests.count), clients.isEmpty ? -1 : 500)
    // An event on the pipe means that `stop` has closed the other end.
    guard count >= 0, requests[0].revents == 0 else { return }
    let now = monotonic_nanoseconds()
    var kept: [Client] = []
    for (client, request) in zip(clients, requests.dropFirst(2)) {
      var client = client
      let isAlive = request.revents == 0 || advance(&client, request.revents, now, answer)
      let isDone = client.isLeaving && client.unsent.isEmpty
      if isAlive, !isDone, now < client.deadline {
        kept.append(client)
      } else {
        close(client.descriptor)
      }
    }
    clients = kept
    guard requests[1].revents != 0 else { return }
    let descriptor = accept(listener, nil, nil)
    guard descriptor >= 0 else {
      // If no descriptor is free, the connection stays in the queue. Do not try again at once.
      if errno != EAGAIN { usleep(50_000) }
      return
    }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    if clients.count >= largestNumberOfClients { close(clients.removeFirst().descriptor) }
    clients.append(Client(descriptor: descriptor, deadline: now + patience))
  }

  /// Reads requests and writes answers. Returns false if the client must be disconnected at once.
  private static func advance(
    _ client: inout Client, _ events: Int16, _ now: Int64, _ answer: (String) -> String
  ) -> Bool {
    if events & Int16(POLLIN) != 0, !client.isLeaving {
      var part = [UInt8](repeating: 0, count: longestLine)
      let count = recv(client.descriptor, &part, part.count, Int32(MSG_DONTWAIT))
      if count == 0 { client.isLeaving = true }
      if count < 0, errno != EAGAIN, errno != EINTR { return false }
      client.received += part[..<max(0, count)]
      while let end = client.received.firstIndex(of: 10) {
        let line = String(decoding: client.received[..<end], as: UTF8.self)
        client.received.removeSubrange(...end)
        client.unsent += Array((answer(line) + "\n").utf8)
        client.deadline = now + patience
      }
      if client.received.count >= longestLine {
        client.received = []
        client.unsent += Array((ControlAnswer.error("the request is too long").line + "\n").utf8)
        client.isLeaving = true
      }
      // Disconnect a client that sends many requests without reading the answers.
      if client.unsent.count > 1 << 20 { return false }
    } else if events & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 {
      return false
    }
    guard !client.unsent.isEmpty else { return true }
    let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    let count = send(client.descriptor, client.unsent, client.unsent.count, flags)
    if count < 0 { return errno == EAGAIN || errno == EINTR }
    client.unsent.removeFirst(count)
    return true
  }
}
