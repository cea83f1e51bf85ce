// SPDX-License-Identifier: Apache-2.0

/// Minutes and seconds of a time in s, such as "1:05".
package func clockText(_ seconds: Double) -> String {
  let whole = Int(max(0, seconds))
  let (minutes, rest) = (whole / 60, whole % 60)
  return "\(minutes):\(rest < 10 ? "0" : "")\(rest)"
}
