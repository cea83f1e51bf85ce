// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Testing

struct RemovalPauseTests {
  @Test("Playback pauses at a removal and resumes when the earphones are put back")
  func pausesAndResumes() {
    var pause = RemovalPause()
    #expect(pause.action(isOut: true, isPaused: false) == .pause)
    #expect(pause.action(isOut: false, isPaused: true) == .resume)
    #expect(pause.action(isOut: false, isPaused: true) == nil)
  }

  @Test("A pause by the user stays when the earphones are taken out and put back")
  func leavesThePauseOfTheUser() {
    var pause = RemovalPause()
    #expect(pause.action(isOut: true, isPaused: true) == nil)
    #expect(pause.action(isOut: false, isPaused: true) == nil)
  }

  @Test("A pause by the user stays if the user had resumed while the earphones were out")
  func forgetsARemovalOnceTheUserResumes() {
    var pause = RemovalPause()
    #expect(pause.action(isOut: true, isPaused: false) == .pause)
    pause.notePlaying()
    #expect(pause.action(isOut: false, isPaused: true) == nil)
  }
}
