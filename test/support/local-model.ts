/** A folder with a model for `EMBEDDING_PROVIDER=local`, and a stand-in for the packages that run it, as an operator would install them. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { makeTemporaryDirectory } from './temporary-directory.ts'

interface LocalModel {
  path: string
  /** Writes a file of the folder; text as it is, anything else as JSON. */
  write(name: string, content: unknown): void
  remove(name: string): void
  /** Puts the packages into `node_modules` beside the model. */
  installRuntime(): void
}

/** Words of like meaning have like vectors. */
const vocabulary = { otter: 1, swimmer: 1.1, tea: -1, beverage: -1.1, holds: 0, hands: 0, '<end>': 0.01 }

/** A model that finds otters for swimmers, without the packages that run it. */
export function makeLocalModel(model: Partial<ModelOptions> = {}): LocalModel {
  const { path, remove } = makeTemporaryDirectory()
  onTestFinished(remove)
  const write = (name: string, content: unknown) => {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  write('onnx/model.onnx', { ...usualModel, ...model })
  write('tokenizer.json', { vocabulary: Object.keys(vocabulary) })
  write('config.json', { pad_token_id: 99, max_position_embeddings: 8 })
  return {
    path,
    write,
    remove: name => rmSync(join(path, name), { recursive: true }),
    installRuntime() {
      install(write, 'onnxruntime-node', onnxRuntime)
      install(write, '@huggingface/tokenizers', tokenizers)
    },
  }
}

function install(write: LocalModel['write'], name: string, source: string): void {
  write(`node_modules/${name}/package.json`, { name, version: '1.0.0', main: 'index.cjs' })
  write(`node_modules/${name}/index.cjs`, source)
}

interface ModelOptions {
  inputs: string[]
  outputs: string[]
  /** Of the values in the output. */
  array: 'Float32Array' | 'Uint16Array'
  /** What the values are by token. */
  values: number[]
}

const usualModel: ModelOptions = {
  inputs: ['input_ids', 'attention_mask'],
  outputs: ['last_hidden_state'],
  array: 'Float32Array',
  values: Object.values(vocabulary),
}

/** The vector of a token is its value and a constant; those that fill up have vectors that would show. */
const onnxRuntime = `
const { readFileSync } = require('node:fs')
class Tensor {
  constructor(type, data, dims) { Object.assign(this, { type, data, dims }) }
}
class InferenceSession {
  static async create(path) {
    const model = JSON.parse(readFileSync(path, 'utf8'))
    return { inputNames: model.inputs, outputNames: model.outputs, run: async inputs => run(model, inputs) }
  }
}
function run({ outputs, array, values }, { input_ids: { data, dims } }) {
  const kinds = { Float32Array, Uint16Array }
  const tokens = Array.from(data, Number)
  const vectors = tokens.flatMap(token => [values[token] ?? 50, 0.2])
  const isPooled = outputs[0] === 'sentence_embedding'
  const rows = Array.from({ length: dims[0] }, (_, row) => [values[tokens[row * dims[1]]] ?? 50, 0.2])
  const given = isPooled ? rows.flat() : vectors
  return { [outputs[0]]: { data: kinds[array].from(given), dims: isPooled ? [dims[0], 2] : [...dims, 2] } }
}
module.exports = { Tensor, InferenceSession }
`

const tokenizers = `
class Tokenizer {
  constructor({ vocabulary }) { this.vocabulary = vocabulary }
  encode(text) {
    const words = [...(text.toLowerCase().match(/\\p{L}+/gu) ?? []), '<end>']
    return { ids: words.map(word => this.vocabulary.indexOf(word.replace(/s$/, ''))).map((id, at) => id < 0 ? this.vocabulary.indexOf(words[at]) : id).filter(id => id >= 0) }
  }
}
module.exports = { Tokenizer }
`
