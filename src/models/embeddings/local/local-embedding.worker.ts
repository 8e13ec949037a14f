/**
 * Runs in a thread of its own, called by `local-embeddings.ts`. Problems are returned as answers because
 * errors lose their class between threads.
 */
import { LocalModelProblem } from './local-model-problem.ts'
import { type OnnxModel, openModel, type Purpose } from './onnx-model.ts'

export type Answer<Value> = { value: Value } | { problem: string }

export interface EmbedTask {
  folder: string
  /** The id of the requested model. */
  id: string
  texts: readonly string[]
  purpose: Purpose
}

/** The loaded model, for the life of the thread. */
let opened: { folder: string; model: OnnxModel } | undefined

async function modelIn(folder: string): Promise<OnnxModel> {
  if (opened?.folder !== folder) opened = { folder, model: await openModel(folder) }
  return opened.model
}

/** Returns the id of the model in the folder. */
export function identify(folder: string): Promise<Answer<string>> {
  return answer(async () => (await modelIn(folder)).id)
}

/** Embeds texts. @returns undefined if the folder now contains another model. */
export function embed({
  folder,
  id,
  texts,
  purpose,
}: EmbedTask): Promise<Answer<Float32Array[] | undefined>> {
  return answer(async () => {
    const model = await modelIn(folder)
    return model.id === id ? await model.embed(texts, purpose) : undefined
  })
}

async function answer<Value>(work: () => Promise<Value>): Promise<Answer<Value>> {
  try {
    return { value: await work() }
  } catch (error) {
    if (error instanceof LocalModelProblem) return { problem: error.message }
    throw error
  }
}
