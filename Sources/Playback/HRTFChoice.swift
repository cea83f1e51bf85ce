// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Binaural
private import Surround

/// Finds an HRTF set and makes decoders from it.
public struct HRTFChoice: Sendable {
  /// The set as it was read, before it is brought to a rate.
  public let set: HRTFSet
  /// What the listener should be told, a sentence each.
  public let notes: [String]

  /// A set that is there already.
  public init(set: HRTFSet) {
    self.set = set
    notes = set.notes
  }

  /// - Parameters:
  ///   - path: a SOFA file; nil for libmysofa's default set, and where there is none, a rigid
  ///     sphere, so that there is always something to play with.
  ///   - loader: reads SOFA files.
  public init(path: String?, loader: SofaLoader = SofaLoader()) throws(PlaybackError) {
    do throws(HRTFError) {
      if let path {
        set = try loader.load(path)
        notes = set.notes
        return
      }
    } catch { throw .hrtf(error) }
    guard let found = HRTFLocator().defaultPath() else {
      set = RigidSphereHead().hrtfSet(sampleRate: 48000)
      notes = ["libmysofa's default.sofa is not installed: the built-in rigid-sphere head is used"]
      return
    }
    do throws(HRTFError) {
      set = try loader.load(found)
      notes = set.notes
    } catch {
      set = RigidSphereHead().hrtfSet(sampleRate: 48000)
      notes = ["\(error.description): the built-in rigid-sphere head is used"]
    }
  }

  /// The filters that decode a source of a layout.
  ///
  /// - Parameters:
  ///   - layout: what the channels are; not `.unknown`.
  ///   - settings: the order for speakers, the design and the equalisation.
  ///   - sampleRate: of playing, Hz.
  /// - Throws: `PlaybackError.notFirstOrder` where the parametric decoder is asked for and the
  ///   source is something else.
  public func filters(
    for layout: ChannelLayout, settings: RenderSettings, sampleRate: Double
  ) throws(PlaybackError) -> BinauralFilters {
    var filters = try filters(
      order: Treatment(spatial: layout, busOrder: settings.busOrder).order, settings: settings,
      sampleRate: sampleRate)
    guard settings.isParametric else { return filters }
    guard case .ambisonics(1, _, _) = layout else { throw .notFirstOrder }
    filters.planeWaves = PlaneWaveResponses(
      set: set.prepared(sampleRate: sampleRate).normalized(), equalisation: settings.equalisation)
    return filters
  }

  /// The filters that decode a soundfield of an order, 1 to 7: those of every source that is
  /// played or rendered.
  ///
  /// - Parameters:
  ///   - order: of the soundfield.
  ///   - settings: the design and the equalisation.
  ///   - sampleRate: of playing, Hz.
  public func filters(
    order: Int, settings: RenderSettings, sampleRate: Double
  ) throws(PlaybackError) -> BinauralFilters {
    let design = DecoderDesign(
      method: settings.method, order: order, equalisation: settings.equalisation)
    do throws(HRTFError) {
      return try design.filters(for: set.prepared(sampleRate: sampleRate).normalized())
    } catch { throw .hrtf(error) }
  }
}
