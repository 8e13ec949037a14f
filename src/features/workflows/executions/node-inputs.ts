import { AppError, invalid, notFound } from '#platform/errors.ts'
import { turn } from '#platform/event-loop/turns.ts'
import { parseJson } from '#platform/exact-json.ts'
import { createTemplates, namesOf } from '#platform/templates/resolve-templates.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { readGraph, upTo } from '../engine/graph.ts'
import { keyOf, type NodeResult } from '../engine/plan.ts'
import { resolveTemplates } from '../engine/resolve-data.ts'
import { emptyResult } from '../engine/run-segment.ts'
import { pathsFrom, scopeOf } from '../engine/scope.ts'
import type { NodeTypes } from '../nodes/node-types.ts'
import type { ExecutionRow } from '../rows/executions.repository.ts'
import {
  type ResultKey,
  readKeys,
  readRows,
  type ShownInput,
  writeResult,
} from '../rows/node-results.repository.ts'
import { findVersion } from '../rows/workflows.repository.ts'
import { rootsOf } from './execution-roots.ts'
import type { ExecutionOptions } from './lifecycle.service.ts'

const shownBytes = 64 * 1024
/** Max bytes of outputs read and inputs resolved for one response. */
const workBytes = 8 * 1024 * 1024
/** Max bytes of outputs in `{{nodes}}` as a whole. */
const maxTogether = 1024 * 1024

type Agent = Pick<AgentHandle, 'agentId' | 'db'>

interface Inputs {
  /** Returns the input of a node's run; undefined if the node got none here, or no longer exists. */
  of(nodeId: string, path: string): Promise<unknown>
  /** Returns the number of bytes of the outputs read so far. */
  readBytes(): number
}

/**
 * Resolves the inputs of nodes, which are not stored, again from the workflow's version and the outputs that
 * each node could read. Versions contain masks in place of secrets.
 */
export async function createInputs(
  agent: Agent,
  types: NodeTypes,
  execution: ExecutionRow,
  keys: readonly ResultKey[],
): Promise<Inputs> {
  const { db } = agent
  const { pinned = {}, stop_after } = parseJson(execution.options) as ExecutionOptions
  const version = await findVersion(db, execution.workflow_id, execution.version)
  const definition = version ?? { nodes: [], edges: [] }
  const { graph } = readGraph(stop_after === undefined ? definition : upTo(definition, stop_after))
  const roots = rootsOf(agent, execution)
  const stored = new Map(keys.map(key => [keyOf(key.node_id, key.path), key]))
  const results = new Map<string, NodeResult>(
    [...stored].map(([at, key]) => [at, { ...emptyResult, ...key }]),
  )
  const read = new Set<string>()
  const items = new Map<string, Promise<unknown>>()
  let readBytes = 0

  /** Reads the outputs that the templates of a text can name. */
  async function readOutputs(text: string, path: string): Promise<void> {
    const named = new Set([...text.matchAll(outputNames)].map(([, id = '']) => id))
    const ids = /\bnodes\s*\}\}/.test(text)
      ? [...graph.nodes.keys()]
      : [...graph.nodes.keys()].filter(id => named.has(id))
    const wanted = ids
      .flatMap(id => pathsFrom(path).flatMap(outer => stored.get(keyOf(id, outer)) ?? []))
      .filter(key => !read.has(keyOf(key.node_id, key.path)))
    const bytes = wanted.reduce((sum, key) => sum + key.bytes, 0)
    // The node's run has refused `{{nodes}}` of this size.
    if (ids.length > named.size && bytes > maxTogether) return
    readBytes += bytes
    for (const key of wanted) read.add(keyOf(key.node_id, key.path))
    for await (const rows of readRows(db, execution.id, wanted))
      for (const row of rows) results.set(keyOf(row.node_id, row.path), row)
  }

  function itemsOf(loop: string, path: string): Promise<unknown> {
    const at = keyOf(loop, path)
    const known = items.get(at) ?? inputOf(loop, path).then(input => Object(input).items)
    items.set(at, known)
    return known
  }

  async function loopOf(id: string, path: string) {
    const loop = graph.loopOf.get(id)
    if (loop === undefined) return null
    const index = Number(path.split('.').at(-1))
    const all = await itemsOf(loop, pathsFrom(path)[1] ?? '')
    return { item: (Array.isArray(all) ? all[index] : undefined) ?? null, index }
  }

  async function inputOf(id: string, path: string): Promise<unknown> {
    const [node, result] = [graph.nodes.get(id), results.get(keyOf(id, path))]
    const type = node && types.get(node.type)
    if (!(node && type && result) || Object.hasOwn(pinned, id) || (result.began ?? 0) < 0) return undefined
    const text = JSON.stringify(node.data)
    await readOutputs(text, path)
    const loop = text.includes('loop') ? await loopOf(id, path) : null
    const own = { ...roots, now: result.started_at }
    const templates = createTemplates(scopeOf({ node, path }, graph, results, own, loop))
    const shown = await type.show?.(node.data as never, templates)
    return { ...(await resolveTemplates(type, node.data, templates)), ...shown }
  }

  return {
    readBytes: () => readBytes,
    // The error of the node's run names the templates that could not be resolved.
    of: (id, path) =>
      inputOf(id, path).catch(error => {
        if (!(error instanceof AppError)) throw error
      }),
  }
}

