// SPDX-License-Identifier: Apache-2.0

private import Glibc

func decibels(amplitude: Double) -> Double { 20 * log10(amplitude) }

func amplitude(decibels: Double) -> Double { pow(10, decibels / 20) }
