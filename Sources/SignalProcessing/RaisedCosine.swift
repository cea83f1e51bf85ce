// SPDX-License-Identifier: Apache-2.0

internal import CRealtime

/// The rise from 0 to 1 as half a period of a cosine, over the fraction 0 to 1; exact at both ends.
@_noLocks
func raisedCosine(_ fraction: Double) -> Float {
  if fraction <= 0 { return 0 }
  if fraction >= 1 { return 1 }
  return Float(0.5 - 0.5 * realtime_cos(.pi * fraction))
}
