// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Capture

struct RecorderBoardTests {
  /// Readings count by their number of frames; a reading without frames does not lower the level.
  @Test func readingsAreWeightedByTheirFrames() {
    let board = RecorderBoard(gain: 1)
    func add(_ level: Float, frames: Int) {
      board.add(
        ChannelLevels(
          peaks: [level], energies: [Double(level * level) * Double(frames)], frames: frames),
        FieldIntensity())
    }
    add(0.5, frames: 300)
    add(0, frames: 0)
    add(0.1, frames: 100)
    let levels = board.takeLevels()
    #expect(levels.peaks == [0.5])
    #expect(abs(levels.rms[0] - Float(0.19).squareRoot()) < 1e-6)
    #expect(board.takeLevels().rms.isEmpty)
  }
}
