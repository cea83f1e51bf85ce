// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Testing

/// Expects that the body does not allocate, free or lock, and in a release build that it does not
/// retain either (debug builds retain what they call). If RealtimeSanitizer is linked, a system
/// call or any other blocking call ends the process with code 43 and a stack trace.
///
/// The body runs twice before the counting: lazy initialisation in a first call is not the steady
/// state of an audio thread.
func expectRealtimeSafe(
  _ body: () -> Void, sourceLocation: SourceLocation = #_sourceLocation
) {
  body()
  body()
  let counts = countingOperations {
    realtime_enter()
    body()
    realtime_exit()
  }
  var allowed = OperationCounts()
  #if DEBUG
    allowed.retains = counts.retains
    allowed.releases = counts.releases
  #endif
  #expect(counts == allowed, sourceLocation: sourceLocation)
}
