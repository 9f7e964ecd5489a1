// SPDX-License-Identifier: Apache-2.0
// outputs.js MODEL.json FEEDS.json: what TensorFlow.js's cpu backend gives, as JSON by the names of the outputs. FEEDS
// has dtype, shape and values by the names of the inputs. The folder of its packages is the working directory.
'use strict';
const fs = require('fs');
const {tf, converter, handler} = require('./packages.js');

const [file, feedsFile] = process.argv.slice(2);

async function main() {
  await tf.setBackend('cpu');
  await tf.ready();
  const model = await converter.loadGraphModel(handler(file));
  const feeds = {};
  for (const [name, f] of Object.entries(JSON.parse(fs.readFileSync(feedsFile))))
    feeds[name] = tf.tensor(f.values, f.shape, f.dtype);
  const ys = [await model.executeAsync(feeds)].flat();
  const all = {};
  for (let i = 0; i < ys.length; ++i)
    all[model.outputs[i].name] = {dtype: ys[i].dtype, shape: ys[i].shape, values: Array.from(await ys[i].data())};
  process.stdout.write(JSON.stringify(all) + '\n');
}

main().catch(e => {
  process.stderr.write(String(e) + '\n');
  process.exit(1);
});
