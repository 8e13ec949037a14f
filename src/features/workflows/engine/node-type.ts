import { type Static, type TObject, type TProperties, Type } from 'typebox'
import type { Log } from '#platform/logging/log.ts'
import type { Templates } from '#platform/templates/resolve-templates.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Scope } from './scope.ts'

/** A kind of node. To add one, write a file like its neighbours, and add a line to `node-types.ts`. */
export interface NodeType<Data = never> {
  /** The schema of `data`, from `nodeData`. Templates can replace any value; drafts may lack values. */
  schema: TObject
  /** Returns other missing fields of the written `data`. */
  missing?(data: Data): DataProblem | undefined
  /** Returns other problems of the written `data`, which drafts must not have either. */
  problem?(data: Data): DataProblem | undefined
  /** Returns a problem that takes time to find; called when changed `data` is saved. */
  check?(data: Partial<Data>, agentId: string): Promise<DataProblem | undefined>
  /**
   * Returns the exits of a node that has several. A pinned output names its exit; the default is the first.
   * @param data has any shape: it might not have been checked.
   */
  handles?(data: Data): readonly string[] | undefined
  /**
   * Replaces the secrets in `data` by masks when it is saved.
   * @param before the node's former data and secrets, for masks that come back.
   * @param at the path of `data`, for messages.
   * @throws AppError for a mask without a secret behind it.
   */
  protect?(data: Data, before: Protected<Data> | undefined, at: string): Protected<Record<string, unknown>>
  /** Keys of `data` whose templates are left to `run`. */
  literal?: readonly string[]
  /** Keys of `data` in which braces have no meaning. */
  verbatim?: readonly string[]
  /** Returns the literal keys as `run` resolves them, without secrets, to show them as the node's input. */
  show?(data: Data, templates: Templates): Promise<object>
  /**
   * True if the node has no effect outside of its execution: its result can be recorded later, and until then
   * it can run again after a crash. The node's time is not limited.
   */
  onlyComputes?: true
  /** Max duration in seconds; defaults to 30. */
  timeoutSeconds?: number
  /**
   * Runs the node, again after an interruption. A permanent AppError is not retried; the message of any
   * AppError is shown to people, and `details.retry_after`, in seconds, delays the next attempt.
   */
  run(context: NodeContext<Data>): Promise<NodeOutcome>
}

export interface DataProblem {
  field: string
  issue: string
}

/** The data of a node in the stored and shown form, and its secrets by name, which are sealed. */
export interface Protected<Data> {
  data: Data
  secrets: Readonly<Record<string, string>>
}

export interface NodeContext<Data> extends Protected<Data> {
  agent: AgentHandle
  /** Data that matches the schema, with all templates resolved except in literal keys. */
  data: Data
  /** Resolves templates in literal keys with `scope`. */
  templates: Templates
  scope: Scope
  execution: { id: string; workflowId: string; depth: number }
  /** Identical for every attempt: to be sent as `Idempotency-Key`. */
  key: string
  /** Aborted when the node takes too long, or its execution is terminated. */
  signal: AbortSignal
  log: Log
  /** Milliseconds since the epoch. */
  now: number
  /** The beginning of the first attempt, in milliseconds since the epoch. */
  since: number
  /** The decision on a node that has waited; empty if its time has come. */
  resumed?: { approved?: boolean; by?: string; data?: unknown } | undefined
}

export type NodeOutcome =
  | { output: unknown; handle?: string; warnings?: readonly string[] }
  /** The node runs again at this time, or earlier once a person has decided; with `isTurn`, in a turn. */
  | { waitUntil: number; forApproval: string | undefined; isTurn?: true }
  | { items: unknown[]; concurrency: number; stopsOnError: boolean }

/** Returns the schema of a node's `data`, with the fields of all types. */
export function nodeData<Properties extends TProperties>(properties: Properties) {
  return Type.Object({ ...common, ...properties }, { additionalProperties: false })
}

export const maxTimeoutSeconds = 3_600

const common = {
  timeout_seconds: Type.Optional(Type.Number({ minimum: 1, maximum: maxTimeoutSeconds })),
  on_interruption: Type.Optional(Type.Enum(['repeat', 'fail'])),
  retries: Type.Optional(
    Type.Object(
      {
        max: Type.Integer({ minimum: 0, maximum: 10 }),
        delay_seconds: Type.Optional(Type.Number({ minimum: 0, maximum: 86_400 })),
        factor: Type.Optional(Type.Number({ minimum: 1, maximum: 10 })),
      },
      { additionalProperties: false },
    ),
  ),
}
export type CommonData = Static<TObject<typeof common>>

/** Returns true for a key of `data` that keeps its templates when the node runs. */
export function isLiteral({ literal }: Pick<NodeType, 'literal'>, key: string): boolean {
  return Object.hasOwn(common, key) || (literal?.includes(key) ?? false)
}

/** Types a node by the schema of its data. */
export function defineNode<Schema extends TObject>(
  schema: Schema,
  { run, ...node }: Omit<NodeType<Static<Schema>>, 'schema'>,
): NodeType<Static<Schema>> {
  return { ...node, schema, run }
}
