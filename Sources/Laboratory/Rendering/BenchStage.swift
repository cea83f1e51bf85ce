// SPDX-License-Identifier: Apache-2.0

import Ambisonics
package import Binaural
import CRealtime
import Geometry
import Glibc
package import Rendering

/// Input noise, a moving head and output buffers for measuring CPU time.
package final class BenchStage {
  private static let mostFrames = 4096
  private static let mostChannels = 64
  /// The number of grid points after which the head's motion repeats.
  private static let period = 3600
  private let planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>>
  private let poses: UnsafeMutablePointer<Quaternion>

  package init() {
    planes = .allocate(capacity: Self.mostChannels + 2)
    for c in 0..<(Self.mostChannels + 2) {
      let plane = UnsafeMutablePointer<Float>.allocate(capacity: Self.mostFrames)
      for i in 0..<Self.mostFrames { (plane + i).initialize(to: .random(in: -0.1...0.1)) }
      (planes + c).initialize(to: plane)
    }
    let count = Self.period + Self.mostFrames / Renderer.gridFrames + 2
    poses = .allocate(capacity: count)
    for g in 0..<count {
      // At 48 kHz, the yaw grows by 300 degrees per second.
      let turn = Double(g % Self.period) * 0.1
      let nod = 30 * sin(turn * Double.pi / 180)
      let pose = YawPitchRoll(yaw: turn - 180, pitch: nod, roll: 0.5 * nod).quaternion
      (poses + g).initialize(to: pose)
    }
  }

  deinit {
    for c in 0..<(Self.mostChannels + 2) { planes[c].deallocate() }
    planes.deallocate()
    poses.deallocate()
  }

  private var left: UnsafeMutablePointer<Float> { planes[Self.mostChannels] }
  private var right: UnsafeMutablePointer<Float> { planes[Self.mostChannels + 1] }

  /// Returns the CPU time of decoding `blocks` blocks of `frames` frames, in seconds. `frames` is
  /// at most 4096.
  package func seconds(_ decoder: borrowing BinauralDecoder, frames: Int, blocks: Int) -> Double {
    let (planes, poses, left, right) = (planes, poses, left, right)
    let grid = PoseGrid(longestCall: frames)
    let start = cpuSeconds()
    for _ in 0..<blocks {
      let first = grid.points(forNext: frames).lowerBound % Self.period
      realtime_enter()
      decoder.process(
        input: planes, frames: frames, poses: grid.take(poses + first, forNext: frames),
        left: left, right: right)
      realtime_exit()
    }
    return cpuSeconds() - start
  }

  /// Returns the CPU time of rendering `blocks` blocks of `frames` frames, in seconds. `frames` is
  /// at most 4096.
  package func seconds(_ renderer: Renderer, frames: Int, blocks: Int) -> Double {
    let (planes, poses, left, right) = (planes, poses, left, right)
    let start = cpuSeconds()
    for _ in 0..<blocks {
      let first = renderer.gridPoints(forNext: frames).lowerBound % Self.period
      renderer.process(
        input: planes, frames: frames, poses: poses + first, left: left, right: right)
    }
    return cpuSeconds() - start
  }

  /// Returns the CPU time of decoding `frames` frames in one call, in seconds.
  package func seconds(_ reference: ReferenceDecoder, channels: Int, frames: Int) -> Double {
    let input = (0..<channels).map { c in (0..<frames).map { planes[c][$0 % Self.mostFrames] } }
    let head = (0..<ReferenceDecoder.poseCount(frames: frames)).map { poses[$0 % Self.period] }
    let start = cpuSeconds()
    _ = reference.decode(input, poses: head)
    return cpuSeconds() - start
  }
}

/// Returns the CPU time of this process, in seconds.
package func cpuSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}
