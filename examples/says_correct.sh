#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# says_correct.sh COMMAND...: fails unless the command succeeds and says that its result is correct.
said=$("$@") || exit
echo "$said"
case $said in *", correct"*) ;; *) exit 1 ;; esac
