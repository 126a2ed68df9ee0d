// SPDX-License-Identifier: BSD-3-Clause
/// Stands in for libpsm_infinipath.so.1, which speaks to True Scale, if there is none. Each
/// function of it that libfabric calls says so.

enum { no_device = 21 };  // PSM_EP_NO_DEVICE

#define ABSENT(function) \
    int function(void) { return no_device; }

ABSENT(psm_am_get_parameters)
ABSENT(psm_am_register_handlers)
ABSENT(psm_am_reply_short)
ABSENT(psm_am_request_short)
ABSENT(psm_ep_close)
ABSENT(psm_ep_connect)
ABSENT(psm_ep_epid_lookup)
ABSENT(psm_ep_num_devunits)
ABSENT(psm_ep_open)
ABSENT(psm_ep_open_opts_get_defaults)
ABSENT(psm_epaddr_getctxt)
ABSENT(psm_epaddr_setctxt)
ABSENT(psm_error_register_handler)
ABSENT(psm_finalize)
ABSENT(psm_init)
ABSENT(psm_mq_cancel)
ABSENT(psm_mq_finalize)
ABSENT(psm_mq_init)
ABSENT(psm_mq_ipeek)
ABSENT(psm_mq_iprobe)
ABSENT(psm_mq_irecv)
ABSENT(psm_mq_isend)
ABSENT(psm_mq_send)
ABSENT(psm_mq_test)

const char* psm_error_get_string(void) { return "there is no device"; }
