// SPDX-License-Identifier: Apache-2.0

/// A list that grows in pages of constant size. Unlike an array, it does not copy its elements when
/// it grows, so it needs little more memory than the elements.
struct PagedList<Element> {
  // The unused part of a page takes hardly any memory, because the system provides memory only when
  // it is first written.
  private static var pageSize: Int { 1 << 16 }

  private var pages: [[Element]] = []
  private(set) var count = 0

  /// The elements in the order in which they were added.
  var elements: FlattenSequence<[[Element]]> { pages.joined() }

  mutating func append(_ element: Element) {
    if count % Self.pageSize == 0 {
      pages.append([])
      pages[pages.count - 1].reserveCapacity(Self.pageSize)
    }
    pages[pages.count - 1].append(element)
    count += 1
  }
}
