// SPDX-License-Identifier: Apache-2.0
// Its precompiled header is every test's; the program itself only has to exist.
int main() { return 0; }
