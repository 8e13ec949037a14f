import { createHash } from 'node:crypto'
import type { ToolParameters } from '#models/tools/tool.ts'
import { mapInBatches } from '#platform/event-loop/in-batches.ts'
import { canonicalJson } from './canonical-json.ts'
import { hidesText, isVisibleName, visibleText, withVisibleDescriptions } from './visible-text.ts'

/** A tool as listed by a server, cleaned up for people and models. */
export interface ToolDefinition {
  name: string
  description: string
  parameters: ToolParameters
  /** The hash of the server's whole description of the tool. */
  hash: string
}

/** A tool that is left out, and the reason as the end of a sentence. */
export interface SkippedTool {
  name: string
  reason: string
}

const maxTools = 1000
/** Number of tools read in one turn of the event loop, which blocks other requests. */
const toolsAtOnce = 20
const maxToolNameLength = 128
const maxDescriptionLength = 4096
const maxSchemaLength = 64 * 1024
const maxSchemasLength = 2 * 1024 * 1024
const maxSkipped = 100

/** The parts that a person approves: a server's whole description of a tool. */
const pinned = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const

/**
 * Collects the tools that a server lists, in its order. `secret`, which is sent to the server, must not be in
 * a description, where people and models would see it.
 */
export function createListing(secret: string | undefined) {
  const tools = new Map<string, ToolDefinition>()
  const skipped: SkippedTool[] = []
  let room = maxSchemasLength
  let seen = 0

  const skip = (name: string, reason: string) => {
    if (skipped.length < maxSkipped) skipped.push({ name, reason })
  }

  /** Returns the reason why the tool is left out; undefined if it is accepted. */
  function problemWith(definition: ToolDefinition | string): string | undefined {
    if (typeof definition === 'string') return definition
    const known = tools.get(definition.name)
    // A server can list a page twice, for example if its cursor is circular.
    if (known?.hash === definition.hash) return undefined
    if (known !== undefined) return 'another tool of the server has the same name'
    room -= JSON.stringify(definition.parameters).length
    if (room < 0) return 'the schemas of the tools are too large together'
    tools.set(definition.name, definition)
    return undefined
  }

  return {
    skipped,
    tools: (): ToolDefinition[] => [...tools.values()],
    /** Accepts a page; returns false if no more are needed. */
    async take(page: readonly unknown[]): Promise<boolean> {
      const wanted = page.slice(0, maxTools - seen)
      seen += wanted.length
      await mapInBatches(wanted, toolsAtOnce, raw => {
        const problem = problemWith(definitionOf(raw, secret))
        if (problem !== undefined) skip(visibleText(nameOf(raw) ?? '').slice(0, maxToolNameLength), problem)
      })
      if (wanted.length === page.length) return true
      skip('', `the server has more than ${maxTools} tools; those after them are left out`)
      return false
    },
  }
}

function nameOf(raw: unknown): string | undefined {
  const name: unknown = typeof raw === 'object' && raw !== null ? Reflect.get(raw, 'name') : undefined
  return typeof name === 'string' ? name : undefined
}

/** Returns the definition, or the reason why there is none. */
function definitionOf(raw: unknown, secret: string | undefined): ToolDefinition | string {
  const name = nameOf(raw)
  if (name === undefined || name === '') return 'it has no name'
  if (name.length > maxToolNameLength) return `its name has more than ${maxToolNameLength} characters`
  if (!isVisibleName(name)) return 'its name holds characters that cannot be seen'
  const described = Object.fromEntries(pinned.map(field => [field, Reflect.get(raw as object, field)]))
  const text = canonicalJson(described)
  if (text === undefined) return 'its definition is nested too deeply'
  if (secret !== undefined && text.includes(JSON.stringify(secret).slice(1, -1)))
    return 'its definition repeats the token that is shown to the server'
  const parameters = parametersOf(described.inputSchema)
  if (parameters === undefined) return 'its input schema does not describe an object'
  const schema = JSON.stringify(parameters)
  if (schema.length > maxSchemaLength) return 'its input schema is larger than 64 KiB'
  // Text other than descriptions cannot be changed, and models also read it.
  if (hidesText(schema)) return 'its input schema holds characters that cannot be seen'
  const description = typeof described.description === 'string' ? visibleText(described.description) : ''
  return {
    name,
    description: description.slice(0, maxDescriptionLength).toWellFormed(),
    parameters,
    hash: createHash('sha256').update(text).digest('hex'),
  }
}

function parametersOf(schema: unknown): ToolParameters | undefined {
  // Without a schema, or with null, a tool has no arguments.
  if (typeof (schema ?? {}) !== 'object' || Array.isArray(schema)) return undefined
  const { type, properties, ...rest } = withVisibleDescriptions(schema ?? {}) as Record<string, unknown>
  const named = properties ?? {}
  if ((type ?? 'object') !== 'object' || typeof named !== 'object' || Array.isArray(named)) return undefined
  return { type: 'object', properties: named as Record<string, unknown>, ...rest }
}
