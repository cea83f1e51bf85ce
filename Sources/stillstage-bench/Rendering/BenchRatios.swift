// SPDX-License-Identifier: Apache-2.0

extension BenchRatio {
  /// Returns each ratio for which both rows were measured.
  static func all(_ rows: [BenchRow]) -> [BenchRatio] {
    let own = rows.filter {
      $0.job.renderer == .decoder && $0.job.taps == 512 && $0.job.blockFrames == 128
    }
    return own.compactMap { againstBareLoop($0, rows) }
      + own.compactMap { ofShortBlocks($0, rows) }
      + own.compactMap { ofLibspatialaudio($0, rows) }
  }

  private static func againstBareLoop(_ own: BenchRow, _ rows: [BenchRow]) -> BenchRatio? {
    guard
      let loop = rows.first(where: { $0.job.renderer == .bareLoop && own.job.isRival(of: $0.job) })
    else { return nil }
    return BenchRatio(
      name: "order \(own.job.order), block 128, \(own.job.path): our cost / the bare loop's cost",
      value: own.millisecondsPerSecond / loop.millisecondsPerSecond,
      atMost: own.job.order == 1 ? 0.75 : 0.9)
  }

  private static func ofShortBlocks(_ own: BenchRow, _ rows: [BenchRow]) -> BenchRatio? {
    var short = own.job
    short.blockFrames = 32
    guard let row = rows.first(where: { $0.job == short }) else { return nil }
    return BenchRatio(
      name: "order \(own.job.order), \(own.job.path): cost at block 32 / at block 128",
      value: row.millisecondsPerSecond / own.millisecondsPerSecond, atMost: 2)
  }

  private static func ofLibspatialaudio(_ own: BenchRow, _ rows: [BenchRow]) -> BenchRatio? {
    guard own.job.path == .full,
      let rival = rows.first(where: {
        $0.job.renderer == .libspatialaudio && $0.job.order == own.job.order
      })
    else { return nil }
    return BenchRatio(
      name: "order \(own.job.order), block 128: libspatialaudio's cost / our cost",
      value: rival.millisecondsPerSecond / own.millisecondsPerSecond, atLeast: 10)
  }
}
