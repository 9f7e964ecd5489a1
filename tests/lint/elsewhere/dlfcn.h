// SPDX-License-Identifier: Apache-2.0
#error "other systems may not have this header"
