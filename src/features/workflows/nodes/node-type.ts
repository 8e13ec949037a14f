import type { Static, TObject, TProperties } from 'typebox'
import { Type } from 'typebox'
import type { Log } from '#platform/logging/log.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Scope } from '../engine/scope.ts'

/** A kind of node. Adding one means a file like its neighbours, and a line in `node-types.ts`. */
export interface NodeType<Data = never> {
  type: string
  /** Of `data`, from `nodeData`. Templates may stand for values of any type; what is required may be missing in a draft. */
  schema: TObject
  /** What else is missing in `data`, as it is written. */
  missing?(data: Data): { field: string; issue: string } | undefined
  /** The exits, where a node chooses between several. A pinned output leaves by the one that it names, else by the first. */
  handles?(data: Data): readonly string[] | undefined
  /** Keys of `data` whose templates are not resolved before `run`. */
  literal?: readonly string[]
  /** Seconds; 30 unless given. */
  timeoutSeconds?: number
  /**
   * Runs again after an interruption. An AppError that is permanent is not tried again; the message of any AppError is
   * shown to people, and `details.retryAfterSeconds` delays the next attempt.
   */
  run(context: NodeContext<Data>): Promise<NodeOutcome>
}

export interface NodeContext<Data> {
  agent: AgentHandle
  /** Checked against the schema, with all templates resolved that are not literal. */
  data: Data
  scope: Scope
  execution: { id: string; workflowId: string; depth: number }
  /** The same for every attempt: to be sent as `Idempotency-Key`. */
  key: string
  /** Aborted when the node takes too long, or its execution is terminated. */
  signal: AbortSignal
  log: Log
  /** Milliseconds since the epoch. */
  now: number
  /** Of a node that has waited: how it was resumed; empty if its time has come. */
  resumed?: { approved?: boolean; by?: string; data?: unknown } | undefined
}

export type NodeOutcome =
  | { output: unknown; handle?: string; warnings?: readonly string[] }
  /** To be run again at this time, or earlier once a person has decided. */
  | { waitUntil: number; forApproval: string | undefined }
  | { items: unknown[]; concurrency: number; stopsOnError: boolean }

/** The schema of a node's `data`, with what all types take. */
export function nodeData<Properties extends TProperties>(properties: Properties) {
  return Type.Object({ ...properties, ...common }, { additionalProperties: false })
}

const common = {
  timeout_seconds: Type.Optional(Type.Number({ minimum: 1, maximum: 366 * 86_400 })),
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

/** Gives a node type the type of its data. */
export function defineNode<Schema extends TObject>(
  schema: Schema,
  { run, ...node }: Omit<NodeType<Static<Schema>>, 'schema'>,
): NodeType<Static<Schema>> {
  return { ...node, schema, run }
}
