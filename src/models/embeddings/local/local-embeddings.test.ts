import { describe, expect, it, onTestFinished } from 'vitest'
import { createLog } from '#platform/logging/log.ts'
import { createWorkerPool, type WorkerPool } from '#platform/workers/worker-pool.ts'
import { makeLocalModel } from '#test/support/local-model.ts'
import { createLocalEmbeddings } from './local-embeddings.ts'

function embeddingsIn(folder: string) {
  const workers = createWorkerPool({ log: createLog('silent'), maxThreads: 1 })
  onTestFinished(() => workers.close())
  return createLocalEmbeddings({ workers, folder })
}

/** The folder of a model with the packages beside it. */
function readyModel(...options: Parameters<typeof makeLocalModel>) {
  const folder = makeLocalModel(...options)
  folder.installRuntime()
  return folder
}

const embed = async (folder: string, texts: string[], purpose: 'document' | 'query' = 'document') =>
  (await embeddingsIn(folder).model()).embed(texts, { purpose })

const unit = (x: number, y: number) =>
  [x / Math.hypot(x, y), y / Math.hypot(x, y)].map(value => expect.closeTo(value, 5))
const refused = (message: RegExp) => ({
  code: 'MODEL_NOT_CONFIGURED',
  message: expect.stringMatching(message),
})

describe('a local model', () => {
  it('gives each text the mean of its tokens, of length 1, whatever fills it up', async () => {
    const { path } = readyModel()
    const vectors = await embed(path, ['otter', 'tea holds hands tea', ''])
    expect(vectors.map(vector => [...vector])).toEqual([
      unit(1.01 / 2, 0.2),
      unit(-1.99 / 5, 0.2),
      unit(0.01, 0.2),
    ])
  })

  it.each([
    ['pooling_mode_cls_token', [1, 0.2]],
    ['pooling_mode_lasttoken', [0.01, 0.2]],
  ])('pools as its folder says: %s', async (mode, [x = 0, y = 0]) => {
    const { path, write } = readyModel()
    write('1_Pooling/config.json', {
      word_embedding_dimension: 2,
      pooling_mode_mean_tokens: false,
      [mode]: true,
    })
    const [vector = []] = await embed(path, ['otter tea'])
    expect([...vector]).toEqual(unit(x, y))
  })

  it('takes the vectors of a model that pools by itself, and its prefixes', async () => {
    const { path, write } = readyModel({ outputs: ['sentence_embedding'] })
    write('config_sentence_transformers.json', { prompts: { query: 'tea ', passage: 'otter ' } })
    expect((await embed(path, ['hands'], 'query')).map(vector => [...vector])).toEqual([unit(-1, 0.2)])
    expect((await embed(path, ['hands'])).map(vector => [...vector])).toEqual([unit(1, 0.2)])
  })

  it('gives no vector where its numbers grow too large, and says so', async () => {
    const { path } = readyModel({ values: Array(7).fill(1e39) })
    await expect(embed(path, ['otter'])).rejects.toMatchObject({
      code: 'MODEL_ERROR',
      message: 'The local embedding model made a vector that does not consist of numbers.',
    })
  })

  it('shortens what is too long, and keeps what ends it', async () => {
    const { path, write } = readyModel()
    write('1_Pooling/config.json', { pooling_mode_lasttoken: true })
    const [vector = []] = await embed(path, ['otter '.repeat(1_000)])
    expect([...vector]).toEqual(unit(0.01, 0.2))
  })

  it('keeps the order of many texts of all lengths', async () => {
    const { path } = readyModel()
    const texts = Array.from(
      { length: 100 },
      (_, at) => `${at % 2 === 0 ? 'otter' : 'tea'} ${'hands '.repeat((at * 7) % 6)}`,
    )
    const vectors = await embed(path, texts)
    expect(vectors.map(([x = 0]) => x > 0)).toEqual(texts.map((_, at) => at % 2 === 0))
  })

  it('has another name when it is another model, and the old one gives no vectors any more', async () => {
    const { path, write } = readyModel()
    // Each task gets a new thread, as one does after an hour without work.
    const workers: WorkerPool = {
      async run(task) {
        const pool = createWorkerPool({ log: createLog('silent') })
        return await pool.run<never>(task).finally(() => pool.close())
      },
      close: async () => {},
    }
    const embeddings = createLocalEmbeddings({ workers, folder: path })
    const before = await embeddings.model()
    write('tokenizer.json', { vocabulary: ['tea', 'otter'] })
    const replaced = { code: 'MODEL_ERROR', message: expect.stringMatching(/replaced/) }
    await expect(before.embed(['otter'], { purpose: 'query' })).rejects.toMatchObject(replaced)
    const after = await embeddings.model()
    expect(after.id).not.toBe(before.id)
    expect(await after.embed(['otter'], { purpose: 'query' })).toHaveLength(1)
  })

  it('is the whole one where there are smaller variants, too', async () => {
    const { path, write, remove } = readyModel()
    const { id } = await embeddingsIn(path).model()
    write('onnx/model_quantized.onnx', {
      inputs: ['input_ids'],
      outputs: ['x'],
      array: 'Float32Array',
      values: [],
    })
    expect((await embeddingsIn(path).model()).id).toBe(id)
    remove('onnx/model.onnx')
    expect((await embeddingsIn(path).model()).id).not.toBe(id)
  })
})

