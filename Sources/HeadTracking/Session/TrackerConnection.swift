// SPDX-License-Identifier: Apache-2.0

/// An open tracker, whatever it is connected by. Belongs to one thread.
protocol TrackerConnection {
  /// True where the tracker's own reference frame survives a break of a wireless link.
  var keepsReference: Bool { get }
  /// Waits for readings and takes all there are.
  mutating func listen(timeoutMilliseconds: Int) -> TrackerNews
  /// Starts a tracker that has fallen silent again.
  mutating func restart()
  mutating func close()
}

enum TrackerNews {
  case gone
  case nothing
  /// Reports came; the readings in them, and how many reports held none.
  case readings([TrackerReading], rejected: Int)
}
