// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Geometry
import Glibc
import HeadTracking
import TestSupport
import Testing

@testable import Playback

@Suite(.serialized) struct Tuning {
  @Test func recordings() throws {
    guard let list = getenv("TUNING_MOTION") else { return }
    let hrtf = HRTFChoice(set: RigidSphereHead().hrtfSet(sampleRate: 48_000))
    let filters = try hrtf.filters(order: 1, settings: RenderSettings(), sampleRate: 48_000)
    let gains = SphericalHarmonics.evaluate(order: 1, SIMD3(1, 0, 0))
    let seconds = 12
    let sound = PlanarSignal(channelCount: 4, frames: 48_000 * (seconds + 1)) { c, i in
      0.3 * Float(gains[c]) * Float(sin(2 * .pi * 1000 * Double(i) / 48_000))
    }
    for path in String(cString: list).split(separator: " ") {
      let motion = try RecordedMotion(path: String(path))
      let first = motion.isScored.firstIndex(of: true) ?? 0
      let t0 = motion.times[first] + 5
      var poses: [Quaternion] = []
      var last = Quaternion.identity
      var index = first
      var q0: Quaternion?
      for i in 0..<(1000 * (seconds + 1)) {
        let t = t0 + Double(i) / 1000
        while index < motion.times.count - 1, motion.times[index] < t { index += 1 }
        if let a = motion.poses[max(0, index - 1)], let b = motion.poses[index] {
          let f = (t - motion.times[index - 1]) / (motion.times[index] - motion.times[index - 1])
          last = .slerp(a, b, f)
        }
        if q0 == nil { q0 = last }
        poses.append((q0!.conjugate * last).normalized)
      }
      let at = { (t: Double) -> Quaternion in
        let x = max(0, min(Double(poses.count - 2), t * 1000))
        return .slerp(poses[Int(x)], poses[Int(x) + 1], x - Double(Int(x)))
      }
      func run(_ label: String, deaf: Bool, predict: PosePrediction, _ policy: RewritePolicy, rate: Double = 100, noise: Double = 0) {
        let server = QueueServer(sound, layout: ambiX(1), filters: filters, busOrder: 1, policy: policy)
        server.isDeaf = deaf
        server.head.takesDriftBack = false
        server.head.prediction = predict
        var tracker = SimulatedTracker(at)
        tracker.rate = rate
        tracker.noise = noise
        let begin = DispatchFree.now()
        server.play(48_000 * seconds) { tracker.push(to: $0) }
        let cpu = DispatchFree.now() - begin
        var angles: [Double] = []
        var rough = 0.0
        for g in stride(from: 3000, to: server.poses.count - 8, by: 5) {
          let t = Double(g * 16 + server.renderer.latencyFrames) / 48_000
          angles.append(Quaternion.angle(between: server.poses[g], at(t)) * 180 / .pi)
          let a = (server.poses[g].conjugate * server.poses[g + 3]).rotationVector
          let b = (server.poses[g + 3].conjugate * server.poses[g + 6]).rotationVector
          let d = (b - a) / 1e-3 / 1e-3 * 180 / .pi
          rough += (d * d).sum()
        }
        let truth = QueueServer(sound, layout: ambiX(1), filters: filters, busOrder: 1)
        _ = truth
        let sorted = angles.sorted()
        let sp = server.heard.map { spuriousDecibels($0) }
        print(path.suffix(22).prefix(12), label, "p50", r(sorted[sorted.count / 2]), "p95", r(sorted[sorted.count * 95 / 100]), "rough", Int((rough / Double(angles.count)).squareRoot()), "spurious", sp.map { r($0) }, "rewrites/s", server.rewrites / seconds, "frames/s", server.rewrittenFrames / seconds, "cpu%", r(100 * cpu / Double(seconds)))
      }
      let all = PosePrediction.automatic
      run("neither   ", deaf: true, predict: .off, RewritePolicy())
      run("predict   ", deaf: true, predict: all, RewritePolicy())
      run("rewr.nopre", deaf: false, predict: .off, RewritePolicy())
      run("default   ", deaf: false, predict: all, RewritePolicy())
      for t in [0.006, 0.015, 0.02, 0.03] {
        var p = RewritePolicy()
        p.turnSeconds = t
        run("turn \(t)", deaf: false, predict: all, p)
      }
      for (b, k) in [(0.1, 0.05), (0.3, 0.3), (0.5, 0.25), (1, 0.5)] {
        var p = RewritePolicy()
        p.band = b * .pi / 180
        p.keptBand = k * .pi / 180
        run("band \(b) \(k)", deaf: false, predict: all, p)
      }
      run("rate 25", deaf: false, predict: all, RewritePolicy(), rate: 25)
      run("rate 400", deaf: false, predict: all, RewritePolicy(), rate: 400)
      run("noise 0.05", deaf: false, predict: all, RewritePolicy(), noise: 0.05)
    }
    // A head at rest with a noisy sensor.
    for noise in [0.02, 0.05, 0.1] {
      let server = QueueServer(sound, layout: ambiX(1), filters: filters, busOrder: 1)
      var tracker = SimulatedTracker { _ in .identity }
      tracker.noise = noise
      server.play(48_000 * seconds) { tracker.push(to: $0) }
      print("rest, noise", noise, "rewrites/s", Double(server.rewrites) / Double(seconds))
    }
  }
}

func r(_ x: Double) -> Double { (x * 100).rounded() / 100 }

enum DispatchFree {
  static func now() -> Double {
    var t = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t)
    return Double(t.tv_sec) + Double(t.tv_nsec) * 1e-9
  }
}
