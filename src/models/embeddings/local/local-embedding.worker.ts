/** What runs in a thread of its own; the other side is `local-embeddings.ts`. Problems are answers, since errors lose their kind on the way. */
import { LocalModelProblem } from './local-model-problem.ts'
import type { OnnxModel, Purpose } from './onnx-model.ts'
import { openModel } from './onnx-model.ts'

export type Answer<Value> = { value: Value } | { problem: string }

export interface EmbedTask {
  folder: string
  /** Of the model that the vectors are wanted of. */
  id: string
  texts: readonly string[]
  purpose: Purpose
}

/** Kept as long as the thread is. */
let opened: { folder: string; model: OnnxModel } | undefined

async function modelIn(folder: string): Promise<OnnxModel> {
  if (opened?.folder !== folder) opened = { folder, model: await openModel(folder) }
  return opened.model
}

/** The id of the model in the folder. */
export function identify(folder: string): Promise<Answer<string>> {
  return answer(async () => (await modelIn(folder)).id)
}

/** @returns undefined if there is another model in the folder by now. */
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
