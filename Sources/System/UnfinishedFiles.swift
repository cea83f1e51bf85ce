// SPDX-License-Identifier: Apache-2.0

private import Glibc
private import Synchronization

/// The temporary files to delete if the process ends before they are complete.
///
/// ## Threading
/// Any thread may call these functions.
public enum UnfinishedFiles {
  private static let paths = Mutex<Set<String>>([])

  /// Registers a file. Call this before the file is created.
  public static func add(_ path: String) { paths.withLock { _ = $0.insert(path) } }

  /// Forgets a file.
  public static func forget(_ path: String) { paths.withLock { _ = $0.remove(path) } }

  /// Deletes the registered files. Call this just before the process ends.
  public static func deleteAll() {
    paths.withLock { paths in
      for path in paths { unlink(path) }
      paths = []
    }
  }
}
