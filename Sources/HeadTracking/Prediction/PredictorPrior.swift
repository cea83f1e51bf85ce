// SPDX-License-Identifier: Apache-2.0

/// What the predictor believes before it has seen the head move.
///
/// The coefficients are the least-squares solution over an ensemble of 300 minimum-jerk turns
/// (Flash and Hogan, J. Neurosci. 1985) of 15 to 90 degrees, each lasting (0.25 s + 0.25 s for 60
/// degrees) times 0.9 to 1.8 and preceded and followed by rest; pose noise 0.1 degrees, gyroscope
/// noise 1 degree a second (0.2 and 4 for the farthest look-ahead), 100 samples a second. The noise
/// keeps differences of velocities from being trusted too far. No recording was used.
///
/// Rows: look-aheads of 20, 50, 100 and 200 ms. Columns: the features of `MotionFeatures`. Each
/// gives the mean angular velocity until then.
enum PredictorPrior {
  /// With a gyroscope.
  static let inertial: [[Double]] = [
    [0.6806, 0.8275, -0.4918, -0.0611, 0.0397],
    [1.1321, 0.9856, -1.3030, 0.1199, 0.0502],
    [1.9774, 1.1270, -2.8046, 0.6135, 0.0413],
    [0.8568, 1.2581, -0.5028, -1.2005, 0.3952],
  ]

  /// From poses alone; the first feature is not there.
  static let positional: [[Double]] = [
    [0, 0.3596, 0.8052, -0.0297, -0.2192],
    [0, 0.6134, 0.7636, -0.3382, -0.1382],
    [0, 0.8162, 0.7753, -0.6886, -0.0533],
    [0, 0.5195, 0.6047, -0.1586, -0.3120],
  ]
}
