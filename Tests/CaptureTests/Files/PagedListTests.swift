// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Capture

struct PagedListTests {
  @Test(arguments: [0, 1, 2047, 2048, 2049, 10_000])
  func keepsElementsInTheirOrder(count: Int) {
    var list = PagedList<UInt16>()
    for value in 0..<count { list.append(UInt16(value)) }
    #expect(list.count == count)
    #expect(list.elements.elementsEqual((0..<count).map { UInt16($0) }))
  }
}
