// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Binaural
public import Media
private import Surround

/// Finds an HRTF set and makes decoders from it.
public struct HRTFChoice: Sendable {
  /// The set as it was read, before it is brought to a rate.
  public let set: HRTFSet
  /// What the listener should be told, a sentence each.
  public let notes: [String]

  private let interrupt: InterruptFlag?

  /// A set that is there already.
  ///
  /// - Parameters:
  ///   - set: as it was read.
  ///   - interrupt: ends a design that is under way.
  public init(set: HRTFSet, interrupt: InterruptFlag? = nil) {
    self.set = set
    self.interrupt = interrupt
    notes = set.notes
  }

  /// - Parameters:
  ///   - path: a SOFA file; nil for libmysofa's default set, and where there is none, a rigid
  ///     sphere, so that there is always something to play with.
  ///   - loader: reads SOFA files.
  ///   - interrupt: ends the reading, or a design that is under way.
  public init(
    path: String?, loader: SofaLoader = SofaLoader(), interrupt: InterruptFlag? = nil
  ) throws(PlaybackError) {
    self.interrupt = interrupt
    var loader = loader
    if let interrupt { loader.isCancelled = { interrupt.isRaised } }
    do throws(HRTFError) {
      if let path {
        set = try loader.load(path)
        notes = set.notes
        return
      }
    } catch { throw PlaybackError(error) }
    guard let found = HRTFLocator().defaultPath() else {
      set = RigidSphereHead().hrtfSet(sampleRate: 48000)
      notes = ["libmysofa's default.sofa is not installed: the built-in rigid-sphere head is used"]
      return
    }
    do throws(HRTFError) {
      set = try loader.load(found)
      notes = set.notes
    } catch {
      if error == .interrupted { throw .interrupted }
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
    let set = try personal(settings)
    if settings.isDirect {
      guard case .speakers = layout else { throw .directNeedsSpeakers }
      let design = DirectDesign(equalisation: settings.equalisation)
      do throws(HRTFError) {
        let filters = try design.filters(
          for: set, sampleRate: sampleRate, cache: .standard,
          isCancelled: { [interrupt] in interrupt?.isRaised ?? false })
        return finished(filters, set, settings)
      } catch { throw PlaybackError(error) }
    }
    let order = Treatment(spatial: layout, busOrder: settings.busOrder).order
    guard settings.isParametric else {
      return try filters(order: order, settings: settings, sampleRate: sampleRate)
    }
    guard case .ambisonics(1, _, _) = layout else { throw .notFirstOrder }
    guard settings.playback == .headphones else { throw .parametricNeedsHeadphones }
    var filters = try designed(set, order, settings, sampleRate)
    do throws(HRTFError) {
      filters.planeWaves = try PlaneWaveResponses(
        set: set.prepared(sampleRate: sampleRate).normalized(),
        equalisation: settings.equalisation,
        isCancelled: { [interrupt] in interrupt?.isRaised ?? false })
    } catch { throw PlaybackError(error) }
    return finished(filters, set, settings)
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
    let set = try personal(settings)
    return finished(try designed(set, order, settings, sampleRate), set, settings)
  }

  private func designed(
    _ set: HRTFSet, _ order: Int, _ settings: RenderSettings, _ sampleRate: Double
  ) throws(PlaybackError) -> BinauralFilters {
    let design = DecoderDesign(
      method: settings.method, order: order, equalisation: settings.equalisation)
    do throws(HRTFError) {
      return try design.filters(
        for: set, sampleRate: sampleRate, cache: .standard,
        isCancelled: { [interrupt] in interrupt?.isRaised ?? false })
    } catch { throw PlaybackError(error) }
  }

  /// The set for a head of the listener's size.
  private func personal(_ settings: RenderSettings) throws(PlaybackError) -> HRTFSet {
    guard let circumference = settings.headCircumference else { return set }
    guard let own = HeadSize(of: set) else { throw .noHeadSize(set.name) }
    return set.withInterauralDelays(scaledBy: circumference / own.circumference)
  }

  /// The filters for what plays them: an equaliser or the cancelling of crosstalk folded in.
  private func finished(
    _ filters: BinauralFilters, _ set: HRTFSet, _ settings: RenderSettings
  ) -> BinauralFilters {
    switch settings.playback {
    case .loudspeakers(let angle):
      let design = CrosstalkDesign(angle: angle)
      return filters.crossed(
        by: design.filters(for: set.prepared(sampleRate: filters.sampleRate)))
    case .headphones:
      guard let headphones = settings.headphones else { return filters }
      let field = settings.equalisation == .diffuse ? DiffuseField.flat : DiffuseField(set)
      return filters.equalised(by: headphones.taps(sampleRate: filters.sampleRate, field: field))
    }
  }
}
