import { Type } from 'typebox'
import { matches } from '#platform/schema-check.ts'
import { isTokenCount, type ListedModel } from './provider.ts'

/**
 * An entry of `GET /models` in OpenAI's form, with the fields that compatible servers add: the window as
 * `context_length` (OpenRouter, Together), `max_model_len` (vLLM), `context_window` (Groq) or `max_context_length`
 * (Mistral, LM Studio).
 */
const entrySchema = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  name: Type.Optional(Type.Unknown()),
  type: Type.Optional(Type.Unknown()),
  context_length: Type.Optional(Type.Unknown()),
  max_model_len: Type.Optional(Type.Unknown()),
  context_window: Type.Optional(Type.Unknown()),
  max_context_length: Type.Optional(Type.Unknown()),
  supported_parameters: Type.Optional(Type.Unknown()),
  capabilities: Type.Optional(Type.Unknown()),
  architecture: Type.Optional(Type.Unknown()),
})

export type ListEntry = Type.Static<typeof entrySchema>

/** Max entries of a list: further ones are not read. */
const maxEntries = 2000

/** Returns the entries of a list, which are under `data` or, on some servers, at the top level. */
export function listEntries(body: unknown): ListEntry[] {
  const list = Array.isArray(body) ? body : field(body, 'data')
  return Array.isArray(list) ? list.slice(0, maxEntries).filter(entry => matches(entrySchema, entry)) : []
}

export function readEntry(entry: ListEntry): ListedModel {
  return {
    id: entry.id,
    name: typeof entry.name === 'string' ? entry.name : undefined,
    contextWindow: [
      entry.context_length,
      entry.max_model_len,
      entry.context_window,
      entry.max_context_length,
    ].find(isTokenCount),
    supportsTools: Array.isArray(entry.supported_parameters)
      ? entry.supported_parameters.includes('tools')
      : undefined,
    supportsImages: seesImages(entry),
  }
}

/** Reads the fields of OpenRouter, Mistral and LM Studio; undefined without them. */
function seesImages({ architecture, capabilities, type }: ListEntry): boolean | undefined {
  const inputs = field(architecture, 'input_modalities')
  if (Array.isArray(inputs)) return inputs.includes('image')
  const vision = field(capabilities, 'vision')
  if (typeof vision === 'boolean') return vision
  return type === 'vlm' ? true : undefined
}

/** Words in the ids of models that embed, rank, hear, speak, draw or judge rather than chat. */
const otherPurposes =
  /embed|rerank|whisper|transcribe|moderation|dall-e|stable-diffusion|imagen|sora|(^|[-_/:])(tts|asr|flux|bge|gte|e5|all-minilm)([-_/:.]|$)/i

/** Returns false if the entry itself names another purpose than chat. */
export function canChat(entry: ListEntry): boolean {
  const outputs = field(entry.architecture, 'output_modalities')
  if (Array.isArray(outputs) && !outputs.includes('text')) return false
  const kind = typeof entry.type === 'string' ? entry.type : ''
  return !otherPurposes.test(entry.id) && !/embed|rerank|image|audio|moderation|transcri/i.test(kind)
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
