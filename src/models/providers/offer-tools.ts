import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { systemClock } from '#platform/clock.ts'
import { withoutTools } from '../language-model/alternating.ts'
import { parseToolInput } from '../language-model/answer-message.ts'
import type { CallOptions, LanguageModel, StreamPart, ToolCall } from '../language-model/language-model.ts'
import type { Schema } from '../tools/schemas/schema.ts'
import { handOver } from '../transport/call-with-retry.ts'
import { mayRefuseTools, namedTools, takesNoTools } from '../transport/tool-refusal.ts'
import type { RemoteProvider } from './provider.ts'
import { type ProviderSchema, ruleFor } from './tool-schemas.ts'

type Model = Pick<LanguageModel, 'doStream'>
type Definition = NonNullable<CallOptions['tools']>[number]

interface Offered {
  provider: RemoteProvider
  modelId: string
  baseUrl: string
}

/** Max repetitions of a request without the tools that its refusal names; then it is sent without any. */
const maxNamedRefusals = 4
/** Time that a refusal is remembered (ms): servers restart with other options, and tools change. */
const rememberedMs = 10 * 60_000

/** Refusals by server and model: single tools, or any tools. */
const refusals = new LRUCache<string, true>({ max: 2000, ttl: rememberedMs, perf: systemClock })

/**
 * Returns a model that adapts the tools' schemas to its provider. If the provider still refuses them, the
 * model answers without the named tools, or without any, which the answer's `finish` reports.
 */
export function offeringTools(model: Model, offered: Offered): Model {
  const { baseUrl, modelId, provider } = offered
  const rule = ruleFor(provider, modelId)
  /** Adapted schemas by the original ones, which stay the same during a turn. */
  const known = new WeakMap<object, ProviderSchema>()
  const keyOf = (what: Definition | 'any') =>
    hash('sha256', JSON.stringify([baseUrl, modelId, what]), 'base64')

  function schemaFor(tool: Definition): ProviderSchema {
    if (tool.type === 'provider') return { schema: {} }
    const schema = known.get(tool.inputSchema) ?? rule(tool.inputSchema as Schema)
    known.set(tool.inputSchema, schema)
    return schema
  }

  function notYetRefused(all: readonly Definition[]): readonly Definition[] {
    if (refusals.size === 0) return all
    const left = all.filter(tool => !refusals.has(keyOf(tool)))
    return refusals.has(keyOf('any')) ? [] : left
  }

  /** Streams the answer, or returns a refusal of the tools that came before any part of an answer. */
  async function attempt(
    options: CallOptions,
    tools: readonly Definition[],
    take: (part: StreamPart) => void,
  ) {
    let hasBegun = false
    const calls = new Map(tools.map(tool => [tool.name, schemaFor(tool)]))
    const isRefusal = (error: unknown) => !hasBegun && tools.length > 0 && mayRefuseTools(error, offered)
    try {
      const { stream } = await model.doStream(withOnly(options, tools, schemaFor))
      await handOver(stream, part => {
        if (part.type === 'error' && isRefusal(part.error)) throw part.error
        hasBegun ||= !preliminary.has(part.type)
        take(part.type === 'tool-call' ? restoredCall(part, calls.get(part.toolName)) : part)
      })
      return undefined
    } catch (error) {
      if (!isRefusal(error)) throw error
      return { error }
    }
  }

  async function answer(options: CallOptions, take: (part: StreamPart) => void): Promise<void> {
    const all = options.tools ?? []
    const refused: string[] = []
    for (let tools = notYetRefused(all); ; ) {
      const left = tools
      const refusal = await attempt(options, left, part => take(saying(part, all, left)))
      if (refusal === undefined) break
      const named = refused.length < maxNamedRefusals ? namedTools(refusal.error, left) : []
      refused.push(...(takesNoTools(refusal.error) ? ['any' as const] : named).map(keyOf))
      tools = named.length === 0 ? [] : left.filter(tool => !named.includes(tool))
    }
    // Only now is it certain that the tools were to blame.
    for (const key of refused) refusals.set(key, true)
  }

  return {
    async doStream(options) {
      if (options.tools === undefined || options.tools.length === 0) return model.doStream(options)
      return { stream: take => answer(options, take) }
    },
  }
}

/** Parts that precede the answer's content. */
const preliminary: ReadonlySet<string> = new Set(['stream-start', 'response-metadata', 'raw'])

function withOnly(
  { tools: _, toolChoice, ...options }: CallOptions,
  tools: readonly Definition[],
  schemaFor: (tool: Definition) => ProviderSchema,
): CallOptions {
  if (tools.length === 0) return { ...options, prompt: withoutTools(options.prompt) }
  const adapted = tools.map(tool =>
    tool.type === 'provider'
      ? tool
      : { ...tool, inputSchema: schemaFor(tool).schema as typeof tool.inputSchema },
  )
  return { ...options, tools: adapted, ...(toolChoice === undefined ? {} : { toolChoice }) }
}

function restoredCall(call: ToolCall, { restore }: Partial<ProviderSchema> = {}): ToolCall {
  const input = restore && parseToolInput(call.input)
  return input === undefined ? call : { ...call, input: JSON.stringify(restore?.(input)) }
}

/** Adds the missing tools to the last part of an answer. */
function saying(part: StreamPart, all: readonly Definition[], left: readonly Definition[]): StreamPart {
  if (part.type !== 'finish' || left.length === all.length) return part
  const toolsRefused = all.filter(tool => !left.includes(tool)).map(({ name }) => name)
  const tools = left.length === 0 ? { toolsUnsupported: true } : { toolsRefused }
  return { ...part, providerMetadata: { ...part.providerMetadata, tools } }
}
