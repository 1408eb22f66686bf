// Times evaluations of a network in ONNX Runtime's CPU library.
//
//     npm install --ignore-scripts onnxruntime-node            # in a folder of its own; 1.30.0 was measured
//     NODE_PATH=node_modules node compare/onnx_time.cjs FILE.onnx BATCH SHAPE [THREADS]
//
// SHAPE is that of one sample, such as 3x32x32. Prints one line of JSON with the median of eleven evaluations of one batch.
const ort = require("onnxruntime-node");

const [file, batch, shape, threads = "2"] = process.argv.slice(2);

async function main() {
  const session = await ort.InferenceSession.create(file, { intraOpNumThreads: Number(threads), graphOptimizationLevel: "all" });
  const dims = [Number(batch), ...shape.split("x").map(Number)];
  const data = Float32Array.from({ length: dims.reduce((a, b) => a * b) }, () => 2 * Math.random() - 1);
  const feeds = { x: new ort.Tensor("float32", data, dims) };
  const times = [];
  for (let i = 0; i < 14; i++) {
    const began = process.hrtime.bigint();
    await session.run(feeds);
    if (i >= 3) times.push(Number(process.hrtime.bigint() - began) / 1e6); // the first ones allocate
  }
  times.sort((a, b) => a - b);
  const median = times[times.length >> 1];
  console.log(JSON.stringify({ file, batch: dims[0], threads: Number(threads), step_ms: median, best_ms: times[0], images_per_s: (1e3 * dims[0]) / median }));
}

main();
