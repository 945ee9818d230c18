// SPDX-License-Identifier: Apache-2.0
// Nothing but a place to precompile the headers that all unit tests include; see max_precompile_test.
