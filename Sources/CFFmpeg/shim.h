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

// What FFmpeg writes as macros that Swift does not import.
static const int FF_ERROR_EOF = AVERROR_EOF;
static const int FF_ERROR_EXIT = AVERROR_EXIT;
static const int FF_ERROR_INVALID_DATA = AVERROR_INVALIDDATA;
static const int FF_ERROR_DEMUXER_NOT_FOUND = AVERROR_DEMUXER_NOT_FOUND;
static const int64_t FF_NO_TIMESTAMP = AV_NOPTS_VALUE;

/// FFmpeg's error code of an `errno` value.
static inline int ff_error(int number) { return AVERROR(number); }

/// Encoder delay still to be skipped is the decoder's work; it needs the packets' time base.
static inline void ff_set_packet_time_base(AVCodecContext *context, AVRational base) {
  context->pkt_timebase = base;
}
