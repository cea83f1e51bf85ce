// SPDX-License-Identifier: Apache-2.0

import HeadTracking
import Testing

@testable import Laboratory

/// Compares the model of appending and rewriting with results that can be computed by hand.
@Suite struct TrackingModelTests {
  private func degrees(
    _ change: (inout TrackingModel) -> Void, over motion: RecordedMotion
  ) throws -> Distribution {
    var model = TrackingModel()
    change(&model)
    let errors = model.errors(over: motion).map { $0 * 180 / Double.pi }
    return try #require(Distribution(errors))
  }

  /// Without prediction, the lag behind a head that turns evenly is its speed times the delay:
  /// queue, path, half a block, and the age of a sample when the block is written.
  @Test(arguments: [30.0, 100, 200])
  func appendedAndUnpredictedItIsSpeedTimesDelay(speed: Double) throws {
    let spin = GeneratedMotion.spinning(seconds: 8, degreesPerSecond: speed)
    let found = try degrees(
      {
        $0.rewrites = false
        $0.predicts = false
      }, over: spin)
    // A sample is at most one tracker interval old, and later poses of the block come from the
    // forecast of the same sample.
    #expect(found.p50 >= speed * 0.169 && found.p50 <= speed * 0.186, "\(found)")
    #expect(found.maximum <= speed * 0.192 + 0.5)
  }

  /// With rewriting, only the path and at most the time until the next report remain.
  @Test(arguments: [0.020, 0.050])
  func rewrittenItIsSpeedTimesThePath(path: Double) throws {
    let spin = GeneratedMotion.spinning(seconds: 8, degreesPerSecond: 100)
    let found = try degrees(
      {
        $0.path = path
        $0.predicts = false
      }, over: spin)
    #expect(found.p50 >= 100 * (path - 0.002) && found.p50 <= 100 * (path + 0.012), "\(found)")
  }

  /// Prediction leaves no error in an even turn.
  @Test(arguments: [true, false])
  func anEvenTurnIsPredicted(rewrites: Bool) throws {
    let spin = GeneratedMotion.spinning(seconds: 8, degreesPerSecond: 100)
    let found = try degrees({ $0.rewrites = rewrites }, over: spin)
    #expect(found.p95 < 0.5, "\(found)")
  }

  /// A resting head has no error, whatever the delay.
  @Test func aHeadThatRestsIsWhereItIs() throws {
    let rest = GeneratedMotion.spinning(seconds: 4, degreesPerSecond: 0)
    #expect(try degrees({ $0.rewrites = false }, over: rest).maximum < 1e-4)
  }

  /// The improvement that the design promises, on the built-in quick looks.
  @Test func rewritingAndPredictionEarnTheirKeep() throws {
    let motion = try #require(GeneratedMotion.all.first { $0.name == "generated-fast" }?.motion)
    func p95(_ rewrites: Bool, _ predicts: Bool) throws -> Double {
      try degrees(
        {
          $0.rewrites = rewrites
          $0.predicts = predicts
          $0.path = 0.030
        }, over: motion
      ).p95
    }
    let both = try p95(true, true)
    #expect(both <= (try p95(false, false)) / 3)
    #expect(both <= (try p95(true, false)) / 2)
  }
}
