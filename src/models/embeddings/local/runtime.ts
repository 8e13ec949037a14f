/**
 * Loads the packages that run a local model. They are large and most operators need none, so they are not
 * dependencies of the service: operators with a model install them, and they are resolved on loading.
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { LocalModelProblem } from './local-model-problem.ts'
import { messageWithoutPaths } from './message-without-paths.ts'

/** The part of `onnxruntime-node` that is used. */
export interface OnnxRuntime {
  InferenceSession: { create(path: string, options: Record<string, unknown>): Promise<Session> }
  Tensor: new (type: string, data: BigInt64Array | Int32Array, dims: readonly number[]) => unknown
}

export interface Session {
  readonly inputNames: readonly string[]
  readonly outputNames: readonly string[]
  run(inputs: Record<string, unknown>): Promise<Record<string, unknown>>
}

/** The part of `@huggingface/tokenizers` that is used. */
export interface TokenizerPackage {
  Tokenizer: new (tokenizer: object, configuration: object) => Tokenizer
}

export interface Tokenizer {
  encode(text: string): { ids: number[] }
}

export interface Runtime {
  onnx: OnnxRuntime
  tokenizers: TokenizerPackage
}

const onnxPackage = 'onnxruntime-node'
const tokenizerPackage = '@huggingface/tokenizers'

/**
 * Loads the packages from `node_modules` of the model's folder or those above it, else from the place where
 * the service itself is installed.
 */
export async function loadRuntime(folder: string): Promise<Runtime> {
  const [onnx, tokenizers] = await Promise.all([load(folder, onnxPackage), load(folder, tokenizerPackage)])
  const missing = [onnx, tokenizers].flatMap(found => ('missing' in found ? [found.missing] : []))
  if (missing.length > 0)
    throw new LocalModelProblem(
      `The local embedding model needs packages that are not installed on the server. Run "npm install ${missing.join(' ')}" in the model's folder, or in the one that the service is installed in.`,
    )
  return {
    onnx: exportsOf(onnx, onnxPackage, isOnnxRuntime),
    tokenizers: exportsOf(tokenizers, tokenizerPackage, isTokenizerPackage),
  }
}

type Loaded = { missing: string } | { exports: unknown }

async function load(folder: string, name: string): Promise<Loaded> {
  const path = resolve(join(folder, 'model'), name) ?? resolve(import.meta.filename, name)
  if (path === undefined) return { missing: name }
  try {
    return { exports: await import(pathToFileURL(path).href) }
  } catch (error) {
    throw new LocalModelProblem(
      `The package ${name} cannot be loaded on the server: ${messageWithoutPaths(error, folder)}`,
    )
  }
}

/** Returns the file that an import in `from` would resolve to. */
function resolve(from: string, name: string): string | undefined {
  try {
    return createRequire(from).resolve(name)
  } catch {
    return undefined
  }
}

/** Returns the exports of a package; CommonJS packages have them under `default`. */
function exportsOf<Exports>(
  loaded: Loaded,
  name: string,
  isRight: (value: unknown) => value is Exports,
): Exports {
  const found = 'exports' in loaded ? loaded.exports : undefined
  if (isRight(found)) return found
  if (isObject(found) && isRight(found.default)) return found.default
  throw new LocalModelProblem(
    `The package ${name} on the server is of a version that cannot be used: install the latest one.`,
  )
}

function isOnnxRuntime(value: unknown): value is OnnxRuntime {
  if (!isObject(value)) return false
  const { InferenceSession: session, Tensor: tensor } = value
  const hasCreate = (typeof session === 'function' || isObject(session)) && 'create' in session
  return hasCreate && typeof tensor === 'function'
}

function isTokenizerPackage(value: unknown): value is TokenizerPackage {
  return isObject(value) && typeof value.Tokenizer === 'function'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
