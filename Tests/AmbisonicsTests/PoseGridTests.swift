// SPDX-License-Identifier: Apache-2.0

import Geometry
import SignalProcessing
import TestSupport
import Testing

@testable import Ambisonics

@Suite struct PoseGridTests {
  /// Returns a value that identifies its grid point; it is not a valid rotation.
  private func mark(_ point: Int) -> Quaternion {
    Quaternion(w: Double(point), x: 0, y: 0, z: 0)
  }

  /// Every point is requested once, and every frame is in a cell between the right poses.
  @Test(arguments: [[1], [16], [1000], [31, 33, 7], [5, 300]])
  func everyCellHasItsStartAndEndPose(calls: [Int]) {
    let grid = PoseGrid(longestCall: 1000)
    var (frame, asked, turn) = (0, 0, 0)
    while frame < 3000 {
      let count = calls[turn % calls.count]
      let points = grid.points(forNext: count)
      #expect(points.lowerBound == asked)
      var poses = grid.take(points.map(mark), forNext: count)
      var done = 0
      while let cell = poses.nextCell(atMost: count - done) {
        #expect(cell.frame == frame + done)
        #expect(cell.phase + cell.frames <= PoseGrid.cellFrames)
        #expect(cell.start == mark(cell.frame / PoseGrid.cellFrames))
        #expect(cell.end == mark(cell.frame / PoseGrid.cellFrames + 1))
        done += cell.frames
      }
      #expect(done == count)
      (frame, asked, turn) = (frame + count, points.upperBound, turn + 1)
    }
  }

  @Test func resetStartsAtGridPointZero() {
    let grid = PoseGrid(longestCall: 100)
    let needed = grid.points(forNext: 100)
    #expect(needed == 0..<8)
    _ = grid.take(needed.map(mark), forNext: 100)
    grid.reset()
    let again = grid.points(forNext: 1)
    #expect(again == 0..<2)
    let frame = grid.take(again.map(mark), forNext: 1).frame
    #expect(frame == 0)
  }

  /// A new decoder may start in the middle of a stream.
  @Test(arguments: [32, 37])
  func rotatorStartedMidStreamGivesTheSameOutput(first: Int) {
    let (total, stride) = (160, 192)
    let poses = (0...total / PoseGrid.cellFrames).map {
      SoundfieldRotatorTests.pose(atGridPoint: $0)
    }
    let input = AlignedFloats(count: 4 * stride)
    for c in 0..<4 { for i in 0..<total { input.pointer[c * stride + i] = .random(in: -1...1) } }
    let whole = AlignedFloats(count: 4 * stride)
    let joined = AlignedFloats(count: 4 * stride)
    let start = first / PoseGrid.cellFrames
    poses.withUnsafeBufferPointer {
      guard let poses = $0.baseAddress else { return }
      SoundfieldRotator(order: 1).process(
        input: input.pointer, output: whole.pointer, stride: stride, frames: total,
        poses: GridPoses(frame: 0, poses: poses))
      SoundfieldRotator(order: 1).process(
        input: input.pointer + start * PoseGrid.cellFrames, output: joined.pointer, stride: stride,
        frames: total - first, poses: GridPoses(frame: first, poses: poses + start))
    }
    for c in 0..<4 {
      for i in first..<total {
        let at = c * stride + i
        #expect(whole.pointer[at] == joined.pointer[at - start * PoseGrid.cellFrames])
      }
    }
  }
}