/** Matches `nodes.id`, `nodes["id"]` and `nodes['id']`, in JSON. */
const outputNames = /\bnodes[^A-Za-z0-9_-]{1,4}([A-Za-z0-9_-]+)/g

/** Returns inputs as an execution shows them: cut, and null once their total size is above a limit. */
export function shownInputs(
  inputs: Inputs,
): (key: Pick<ResultKey, 'node_id' | 'path'>) => Promise<ShownInput> {
  let resolvedBytes = 0
  return async ({ node_id, path }) => {
    if (resolvedBytes + inputs.readBytes() > workBytes) return { json: 'null', truncated: true }
    const input = await inputs.of(node_id, path)
    const json = JSON.stringify(input ?? null)
    resolvedBytes += json.length
    await turn()
    if (Buffer.byteLength(json) <= shownBytes) return { json }
    return { json: JSON.stringify(cut(input, { bytes: shownBytes })), truncated: true }
  }
}

/** Returns the beginning of a JSON value, up to a number of bytes, with its objects and lists closed. */
export function cut(value: unknown, left: { bytes: number }): unknown {
  if (typeof value === 'string') {
    let shown = value.slice(0, Math.max(0, left.bytes - 2))
    for (let bytes = bytesOf(shown); bytes > left.bytes && shown !== ''; bytes = bytesOf(shown))
      shown = shown.slice(0, Math.floor((shown.length * Math.max(0, left.bytes)) / bytes))
    shown = shown.toWellFormed()
    left.bytes -= bytesOf(shown) + 1
    return shown
  }
  left.bytes -= 3
  if (typeof value !== 'object' || value === null) {
    left.bytes -= bytesOf(value)
    return value
  }
  const isList = Array.isArray(value)
  const keptEntries: [string, unknown][] = []
  for (const name of Object.keys(value)) {
    const nameBytes = isList ? 0 : bytesOf(name) + 1
    if (left.bytes <= nameBytes + 2) break
    left.bytes -= nameBytes
    keptEntries.push([name, cut(Object(value)[name], left)])
  }
  return isList ? keptEntries.map(([, entry]) => entry) : Object.fromEntries(keptEntries)
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? 'null')
}

/** Returns the result of one run of a node with its whole input and output, or only the part at `path`. */
export async function writeNode(
  agent: Agent,
  types: NodeTypes,
  execution: ExecutionRow,
  nodeId: string,
  path = '',
): Promise<string> {
  const { run, part } = readPath(path)
  const keys = await readKeys(agent.db, execution.id)
  const key = findRun(
    keys.filter(({ node_id }) => node_id === nodeId),
    run,
  )
  for await (const [row] of readRows(agent.db, execution.id, [key])) {
    if (row === undefined) break
    const input = await (await createInputs(agent, types, execution, keys)).of(nodeId, key.path)
    const [root, ...names] = part
    const output =
      root === 'output' ? JSON.stringify(partOf(parseJson(row.output ?? 'null'), names)) : row.output
    const shown = root === 'input' ? partOf(input, names) : input
    return writeResult({ ...row, output }, execution, { json: JSON.stringify(shown ?? null) })
  }
  throw notFound('Result of the node')
}

/** Splits a path into the indexes of loop items and the rest, which begins with `input` or `output`. */
function readPath(path: string): { run: string | undefined; part: string[] } {
  const names = path === '' ? [] : namesOf(path)
  const start = names.findIndex(name => !/^\d+$/.test(name))
  const run = names.slice(0, start < 0 ? names.length : start)
  const part = names.slice(run.length)
  if (part.length > 0 && !['input', 'output'].includes(part[0] ?? ''))
    throw invalid('path', 'must be the path of a run, a part of input or output, or both: 2.0.input.body')
  return { run: run.length === 0 ? undefined : run.join('.'), part }
}

function findRun(runs: readonly ResultKey[], path: string | undefined): ResultKey {
  const [only, ...others] = path === undefined ? runs : runs.filter(run => run.path === path)
  if (only === undefined) throw notFound('Result of the node')
  if (others.length > 0) throw invalid('path', 'is required: the node has run several times, as in 2.0')
  return only
}

/** @throws NOT_FOUND */
function partOf(value: unknown, names: readonly string[]): unknown {
  let part = value
  for (const name of names) {
    if (typeof part !== 'object' || part === null || !Object.prototype.propertyIsEnumerable.call(part, name))
      throw notFound('Part of the node')
    part = Object(part)[name]
  }
  return part
}
