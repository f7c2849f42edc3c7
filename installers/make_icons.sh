#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Draws the icon's PNGs from its SVG; for whoever changes the SVG. Needs rsvg-convert (librsvg2-bin).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../resources/icons/hicolor"
for size in 16 24 32 48 64 128 256 512; do
  mkdir -p "${size}x${size}/apps"
  rsvg-convert -w $size -h $size scalable/apps/org.dsalab.DsaLab.svg -o "${size}x${size}/apps/org.dsalab.DsaLab.png"
done
