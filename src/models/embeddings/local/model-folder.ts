/** Reads the folder of a sentence-embedding model, in the layout of exports on Hugging Face. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { LocalModelProblem } from './local-model-problem.ts'

export interface ModelFolder {
  modelFile: string
  /** Content of tokenizer.json and tokenizer_config.json. */
  tokenizer: object
  tokenizerConfiguration: object
  pooling: Pooling
  /** Max tokens of a text. */
  maxTokens: number
  paddingId: number
  /** Prefixes that the model expects before a text. */
  prefixes: { query: string; document: string }
  /** An id derived from everything that the vectors depend on: different models have different ids. */
  id: string
}

export type Pooling = 'mean' | 'first' | 'last'

/** Possible files of the model; the full model comes before its smaller variants. */
const modelFiles = ['model.onnx', 'model_quantized.onnx', 'model_int8.onnx', 'model_uint8.onnx'].flatMap(
  name => [join('onnx', name), name],
)
/** Max tokens of a text for any model: more would cost more memory than it gains. */
const greatestMaxTokens = 1_024
const usualMaxTokens = 512

export async function readModelFolder(folder: string): Promise<ModelFolder> {
  if (!isAbsolute(folder))
    throw new LocalModelProblem('EMBEDDING_MODEL must be the absolute path of a folder on the server.')
  if (!(await isThere(folder, 'folder')))
    throw new LocalModelProblem('The folder that EMBEDDING_MODEL names is not there on the server.')
  const modelFile = await firstThere(folder)
  if (modelFile === undefined)
    throw new LocalModelProblem(
      `The folder that EMBEDDING_MODEL names has no ONNX model in it: expected is one of ${modelFiles.join(', ')}.`,
    )
  const read = (...name: string[]) => readJson(folder, join(...name))
  const tokenizer = await read('tokenizer.json')
  if (tokenizer === undefined)
    throw new LocalModelProblem('The folder that EMBEDDING_MODEL names has no tokenizer.json in it.')
  const model = (await read('config.json')) ?? {}
  const tokenizerConfiguration = (await read('tokenizer_config.json')) ?? {}
  const pooling = poolingOf(await read('1_Pooling', 'config.json'))
  const prefixes = prefixesOf(await read('config_sentence_transformers.json'))
  const maxTokens = maxTokensOf(
    (await read('sentence_bert_config.json'))?.max_seq_length,
    tokenizerConfiguration.model_max_length,
    model.max_position_embeddings,
  )
  const settings = { tokenizer, tokenizerConfiguration, pooling, prefixes, maxTokens }
  const paddingId = isCount(model.pad_token_id) ? model.pad_token_id : 0
  return { modelFile, ...settings, paddingId, id: await idOf(modelFile, settings) }
}

async function firstThere(folder: string): Promise<string | undefined> {
  for (const name of modelFiles) if (await isThere(join(folder, name), 'file')) return join(folder, name)
  return undefined
}

async function isThere(path: string, what: 'file' | 'folder'): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return what === 'file' ? found?.isFile() === true : found?.isDirectory() === true
}

async function readJson(folder: string, name: string): Promise<Record<string, unknown> | undefined> {
  const path = join(folder, name)
  if (!(await isThere(path, 'file'))) return undefined
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Reported below, like any other unusable content.
  }
  throw new LocalModelProblem(
    `The file ${name} in the folder that EMBEDDING_MODEL names cannot be read as a JSON object.`,
  )
}

function poolingOf(configuration: Record<string, unknown> = { pooling_mode_mean_tokens: true }): Pooling {
  const modes = Object.entries(configuration).flatMap(([name, value]) =>
    name.startsWith('pooling_mode_') && value === true ? [name] : [],
  )
  const [mode = ''] = modes
  const pooling = modes.length === 1 ? poolings.get(mode) : undefined
  if (pooling === undefined)
    throw new LocalModelProblem(
      `The model that EMBEDDING_MODEL names pools its tokens in a way that is not known here (${modes.join(', ')}): choose one that takes their mean, the first or the last one.`,
    )
  return pooling
}

const poolings = new Map<string, Pooling>([
  ['pooling_mode_mean_tokens', 'mean'],
  ['pooling_mode_cls_token', 'first'],
  ['pooling_mode_lasttoken', 'last'],
])

function prefixesOf({ prompts }: Record<string, unknown> = {}): ModelFolder['prefixes'] {
  const named = typeof prompts === 'object' && prompts !== null ? Object.entries(prompts) : []
  const prefixOf = (...names: string[]): string => {
    const found = named.find(([name]) => names.includes(name))?.[1]
    return typeof found === 'string' ? found : ''
  }
  return { query: prefixOf('query'), document: prefixOf('document', 'passage') }
}

function maxTokensOf(...stated: unknown[]): number {
  const counts = stated.filter(isCount).filter(count => count > 1)
  return Math.min(greatestMaxTokens, counts.length === 0 ? usualMaxTokens : Math.min(...counts))
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

async function idOf(modelFile: string, settings: object): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(settings))
  // Large models store their weights in a separate file.
  for (const path of [modelFile, `${modelFile}_data`])
    if (await isThere(path, 'file')) for await (const part of createReadStream(path)) hash.update(part)
  return hash.digest('hex').slice(0, 16)
}
