// SPDX-License-Identifier: Apache-2.0

/// Formats seconds as minutes and seconds, such as "1:05". A negative time becomes "0:00".
package func clockText(_ seconds: Double) -> String {
  let whole = Int(max(0, seconds))
  let (minutes, rest) = (whole / 60, whole % 60)
  return "\(minutes):\(rest < 10 ? "0" : "")\(rest)"
}
