// SPDX-License-Identifier: Apache-2.0

package import Geometry

/// What is remembered about earphones. All of it except `avoided` is stored between sessions.
package struct EarphoneMemory: Sendable, Equatable {
  /// The rotation from the sensor's axes to the headset's axes (x right, y back, z down), from the
  /// property `H2HTransformation`; nil if unknown.
  package var mounting: Quaternion?
  /// The ID of the motion service; nil if unknown.
  package var service: UInt64?
  /// IDs of services whose start is assumed to have broken the link. They are not started again
  /// while the program runs.
  package var avoided: Set<UInt64> = []
  /// The firmware version that the earphones reported; empty if unknown.
  package var firmware: String

  package init(mounting: Quaternion? = nil, service: UInt64? = nil, firmware: String = "") {
    self.mounting = mounting
    self.service = service
    self.firmware = firmware
  }
}
