/** Loads a model into this thread. */
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { LocalModelProblem } from './local-model-problem.ts'
import { messageWithoutPaths } from './message-without-paths.ts'
import { type ModelFolder, readModelFolder } from './model-folder.ts'
import { isOutput, type Output, vectorsOf } from './pooling.ts'
import { loadRuntime, type Runtime, type Session, type Tokenizer } from './runtime.ts'

export type Purpose = 'document' | 'query'

export interface OnnxModel {
  id: string
  /** Returns one vector of length 1 per text, in order. */
  embed(texts: readonly string[], purpose: Purpose): Promise<Float32Array[]>
}

interface Parts {
  folder: ModelFolder
  runtime: Runtime
  session: Session
  tokenizer: Tokenizer
}

/** Max tokens in one run of the model, including padding of shorter texts: this bounds its memory. */
const tokensPerRun = 4_096
/** Far more characters than a token usually has: the rest of a longer text is not even read. */
const charactersPerToken = 16

/** @throws LocalModelProblem */
export async function openModel(path: string): Promise<OnnxModel> {
  const folder = await readModelFolder(path)
  const runtime = await loadRuntime(path)
  const tokenizer = tokenizerOf(folder, runtime)
  const session = await sessionOf(folder, runtime)
  const parts = { folder, runtime, session, tokenizer }
  const model = {
    id: folder.id,
    embed: (texts: readonly string[], purpose: Purpose) => embed(parts, texts, purpose),
  }
  // A first run reports problems at once.
  await model.embed(['a'], 'query')
  return model
}

function tokenizerOf(folder: ModelFolder, { tokenizers }: Runtime): Tokenizer {
  try {
    return new tokenizers.Tokenizer(folder.tokenizer, folder.tokenizerConfiguration)
  } catch (error) {
    const reason = messageWithoutPaths(error, dirname(folder.modelFile))
    throw new LocalModelProblem(`The tokenizer.json of the local embedding model cannot be used: ${reason}`)
  }
}

async function sessionOf({ modelFile }: ModelFolder, { onnx }: Runtime): Promise<Session> {
  // Half of the processors, so that answers are not delayed while documents are embedded.
  const threads = Math.max(1, Math.floor(availableParallelism() / 2))
  const options = { executionProviders: ['cpu'], intraOpNumThreads: threads, interOpNumThreads: 1 }
  try {
    return await onnx.InferenceSession.create(modelFile, options)
  } catch (error) {
    const reason = messageWithoutPaths(error, dirname(modelFile))
    throw new LocalModelProblem(`The ONNX file of the local embedding model cannot be loaded: ${reason}`)
  }
}

async function embed(parts: Parts, texts: readonly string[], purpose: Purpose): Promise<Float32Array[]> {
  const prefix = parts.folder.prefixes[purpose]
  const tokens = texts.map(text => tokensOf(parts, prefix + text))
  // Texts are grouped by length because all texts of a run are padded to the longest.
  const order = tokens
    .map((_, index) => index)
    .sort((one, other) => lengthAt(tokens, one) - lengthAt(tokens, other))
  const vectors: Float32Array[] = []
  for (const run of runsOf(order, index => lengthAt(tokens, index))) {
    const found = await runModel(
      parts,
      run.map(index => tokens[index] ?? []),
    )
    run.forEach((index, at) => {
      vectors[index] = found[at] ?? new Float32Array()
    })
  }
  return vectors
}

function lengthAt(tokens: readonly number[][], index: number): number {
  return tokens[index]?.length ?? 0
}

/** Returns indexes ordered by length, in groups that fit into one run. */
export function runsOf(order: readonly number[], lengthOf: (index: number) => number): number[][] {
  const runs: number[][] = []
  for (const index of order) {
    const current = runs.at(-1)
    if (current !== undefined && (current.length + 1) * lengthOf(index) <= tokensPerRun) current.push(index)
    else runs.push([index])
  }
  return runs
}

/** Returns the tokens up to the model's limit; a shortened text keeps the token that ends every text. */
function tokensOf({ folder: { maxTokens }, tokenizer }: Parts, text: string): number[] {
  const { ids } = tokenizer.encode(text.slice(0, maxTokens * charactersPerToken))
  const [last] = tokenizer.encode('').ids.slice(-1)
  if (ids.length <= maxTokens) return ids
  const isMarked = last !== undefined && ids.at(-1) === last
  return isMarked ? [...ids.slice(0, maxTokens - 1), last] : ids.slice(0, maxTokens)
}

async function runModel(
  { folder, runtime, session }: Parts,
  batch: readonly number[][],
): Promise<Float32Array[]> {
  const length = Math.max(1, ...batch.map(tokens => tokens.length))
  const dims = [batch.length, length]
  const inputs: Record<string, unknown> = {}
  for (const name of session.inputNames) {
    const valueAt = inputValues.get(name)
    if (valueAt === undefined)
      throw new LocalModelProblem(
        `The local embedding model asks for the input "${name}", which is not known here: choose a model that embeds sentences.`,
      )
    const values = batch.flatMap(tokens =>
      Array.from({ length }, (_, at) => valueAt(tokens, at, folder.paddingId)),
    )
    inputs[name] = new runtime.onnx.Tensor('int64', BigInt64Array.from(values, BigInt), dims)
  }
  const lengths = batch.map(tokens => tokens.length)
  return vectorsOf(outputOf(session, await session.run(inputs)), lengths, folder.pooling)
}

const inputValues = new Map<string, (tokens: readonly number[], at: number, padding: number) => number>([
  ['input_ids', (tokens, at, padding) => tokens[at] ?? padding],
  ['attention_mask', (tokens, at) => (at < tokens.length ? 1 : 0)],
  ['token_type_ids', () => 0],
  ['position_ids', (_, at) => at],
])

/** Returns the output with one vector per text, else the one with a vector per token. */
function outputOf({ outputNames }: Session, outputs: Record<string, unknown>): Output {
  const name = ['sentence_embedding', 'last_hidden_state', 'token_embeddings'].find(known =>
    outputNames.includes(known),
  )
  const output = outputs[name ?? outputNames[0] ?? '']
  if (isOutput(output)) return output
  throw new LocalModelProblem(
    'The local embedding model gives no vectors of 32-bit floats: choose another variant of it, such as the whole or the 8-bit one.',
  )
}
