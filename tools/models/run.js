// SPDX-License-Identifier: Apache-2.0
// run.js MODEL.json FEEDS SECONDS: the least milliseconds of a run by TensorFlow.js on its wasm backend, one thread.
// FEEDS is the recording's list as JSON. The folder of its packages is the working directory.
'use strict';
const path = require('path');
const {load, tf, converter, handler} = require('./packages.js');
const wasm = load('@tensorflow/tfjs-backend-wasm');

const [file, feedsText, seconds] = process.argv.slice(2);

// The elements by the recordings' formula.
function feed({dtype, shape}) {
  const n = shape.reduce((a, b) => a * b, 1);
  const values = Float32Array.from({length: n}, (_, i) => (Math.imul(i + 1, 2654435761 | 0) >>> 8) / 16777216);
  return dtype === 'int32' ? tf.tensor(Int32Array.from(values, v => Math.floor(v * 256)), shape, 'int32')
                           : tf.tensor(values, shape, 'float32');
}

async function main() {
  wasm.setWasmPaths(path.join(path.dirname(load.resolve('@tensorflow/tfjs-backend-wasm')), '/'));
  wasm.setThreadsCount(1);
  await tf.setBackend('wasm');
  await tf.ready();
  const model = await converter.loadGraphModel(handler(file));
  const feeds = Object.fromEntries(JSON.parse(feedsText).map(f => [f.name, feed(f)]));
  let waits = false;
  const run = async () => {
    const ys = [waits ? await model.executeAsync(feeds) : model.execute(feeds)].flat();
    for (const y of ys) await y.data();
    ys.forEach(y => y.dispose());
  };
  try { await run(); } catch (e) { waits = true; await run(); }
  let least = Infinity;
  const begin = Date.now();
  for (let i = 0; i < 3 || Date.now() - begin < 1000 * seconds; ++i) {
    const start = process.hrtime.bigint();
    await run();
    least = Math.min(least, Number(process.hrtime.bigint() - start) / 1e6);
  }
  process.stdout.write(JSON.stringify({ms: least}) + '\n');
}

main().catch(e => {
  process.stderr.write(String(e) + '\n');
  process.exit(1);
});
