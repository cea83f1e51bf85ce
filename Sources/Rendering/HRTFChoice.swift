// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Binaural
public import Media
private import Surround

/// An HRTF set from which decoder filters are designed.
public struct HRTFChoice: Sendable {
  /// The HRTF set before resampling and head scaling.
  public let set: HRTFSet
  /// Notes for the listener about the HRTF set.
  public let notes: [String]

  private let interrupt: InterruptFlag?
  private let cache: DesignCache?

  /// Creates a choice with a loaded HRTF set. Raising `interrupt` cancels a design.
  public init(set: HRTFSet, interrupt: InterruptFlag? = nil) {
    self.set = set
    self.interrupt = interrupt
    cache = .standard
    notes = set.notes
  }

  /// Reads an HRTF set from a file.
  ///
  /// - Parameters:
  ///   - path: a SOFA file; nil for libmysofa's default set. If that default set cannot be found or
  ///     read, a rigid sphere is used.
  ///   - loader: reads the file. Its cache is also used for the designs. Its `isCancelled` is
  ///     replaced unless `interrupt` is nil.
  ///   - interrupt: a flag that, once raised, cancels the reading or a later design; nil for none.
  /// - Throws: `PlaybackError.hrtf` if the set at `path` cannot be read;
  ///   `PlaybackError.interrupted`.
  public init(
    path: String?, loader: SofaLoader = SofaLoader(cache: .standard),
    interrupt: InterruptFlag? = nil
  ) throws(PlaybackError) {
    self.interrupt = interrupt
    cache = loader.cache
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
      notes = ["libmysofa's default.sofa was not found; the built-in rigid-sphere head is used"]
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

  /// Returns the decoder filters for a layout.
  ///
  /// - Parameters:
  ///   - layout: the layout of the channels; not `.unknown`.
  ///   - settings: the decoder, the bus order, the equalisation, the head size, the playback device
  ///     and the headphone profile.
  ///   - sampleRate: the sample rate of the output, in Hz.
  /// - Throws: `PlaybackError.directNeedsSpeakers`, `.notFirstOrder` or
  ///   `.parametricNeedsHeadphones` if the decoder does not support the layout or the playback
  ///   device; `.noHeadSize` if the set cannot be scaled to the head; `.hrtf` if the filters cannot
  ///   be designed; `.interrupted`.
  public func filters(
    for layout: ChannelLayout, settings: RenderSettings, sampleRate: Double
  ) throws(PlaybackError) -> BinauralFilters {
    let set = try personal(settings)
    if settings.isDirect {
      guard case .speakers = layout else { throw .directNeedsSpeakers }
      let design = DirectDesign(equalisation: settings.equalisation)
      let direct: BinauralFilters
      do throws(HRTFError) {
        direct = try design.filters(
          for: set, sampleRate: sampleRate, cache: cache,
          isCancelled: { [interrupt] in interrupt?.isRaised ?? false })
      } catch { throw PlaybackError(error) }
      return try finished(direct, set, settings)
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
    return try finished(filters, set, settings)
  }

  /// Returns the filters of the linear decoder for a soundfield.
  ///
  /// - Parameters:
  ///   - order: the order of the soundfield, 1 to 7.
  ///   - settings: the design, the equalisation, the head size, the playback device and the
  ///     headphone profile.
  ///   - sampleRate: the sample rate of the output, in Hz.
  /// - Throws: `PlaybackError.noHeadSize` if the set cannot be scaled to the head; `.hrtf` if the
  ///   filters cannot be designed; `.interrupted`.
  public func filters(
    order: Int, settings: RenderSettings, sampleRate: Double
  ) throws(PlaybackError) -> BinauralFilters {
    let set = try personal(settings)
    return try finished(designed(set, order, settings, sampleRate), set, settings)
  }

  private func designed(
    _ set: HRTFSet, _ order: Int, _ settings: RenderSettings, _ sampleRate: Double
  ) throws(PlaybackError) -> BinauralFilters {
    let design = DecoderDesign(
      method: settings.method, order: order, equalisation: settings.equalisation)
    do throws(HRTFError) {
      return try design.filters(
        for: set, sampleRate: sampleRate, cache: cache,
        isCancelled: { [interrupt] in interrupt?.isRaised ?? false })
    } catch { throw PlaybackError(error) }
  }

  /// Returns the set. If the settings contain a head size, the interaural delays are scaled to it.
  private func personal(_ settings: RenderSettings) throws(PlaybackError) -> HRTFSet {
    guard let circumference = settings.headCircumference else { return set }
    guard let own = HeadSize(of: set) else { throw .noHeadSize(set.name) }
    return set.withInterauralDelays(scaledBy: circumference / own.circumference)
  }

  /// Returns the filters with crosstalk cancellation for loudspeakers, or with the equaliser of the
  /// headphone profile, if there is one.
  ///
  /// - Throws: `PlaybackError.hrtf` if the filters contain numbers that are not finite.
  private func finished(
    _ filters: BinauralFilters, _ set: HRTFSet, _ settings: RenderSettings
  ) throws(PlaybackError) -> BinauralFilters {
    var finished = filters
    switch settings.playback {
    case .loudspeakers(let angle):
      let design = CrosstalkDesign(angle: angle)
      finished = filters.crossed(
        by: design.filters(for: set.prepared(sampleRate: filters.sampleRate)))
    case .headphones:
      if let headphones = settings.headphones {
        let field = settings.equalisation == .diffuse ? DiffuseField.flat : DiffuseField(set)
        finished = filters.equalised(
          by: headphones.taps(sampleRate: filters.sampleRate, field: field))
      }
    }
    guard finished.isFinite else {
      throw .hrtf(
        .refused(
          path: set.path ?? set.name,
          check: "with these settings, the decoder filters designed from it contain "
            + "numbers that are not finite"))
    }
    return finished
  }
}
