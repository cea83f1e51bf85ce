// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Capture

struct PagedListTests {
  @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 200_000])
  func keepsElementsInTheirOrder(count: Int) {
    var list = PagedList<Int32>()
    for value in 0..<count { list.append(Int32(value)) }
    #expect(list.count == count)
    #expect(list.elements.elementsEqual((0..<count).map { Int32($0) }))
  }
}
