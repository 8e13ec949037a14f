import type { Static, TObject, TProperties } from 'typebox'
import { Type } from 'typebox'
import type { Log } from '#platform/logging/log.ts'
import type { Templates } from '#platform/templates/resolve-templates.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Scope } from './scope.ts'

/** A kind of node. Adding one means a file like its neighbours, and a line in `node-types.ts`. */
export interface NodeType<Data = never> {
  /** Of `data`, from `nodeData`. Templates may stand for values of any type; what is required may be missing in a draft. */
  schema: TObject
  /** Other fields that are missing in `data`, as it is written. */
  missing?(data: Data): DataProblem | undefined
  /** Other problems of `data`, as it is written: drafts must not have them either. */
  problem?(data: Data): DataProblem | undefined
  /** A problem that takes time to find: looked for when `data` is saved with changes. */
  check?(data: Partial<Data>, agentId: string): Promise<DataProblem | undefined>
  /**
   * The exits, where a node chooses between several. A pinned output leaves by the one that it names, else by the first.
   * @param data of any shape: it may not have been checked.
   */
  handles?(data: Data): readonly string[] | undefined
  /**
   * Takes the secrets out of `data` when it is saved, and puts masks in their place.
   * @param before what this node had until now, for masks that come back.
   * @param at where `data` is, for messages.
   * @throws AppError for a mask without a secret behind it.
   */
  protect?(data: Data, before: Protected<Data> | undefined, at: string): Protected<Record<string, unknown>>
  /** Keys of `data` whose templates `run` resolves, if anything does. */
  literal?: readonly string[]
  /** Keys of `data` in which braces have no meaning. */
  verbatim?: readonly string[]
  /** The literal keys as `run` resolves them, without secrets, to be shown as the input of the node. */
  show?(data: Data, templates: Templates): Promise<object>
  /**
   * Whether it has no effect outside of its execution: its result may be recorded later, and it may run again after a crash
   * until it is. Its time is not limited.
   */
  onlyComputes?: true
  /** Seconds; 30 unless given. */
  timeoutSeconds?: number
  /**
   * Runs again after an interruption. An AppError that is permanent is not tried again; the message of any AppError is
   * shown to people, and `details.retry_after`, in seconds, delays the next attempt.
   */
  run(context: NodeContext<Data>): Promise<NodeOutcome>
}

export interface DataProblem {
  field: string
  issue: string
}

/** The data of a node as they are stored and shown, and its secrets by name, which are sealed. */
export interface Protected<Data> {
  data: Data
  secrets: Readonly<Record<string, string>>
}

export interface NodeContext<Data> extends Protected<Data> {
  agent: AgentHandle
  /** Checked against the schema, with all templates resolved that are not literal. */
  data: Data
  /** Of `scope`, for what is literal. */
  templates: Templates
  scope: Scope
  execution: { id: string; workflowId: string; depth: number }
  /** The same for every attempt: to be sent as `Idempotency-Key`. */
  key: string
  /** Aborted when the node takes too long, or its execution is terminated. */
  signal: AbortSignal
  log: Log
  /** Milliseconds since the epoch. */
  now: number
  /** When its first attempt began, in the same. */
  since: number
  /** Of a node that has waited: how it was resumed; empty if its time has come. */
  resumed?: { approved?: boolean; by?: string; data?: unknown } | undefined
}

export type NodeOutcome =
  | { output: unknown; handle?: string; warnings?: readonly string[] }
  /** To be run again at this time, or earlier once a person has decided. */
  | { waitUntil: number; forApproval: string | undefined /** For a person, in a turn. */; isTurn?: true }
  | { items: unknown[]; concurrency: number; stopsOnError: boolean }

/** The schema of a node's `data`, with what all types take. */
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

/** Whether a key of `data` is as it is written when the node runs. */
export function isLiteral({ literal }: Pick<NodeType, 'literal'>, key: string): boolean {
  return Object.hasOwn(common, key) || (literal?.includes(key) ?? false)
}

/** Gives a node type the type of its data. */
export function defineNode<Schema extends TObject>(
  schema: Schema,
  { run, ...node }: Omit<NodeType<Static<Schema>>, 'schema'>,
): NodeType<Static<Schema>> {
  return { ...node, schema, run }
}
