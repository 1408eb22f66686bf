// The parts of ECharts that draw.js uses; build.sh bundles them into ../echarts.js.gz.
import * as core from 'echarts/core';
import { HeatmapChart, ScatterChart } from 'echarts/charts';
import { GridComponent, TooltipComponent, VisualMapContinuousComponent } from 'echarts/components';
import { CanvasRenderer } from 'echarts/renderers';

core.use([HeatmapChart, ScatterChart, GridComponent, TooltipComponent, VisualMapContinuousComponent, CanvasRenderer]);
export const init = core.init;
