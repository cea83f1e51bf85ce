// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Binaural

@Suite("Finding the default set and the reader")
struct HRTFLocatorTests {
  private func locate(
    _ files: Set<String>, _ variables: [String: String] = [:], _ package: [String: String] = [:]
  ) -> String? {
    HRTFLocator(
      variable: { variables[$0] }, exists: { files.contains($0) }, package: { package[$0] }
    ).defaultPath()
  }

  @Test("The Debian path is searched before the local path")
  func systemPathsAreSearchedInOrder() {
    let debian = "/usr/share/libmysofa/default.sofa"
    let local = "/usr/local/share/libmysofa/default.sofa"
    #expect(locate([debian, local]) == debian)
    #expect(locate([local]) == local)
    #expect(locate([]) == nil)
  }

  @Test("XDG directories take precedence; relative ones are ignored")
  func xdgDirectoriesTakePrecedence() {
    let own = "/home/a/.local/share/libmysofa/default.sofa"
    let set = "/data/libmysofa/default.sofa"
    let debian = "/usr/share/libmysofa/default.sofa"
    #expect(locate([own, debian], ["HOME": "/home/a"]) == own)
    #expect(locate([own, set, debian], ["HOME": "/home/a", "XDG_DATA_HOME": "/data"]) == set)
    #expect(locate([set, debian], ["XDG_DATA_DIRS": "here:/data"]) == set)
    #expect(locate(["here/libmysofa/default.sofa"], ["XDG_DATA_DIRS": "here"]) == nil)
  }

  @Test("pkg-config is queried last")
  func pkgConfigIsQueriedLast() {
    let opt = "/srv/share/libmysofa/default.sofa"
    let debian = "/usr/share/libmysofa/default.sofa"
    #expect(locate([opt], [:], ["prefix": "/srv"]) == opt)
    #expect(locate([opt, debian], [:], ["prefix": "/srv"]) == debian)
    #expect(
      locate(["/srv/lib/../share/libmysofa/default.sofa"], [:], ["libdir": "/srv/lib"]) != nil)
  }

  @Test(
    "The reader is searched for beside the program and in libexec",
    .enabled(if: environmentVariable("STILLSTAGE_SOFA") == nil, "STILLSTAGE_SOFA names a reader"))
  func readerPathsAreProgramFolderAndLibexec() throws {
    let places = SofaLoader.readerPlaces
    try #require(places.count == 2)
    #expect(isExecutableFile(places[0]))
    #expect(places[1].hasSuffix("/../libexec/stillstage/stillstage-sofa"))
  }
}
