// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/aes.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <stdint.h>

// Values of FFmpeg macros that Swift does not import.
static const int FF_ERROR_EOF = AVERROR_EOF;
static const int FF_ERROR_EXIT = AVERROR_EXIT;
static const int FF_ERROR_INVALID_DATA = AVERROR_INVALIDDATA;
static const int FF_ERROR_DEMUXER_NOT_FOUND = AVERROR_DEMUXER_NOT_FOUND;
static const int FF_ERROR_ENCODER_NOT_FOUND = AVERROR_ENCODER_NOT_FOUND;
static const int64_t FF_NO_TIMESTAMP = AV_NOPTS_VALUE;

/// Returns FFmpeg's error code for an `errno` value.
static inline int ff_error(int number) { return AVERROR(number); }

/// Sets the time base of packets. The decoder needs it to skip the encoder delay.
static inline void ff_set_packet_time_base(AVCodecContext *context, AVRational base) {
  context->pkt_timebase = base;
}
