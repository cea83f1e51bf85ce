// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Binaural
public import Media
private import Surround

/// Finds an HRTF set and makes decoder filters from it.
public struct HRTFChoice: Sendable {
  /// The set as read, before it is resampled.
  public let set: HRTFSet
  /// Notes for the listener, one sentence each.
  public let notes: [String]

  private let interrupt: InterruptFlag?

  /// Uses a set that is already loaded.
  ///
  /// - Parameters:
  ///   - set: the set as read.
  ///   - interrupt: cancels a design in progress.
  public init(set: HRTFSet, interrupt: InterruptFlag? = nil) {
    self.set = set
    self.interrupt = interrupt
    notes = set.notes
  }

  /// Reads a set.
  ///
  /// - Parameters:
  ///   - path: a SOFA file; nil for libmysofa's default set, or a rigid sphere if that is missing
  ///     or cannot be read, so that playback is always possible.
  ///   - loader: reads SOFA files.
  ///   - interrupt: cancels the reading, or a design in progress.
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
      notes = ["libmysofa's default.sofa is not installed; the built-in rigid-sphere head is used"]
      return
    }
    do throws(HRTFError) {
      set = try loader.load(found)
      notes = set.notes
    } catch {
      if error == .interrupted { throw .interrupted }
      set = RigidSphereHead().hrtfSet(sampleRate: 48000)
      notes = ["\(error.description); the built-in rigid-sphere head is used"]
    }
  }

  /// Returns the filters that decode a source of a layout.
  ///
  /// - Parameters:
  ///   - layout: the layout of the channels; not `.unknown`.
  ///   - settings: the decoder and its order, the equalisation, the head and the playback device.
  ///   - sampleRate: the sample rate of the output, in Hz.
  /// - Throws: `PlaybackError.notFirstOrder` if the settings ask for the parametric decoder and the
  ///   source is not a first-order soundfield.
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

  /// Returns the filters that decode a soundfield of an order, 1 to 7, with the linear decoder.
  ///
  /// - Parameters:
  ///   - order: the order of the soundfield.
  ///   - settings: the design, the equalisation, the head and the playback device.
  ///   - sampleRate: the sample rate of the output, in Hz.
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

  /// Returns the set, scaled to the size of the listener's head.
  private func personal(_ settings: RenderSettings) throws(PlaybackError) -> HRTFSet {
    guard let circumference = settings.headCircumference else { return set }
    guard let own = HeadSize(of: set) else { throw .noHeadSize(set.name) }
    return set.withInterauralDelays(scaledBy: circumference / own.circumference)
  }

  /// Returns the filters for the playback device, which include the headphone equaliser or the
  /// crosstalk cancellation.
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
