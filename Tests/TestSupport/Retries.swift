// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// Records that a test repeats an attempt that a busy machine may have disturbed.
///
/// `Tests/run-tests` sets the file in STILLSTAGE_RETRY_LOG and counts its lines at the end.
public func recordRetry(_ reason: String, fileID: String = #fileID, line: Int = #line) {
  let text = "\(fileID):\(line): \(reason.filter { $0 != "\n" })"
  print("again: \(text)")
  guard let path = getenv("STILLSTAGE_RETRY_LOG"), let file = fopen(path, "a") else { return }
  fputs(text + "\n", file)
  fclose(file)
}
