// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import HLS
@testable import Laboratory

@Suite struct BandwidthTraceTests {
  @Test func rowsAreStepsAndBeginAgain() throws {
    let trace = try BandwidthTrace(name: "a", csv: "t,kbps\r\n0,100\r\n# quiet\r\n2,300\n\n5,0\n")
    #expect(trace.seconds == 8)
    for (time, rate) in [
      (0, 100), (1.9, 100), (2, 300), (4.9, 300), (5, 0), (7.9, 0), (8, 100),
      (10, 300), (800.5, 100),
    ] as [(Double, Double)] {
      #expect(trace.rate(at: time).bitsPerSecond == rate * 1000, "\(time) s")
    }
    #expect(trace.rate(at: 9).until == 10)
    let one = try BandwidthTrace(name: "b", csv: "0,50.5,7")
    #expect(one.seconds == 1 && one.rate(at: 3).bitsPerSecond == 50_500)
  }

  @Test func bitsTakeTheAreaUnderTheRate() throws {
    let trace = try BandwidthTrace(name: "a", csv: "0,100\n2,300\n5,0")
    // 200 kbit by 2 s, 900 more by 5 s, none from 5 to 8 s.
    for (bits, time) in [(100.0, 1.0), (200, 2), (500, 3), (1100, 5), (1200, 9)] {
      let sent = trace.send(bits * 1000, from: 0, until: 100)
      #expect(abs(sent.time - time) < 1e-5 && sent.bits == bits * 1000, "\(bits) kbit")
    }
    let part = trace.send(1e9, from: 1, until: 4)
    #expect(part.time == 4 && abs(part.bits - 700_000) < 1e-6)
  }

  @Test(arguments: [
    ("", "it has no row t,kbps with a rate above 0"),
    ("t,kbps\n", "it has no row t,kbps with a rate above 0"),
    ("0,0\n1,0", "it has no row t,kbps with a rate above 0"),
    ("t,kbps\n1,5", "line 2: the times must start at 0 and increase"),
    ("0,5\n2,5\n2,6", "line 3: the times must start at 0 and increase"),
    ("0,5\n1,-2", "line 2: the line is not of the form t,kbps with 0 <= kbps < 1e9"),
    ("0,5\n1", "line 2: the line is not of the form t,kbps with 0 <= kbps < 1e9"),
    ("0,5\nx,1", "line 2: the line is not of the form t,kbps"),
    ("0,nan", "line 1: the line is not of the form t,kbps with 0 <= kbps < 1e9"),
    ("0,5\n1,1e9", "line 2: the line is not of the form t,kbps with 0 <= kbps < 1e9"),
  ])
  func whatIsNoTraceIsRefused(text: String, message: String) {
    #expect {
      try BandwidthTrace(name: "a", csv: text)
    } throws: {
      "\($0)" == message
    }
  }

  @Test func theBuiltInLinesAreTheSameEveryTime() {
    let traces = BandwidthTrace.builtIn
    #expect(traces.map(\.name) == ["fades", "tunnels", "drop", "alternating", "ramp"])
    #expect(traces == [.fades(), .tunnels(), .drop(), .alternating(), .ramp()])
    #expect(traces.allSatisfy { $0.seconds == 1800 })
    #expect(BandwidthTrace.fades(seed: 1) != .fades(seed: 9))
    for trace in traces { #expect(trace.rates.allSatisfy { $0 > 0 && $0 < 2e7 }) }
  }

  @Test func chanceIsFair() {
    var chance = SeededGenerator(1)
    let uniform = (0..<20_000).map { _ in chance.uniform() }
    #expect(uniform.allSatisfy { $0 >= 0 && $0 < 1 })
    let mean: Double = uniform.reduce(0, +) / 20_000
    #expect(abs(mean - 0.5) < 0.01)
    let gaussian = (0..<20_000).map { _ in chance.gaussian() }
    let offset: Double = gaussian.reduce(0, +) / 20_000
    let power: Double = gaussian.reduce(0) { $0 + $1 * $1 } / 20_000
    #expect(abs(offset) < 0.03)
    #expect(abs(power - 1) < 0.05)
  }
}
