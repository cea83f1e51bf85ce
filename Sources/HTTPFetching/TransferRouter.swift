// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking
import Synchronization

/// The session's delegate, which forwards each callback to the transfer of its task. (On Linux,
/// Foundation does not call delegates of individual tasks.)
///
/// Foundation terminates the process if a completion handler is called for a task that was
/// cancelled in the meantime. So handlers are called under a lock, and a task is cancelled only
/// after it has been removed under the same lock.
///
/// Cancelling a task can block for as long as a server sends data faster than the data is read. So
/// tasks are cancelled on a separate queue, and data that still arrives is dropped.
final class TransferRouter: NSObject, URLSessionDataDelegate, Sendable {
  private let transfers = Mutex<[Int: Transfer]>([:])
  private let ending = DispatchQueue(label: "HTTPFetching.ending")

  func add(_ transfer: Transfer, for task: URLSessionTask) {
    transfers.withLock { $0[task.taskIdentifier] = transfer }
  }

  /// Cancels a task, and stops forwarding its callbacks.
  func cancel(_ task: URLSessionTask) {
    transfers.withLock { $0[task.taskIdentifier] = nil }
    ending.async { task.cancel() }
  }

  func end(_ session: URLSession) { ending.async { session.invalidateAndCancel() } }

  /// Runs a body that calls a completion handler, unless the task was cancelled.
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
    // If the redirect is refused, the thread that waits for the transfer cancels the task.
    let goesOn = transfer(task)?.follow(request.url?.absoluteString ?? "") ?? false
    answer(task) { completionHandler(goesOn ? request : nil) }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    transfer(task)?.end(error)
  }
}