describe('packages that run it', () => {
  it('are asked for while they are missing, and found once they are installed beside the model', async () => {
    const { path, installRuntime } = makeLocalModel()
    const embeddings = embeddingsIn(path)
    const missing = refused(/npm install onnxruntime-node @huggingface\/tokenizers/)
    await expect(embeddings.model()).rejects.toMatchObject(missing)
    installRuntime()
    expect(await embeddings.model()).toMatchObject({ provider: 'local' })
  })

  it('are each asked for', async () => {
    const { path, installRuntime, remove } = makeLocalModel()
    installRuntime()
    remove('node_modules/onnxruntime-node')
    await expect(embed(path, [])).rejects.toMatchObject(refused(/"npm install onnxruntime-node"/))
  })

  it.each([
    ['of another interface', 'module.exports = {}', /onnxruntime-node .* version that cannot be used/],
    [
      'that cannot be loaded',
      'throw new Error("no binary for this machine")',
      /cannot be loaded .*no binary/,
    ],
  ])('%s are told of', async (_, source, message) => {
    const { path, write } = readyModel()
    write('node_modules/onnxruntime-node/index.cjs', source)
    await expect(embed(path, [])).rejects.toMatchObject(refused(message))
  })
})

describe('a folder that is no model', () => {
  it.each([
    ['a relative path', 'models/small', /absolute path/],
    ['a path upwards', '../models', /absolute path/],
    ['one that is not there', '/nowhere/models/small', /is not there/],
  ])('%s', async (_, folder, message) => {
    await expect(embed(folder, [])).rejects.toMatchObject(refused(message))
  })

  it('a file', async () => {
    const { path } = readyModel()
    await expect(embed(`${path}/tokenizer.json`, [])).rejects.toMatchObject(refused(/is not there/))
  })

  it.each([
    ['onnx/model.onnx', /no ONNX model .*onnx\/model\.onnx, model\.onnx/],
    ['tokenizer.json', /no tokenizer\.json/],
  ])('one without %s', async (name, message) => {
    const { path, remove } = readyModel()
    remove(name)
    await expect(embed(path, [])).rejects.toMatchObject(refused(message))
  })

  it.each([
    ['tokenizer.json', '{', /tokenizer\.json .* cannot be read/],
    ['config.json', '[]', /config\.json .* cannot be read/],
    ['1_Pooling/config.json', '{"pooling_mode_max_tokens": true}', /pooling_mode_max_tokens/],
    ['onnx/model.onnx', 'no model', /ONNX file .* cannot be loaded/],
    ['onnx/model.onnx', JSON.stringify({ inputs: ['pixel_values'], outputs: [] }), /input "pixel_values"/],
  ])('one with a bad %s: %s', async (name, content, message) => {
    const { path, write } = readyModel()
    write(name, content)
    await expect(embed(path, [])).rejects.toMatchObject(refused(message))
  })

  it('one whose model gives other numbers', async () => {
    const { path } = readyModel({ array: 'Uint16Array' })
    await expect(embed(path, [])).rejects.toMatchObject(refused(/32-bit floats/))
  })

  it('is told of without its path', async () => {
    const { path, remove, write } = readyModel()
    const told = async () => String(await embed(path, []).catch(caught => caught))
    write('node_modules/onnxruntime-node/index.cjs', failingRuntime)
    expect(await told()).toContain('Load model from model.onnx failed')
    expect(await told()).not.toContain(path)
    remove('onnx')
    expect(await told()).not.toContain(path)
  })
})

/** Says where the model is, as the real one does. */
const failingRuntime = `
const create = async path => { throw new Error('Load model from ' + path + ' failed') }
module.exports = { Tensor: class {}, InferenceSession: { create } }
`
