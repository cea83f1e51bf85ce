// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Laboratory

/// The rows of `bench render`.
struct BenchPlan {
  var orders: [Int]
  var blocks: [Int]
  /// Whether to measure only the main rows.
  var isQuick: Bool

  static let beds: [(name: String, speakers: [Speaker])] = {
    let front: [Speaker] = [.frontLeft, .frontRight, .frontCenter, .lowFrequency]
    let seven = front + [.backLeft, .backRight, .sideLeft, .sideRight]
    let top: [Speaker] = [.topFrontLeft, .topFrontRight, .topBackLeft, .topBackRight]
    return [("5.1", front + [.sideLeft, .sideRight]), ("7.1", seven), ("7.1.4", seven + top)]
  }()

  static func layout(of job: BenchJob) -> ChannelLayout {
    let bed = beds.first { $0.name == job.source }
    return bed.map { .speakers($0.speakers) }
      ?? .ambisonics(order: job.order, convention: .ambiX, headLocked: false)
  }

  /// The jobs in the order of measurement. A bare-loop job directly follows the decoder job with
  /// the same path, order and block size.
  var jobs: [BenchJob] {
    var jobs: [BenchJob] = []
    let judged = blocks.filter { $0 == 32 || $0 == 128 }
    for order in orders {
      for block in isQuick && !judged.isEmpty ? judged : blocks {
        for path in [BenchJob.Path.full, .symmetric] {
          for renderer in [BenchJob.Renderer.decoder, .bareLoop] {
            jobs.append(
              BenchJob(renderer: renderer, path: path, order: order, blockFrames: block))
          }
        }
        if !isQuick || block == 128 {
          jobs.append(BenchJob(renderer: .renderer, order: order, blockFrames: block))
        }
      }
      let once = orders.min() == order || !isQuick
      if blocks.contains(128), once {
        jobs.append(BenchJob(renderer: .libspatialaudio, order: order, blockFrames: 128))
        jobs.append(BenchJob(renderer: .reference, order: order, blockFrames: 128))
      }
    }
    return isQuick ? jobs : jobs + beds + lengths
  }

  private var beds: [BenchJob] {
    Self.beds.flatMap { bed in
      [5, 7].map { BenchJob(renderer: .renderer, source: bed.name, order: $0, blockFrames: 128) }
    }
  }

  private var lengths: [BenchJob] {
    orders.filter { $0 <= 3 }.flatMap { order in
      [128, 1024, 2048, 4096, 8192].flatMap { taps in
        blocks.filter { [32, 128, 512].contains($0) }.map {
          BenchJob(renderer: .decoder, order: order, blockFrames: $0, taps: taps)
        }
      }
    }
  }
}
