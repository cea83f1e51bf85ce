// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <curl/curl.h>

// Swift cannot call functions with variable arguments, such as curl_easy_setopt.

typedef size_t (*curl_bytes_callback)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode curl_set_number(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode curl_set_text(CURL *handle, CURLoption option, const char *text) {
  return curl_easy_setopt(handle, option, text);
}

static inline CURLcode curl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode curl_set_body(CURL *handle, curl_bytes_callback take, void *context) {
  CURLcode result = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take);
  return result ? result : curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
}

static inline CURLcode curl_set_header(CURL *handle, curl_bytes_callback take, void *context) {
  CURLcode result = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take);
  return result ? result : curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
}

static inline CURLcode curl_set_opener(CURL *handle, curl_opensocket_callback open, void *context) {
  CURLcode result = curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open);
  return result ? result : curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, context);
}

/// Restricts transfers to HTTP and HTTPS. With curl 7.87 or later, also lets a transfer end while
/// its host name is being resolved.
static inline void curl_set_limits(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
  curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#endif
}

/// Returns the HTTP status of the response; 0 if there is no response.
static inline long curl_status(CURL *handle) {
  long value = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &value);
  return value;
}

/// Returns the announced length of the body in bytes; -1 if it is unknown.
static inline long long curl_expected_length(CURL *handle) {
  curl_off_t value = -1;
  curl_easy_getinfo(handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &value);
  return value;
}

/// Returns the absolute address to which the response redirects; NULL if it does not redirect. The
/// text is valid until the handle is used again.
static inline const char *curl_redirect(CURL *handle) {
  const char *value = 0;
  curl_easy_getinfo(handle, CURLINFO_REDIRECT_URL, &value);
  return value;
}

/// Returns whether a transfer of the multi handle has ended. If so, writes its result to `result`.
static inline int curl_ended(CURLM *multi, CURLcode *result) {
  int left = 0;
  for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
    if (message->msg == CURLMSG_DONE) {
      *result = message->data.result;
      return 1;
    }
  }
  return 0;
}
