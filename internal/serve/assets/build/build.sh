#!/usr/bin/env bash
# Makes the vendored scripts anew: uPlot as it is published, and of ECharts the parts that draw.js uses. Needs npm and a registry;
# nobody else does, for the results are in the repository, compressed. Licences lie in ../licenses.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here/package.json" "$here/echarts.mjs" "$work"
cd "$work"
npm install --no-audit --no-fund
npx esbuild echarts.mjs --bundle --minify --format=iife --global-name=echarts \
  --banner:js='/*! Apache ECharts 6.1.0 (Apache-2.0), with zrender (BSD-3-Clause) and tslib (0BSD) */' --legal-comments=none --outfile="$here/../echarts.js"
cp node_modules/uplot/dist/uPlot.iife.min.js "$here/../uplot.js"
cp node_modules/uplot/dist/uPlot.min.css "$here/../uplot.css"
gzip -9nf "$here/../echarts.js" "$here/../uplot.js"
