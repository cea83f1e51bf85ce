// SPDX-License-Identifier: Apache-2.0

import CAllocationCounter
import CRealtime
import Glibc
import Synchronization
import Testing

/// Deliberate violations, which each detector must notice.
@Suite struct DetectorTests {
  @Test func creatingAnArrayIsCountedAsAllocation() {
    let counts = countingOperations { consume(makeArray(100)) }
    #expect(counts.allocations >= 1)
    #expect(counts.frees >= 1)
  }

  @Test func everyAllocationFunctionIsCounted() {
    let functions: [(String, () -> UnsafeMutableRawPointer?)] = [
      ("malloc", { malloc(64) }), ("calloc", { calloc(8, 8) }),
      ("realloc", { realloc(nil, 64) }), ("memalign", { operation_counter_memalign(64, 64) }),
      ("aligned_alloc", { aligned_alloc(64, 64) }),
      (
        "posix_memalign",
        {
          var memory: UnsafeMutableRawPointer?
          return posix_memalign(&memory, 64, 64) == 0 ? memory : nil
        }
      ),
    ]
    for (name, allocate) in functions {
      var memory: UnsafeMutableRawPointer?
      let counts = countingOperations { memory = allocate() }
      #expect(memory != nil, "\(name)")
      #expect(counts.allocations == 1, "\(name)")
      let freed = countingOperations { free(memory) }
      #expect(freed.frees == 1, "\(name)")
    }
  }

  @Test func mutexLocksAreCounted() {
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    defer { mutex.deallocate() }
    pthread_mutex_init(mutex, nil)
    let counts = countingOperations {
      pthread_mutex_lock(mutex)
      pthread_mutex_unlock(mutex)
    }
    pthread_mutex_destroy(mutex)
    #expect(counts.mutexLocks == 1)
  }

  @Test func objectCreationIsCounted() {
    let counts = countingOperations { consume(Leaf(value: makeArray(1).count)) }
    #expect(counts.objects >= 1)
    #expect(counts.releases >= 1)
  }

  @Test func storingAnExistentialIsCountedAsRetain() {
    let node: any Node = Leaf(value: 3)
    let keeper = Keeper()
    let counts = countingOperations {
      for _ in 0..<3 { keep(node, keeper) }
    }
    #expect(keeper.kept?.value == 3)
    #expect(counts.retains >= 3)
    #expect(counts.releases >= 2)
  }

  @Test func operationsOfOtherThreadsAreNotCounted() {
    let done = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: 1)
    done.initialize(to: Atomic(0))
    defer { done.deallocate() }
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { argument in
        let done = argument!.assumingMemoryBound(to: Atomic<Int>.self)
        while done.pointee.load(ordering: .acquiring) == 0 { sched_yield() }
        consume(Leaf(value: makeArray(100).count))
        done.pointee.store(2, ordering: .releasing)
        return nil
      }, done)
    let counts = countingOperations {
      done.pointee.store(1, ordering: .releasing)
      while done.pointee.load(ordering: .acquiring) != 2 { sched_yield() }
    }
    pthread_join(thread, nil)
    #expect(counts.allocations == 0)
    #expect(counts.objects == 0)
  }

  /// The scripts set the variable, so that a build without the sanitizer cannot pass for one with
  /// it.
  @Test func sanitizerIsPresentWhenExpected() {
    let isExpected = getenv("STILLSTAGE_EXPECT_REALTIME_SANITIZER") != nil
    #expect(!isExpected || realtime_sanitizer_present())
  }

  @Test(.enabled(if: realtime_sanitizer_present()))
  func sanitizerEndsTheProcessOnAllocation() async {
    await #expect(processExitsWith: .exitCode(43)) {
      realtime_enter()
      consume(makeArray(100))
      realtime_exit()
    }
  }

  @Test(.enabled(if: realtime_sanitizer_present()))
  func sanitizerEndsTheProcessOnLock() async {
    await #expect(processExitsWith: .exitCode(43)) {
      let mutex = Mutex(0)
      realtime_enter()
      mutex.withLock { $0 += 1 }
      realtime_exit()
    }
  }
}

private protocol Node: AnyObject {
  var value: Int { get }
}

private final class Leaf: Node {
  let value: Int
  init(value: Int) { self.value = value }
}

private final class Keeper {
  var kept: (any Node)?
}

@inline(never) private func makeArray(_ count: Int) -> [Int] {
  [Int](repeating: count, count: count)
}

@inline(never) private func keep(_ node: any Node, _ keeper: Keeper) {
  keeper.kept = node
}

@inline(never) @_optimize(none) private func consume<T>(_ value: T) {}
