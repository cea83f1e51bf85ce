// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking
import Synchronization

/// The session's delegate: hands on to each transfer what is meant for it. (Delegates of single
/// tasks are not called by Foundation on Linux.)
///
/// Foundation ends the process when it is answered about a task that was cancelled in the meantime.
/// So answers are given under one lock, and a task is cancelled when nothing is answered about it
/// any more.
///
/// A task that is cancelled is waited for by Foundation, for as long as a server pours faster than
/// can be read. So that is done on a queue of its own; what still comes is let go.
final class TransferRouter: NSObject, URLSessionDataDelegate, Sendable {
  private let transfers = Mutex<[Int: Transfer]>([:])
  private let ending = DispatchQueue(label: "HTTPFetching.ending")

  func add(_ transfer: Transfer, for task: URLSessionTask) {
    transfers.withLock { $0[task.taskIdentifier] = transfer }
  }

  /// Cancels a task; nothing of it is handed on any more.
  func cancel(_ task: URLSessionTask) {
    transfers.withLock { $0[task.taskIdentifier] = nil }
    ending.async { task.cancel() }
  }

  func end(_ session: URLSession) { ending.async { session.invalidateAndCancel() } }

  /// Answers what Foundation waits for, unless the task was cancelled.
  private func answer(_ task: URLSessionTask, _ body: () -> Void) {
    transfers.withLock { if $0[task.taskIdentifier] != nil { body() } }
  }

  private func transfer(_ task: URLSessionTask) -> Transfer? {
    transfers.withLock { $0[task.taskIdentifier] }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    let goesOn = transfer(dataTask)?.begin(response) ?? false
    answer(dataTask) { completionHandler(goesOn ? .allow : .cancel) }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    transfer(dataTask)?.take(data)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping (URLRequest?) -> Void
  ) {
    // Who waits for the transfer cancels it where it is refused.
    let goesOn = transfer(task)?.follow(request.url?.absoluteString ?? "") ?? false
    answer(task) { completionHandler(goesOn ? request : nil) }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    transfer(task)?.end(error)
  }
}
