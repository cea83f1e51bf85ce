// SPDX-License-Identifier: Apache-2.0

package import Geometry

/// What is worth remembering about an earphone between sessions.
///
/// AirPods describe their sensors once per Bluetooth link, so a program that opens the channel
/// later never sees the description.
package struct EarphoneMemory: Sendable, Equatable {
  /// The rotation in the property `H2HTransformation`, from the sensor's axes to the headset's axes
  /// (x right, y back, z down); nil if the earphone never sent one.
  package var mounting: Quaternion?
  /// The id of the motion service that the earphone last described or streamed; nil if none is
  /// known.
  package var service: UInt64?
  /// Services whose start broke the link. They are not started again in this process, and are not
  /// stored.
  package var avoided: Set<UInt64> = []
  /// The firmware version that the earphone last reported; empty if unknown.
  package var firmware: String

  package init(mounting: Quaternion? = nil, service: UInt64? = nil, firmware: String = "") {
    self.mounting = mounting
    self.service = service
    self.firmware = firmware
  }
}
