// SPDX-License-Identifier: BSD-3-Clause
/// Stands in for libpsm2.so.2, which speaks to Omni-Path, if there is none. Each function of it
/// that libfabric calls says so.

enum { no_device = 21 };  // PSM2_EP_NO_DEVICE

#define ABSENT(function) \
    int function(void) { return no_device; }

ABSENT(psm2_am_get_parameters)
ABSENT(psm2_am_get_source)
ABSENT(psm2_am_register_handlers_2)
ABSENT(psm2_am_reply_short)
ABSENT(psm2_am_request_short)
ABSENT(psm2_ep_close)
ABSENT(psm2_ep_connect)
ABSENT(psm2_ep_disconnect2)
ABSENT(psm2_ep_epid_lookup2)
ABSENT(psm2_ep_open)
ABSENT(psm2_ep_open_opts_get_defaults)
ABSENT(psm2_epaddr_getctxt)
ABSENT(psm2_epaddr_setctxt)
ABSENT(psm2_epaddr_to_epid)
ABSENT(psm2_error_register_handler)
ABSENT(psm2_finalize)
ABSENT(psm2_get_capability_mask)
ABSENT(psm2_info_query)
ABSENT(psm2_init)
ABSENT(psm2_mq_cancel)
ABSENT(psm2_mq_improbe2)
ABSENT(psm2_mq_imrecv)
ABSENT(psm2_mq_init)
ABSENT(psm2_mq_ipeek)
ABSENT(psm2_mq_iprobe2)
ABSENT(psm2_mq_irecv2)
ABSENT(psm2_mq_isend2)
ABSENT(psm2_mq_send2)
ABSENT(psm2_mq_test2)
ABSENT(psm2_mq_wait2)
ABSENT(psm2_poll)

const char* psm2_error_get_string(void) { return "there is no device"; }
