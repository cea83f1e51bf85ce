// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The stations of one tracker sample on its way to the ears, all CLOCK_MONOTONIC nanoseconds.
public struct SampleUse: Sendable, Equatable {
  /// When the report was read.
  public var arrival: Int64
  /// When its pose, filtered and with its forecast, was there for the renderer.
  public var ready: Int64
  /// When the renderer first asked for a pose after that.
  public var used: Int64
  /// The moment for which it asked: when the first sound made with the sample is to be heard.
  public var heard: Int64

  @_noLocks
  init(arrival: Int64, ready: Int64, used: Int64, heard: Int64) {
    self.arrival = arrival
    self.ready = ready
    self.used = used
    self.heard = heard
  }

  /// Where the audio thread leaves the last use for others: written without waiting, read by trying
  /// again when the writer was in the middle of it.
  struct Board: @unchecked Sendable {
    private let words: UnsafeMutablePointer<Atomic<Int64>>

    init() {
      words = .allocate(capacity: 5)
      for index in 0..<5 { (words + index).initialize(to: Atomic(0)) }
    }

    func deallocate() { words.deinitialize(count: 5).deallocate() }

    @_noLocks
    func store(_ use: SampleUse) {
      let number = words[0].load(ordering: .relaxed)
      words[0].store(number + 1, ordering: .relaxed)
      atomicMemoryFence(ordering: .releasing)
      words[1].store(use.arrival, ordering: .relaxed)
      words[2].store(use.ready, ordering: .relaxed)
      words[3].store(use.used, ordering: .relaxed)
      words[4].store(use.heard, ordering: .relaxed)
      words[0].store(number + 2, ordering: .releasing)
    }

    func load() -> SampleUse? {
      while true {
        let number = words[0].load(ordering: .acquiring)
        let use = SampleUse(
          arrival: words[1].load(ordering: .relaxed), ready: words[2].load(ordering: .relaxed),
          used: words[3].load(ordering: .relaxed), heard: words[4].load(ordering: .relaxed))
        atomicMemoryFence(ordering: .acquiring)
        guard number & 1 == 0, words[0].load(ordering: .relaxed) == number else { continue }
        return number == 0 ? nil : use
      }
    }
  }
}
