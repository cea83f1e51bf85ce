// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Testing

/// Expects that the body allocates, frees and locks nothing, and in a release build that it retains
/// nothing either (debug builds retain what they call). Where RealtimeSanitizer is linked, a system
/// call or any other blocking call ends the process with code 43 and a stack trace.
///
/// The body runs twice before it counts: what a first call sets up lazily is not the audio thread's
/// steady state.
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
