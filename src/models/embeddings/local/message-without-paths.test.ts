import { expect, test } from 'vitest'
import { messageWithoutPaths } from './message-without-paths.ts'

test.each([
  ['Load model from /srv/models/small/onnx/model.onnx failed:bad', 'Load model from model.onnx failed:bad'],
  ["Cannot find module '/srv/my models/node_modules/a.js'", "Cannot find module 'a.js'"],
  ["Cannot find module '/srv/a.js'\nRequire stack:\n- /srv/b.js", "Cannot find module 'a.js'"],
  ['/srv/lib/libonnx.so.1: cannot open shared object file', 'libonnx.so.1: cannot open shared object file'],
  ['Error in file:///srv/models/index.js:3', 'Error in index.js:3'],
  ['C:\\models\\small\\model.onnx is no model', 'model.onnx is no model'],
  ['Load model from /kept/my models/onnx/model.onnx failed', 'Load model from model.onnx failed'],
  [
    'The package @huggingface/tokenizers and onnx/model.onnx',
    'The package @huggingface/tokenizers and onnx/model.onnx',
  ],
])('%j is told as %j', (message, told) => {
  expect(messageWithoutPaths(new Error(message), '/kept/my models')).toBe(told)
})
