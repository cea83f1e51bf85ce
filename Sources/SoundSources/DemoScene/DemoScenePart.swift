// SPDX-License-Identifier: Apache-2.0

public import Geometry
internal import Rendering

/// An audible part of a `DemoScene`.
public enum DemoScenePart: Sendable, CaseIterable {
  case melody
  case percussion
  case bell
  case ambience

  /// The direction of the sound on the stage; nil if the sound comes from all around.
  public var direction: Direction? {
    switch self {
    case .melody: Direction(azimuth: 0)
    case .percussion: Direction(azimuth: 90)
    case .bell: Direction(azimuth: -135, elevation: 40)
    case .ambience: nil
    }
  }
}
