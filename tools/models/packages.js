// SPDX-License-Identifier: Apache-2.0
// TensorFlow.js from the folder of its packages, which is the working directory, and models from files for it.
'use strict';
const {createRequire} = require('module');
const fs = require('fs');
const path = require('path');
const load = createRequire(path.join(process.cwd(), 'package.json'));
console.log = console.warn = () => {};  // what the packages say of themselves
const tf = load('@tensorflow/tfjs-core');
const converter = load('@tensorflow/tfjs-converter');
load('@tensorflow/tfjs-backend-cpu');

function handler(file) {
  const parsed = JSON.parse(fs.readFileSync(file));
  const groups = parsed.weightsManifest;
  const shards = groups.flatMap(g => g.paths).map(name => fs.readFileSync(path.join(path.dirname(file), name)));
  const bytes = Buffer.concat(shards);
  return {load: async () => ({
    modelTopology: parsed.modelTopology, format: parsed.format, signature: parsed.signature,
    userDefinedMetadata: parsed.userDefinedMetadata, weightSpecs: groups.flatMap(g => g.weights),
    weightData: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)})};
}

module.exports = {load, tf, converter, handler};
