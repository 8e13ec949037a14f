import { type Static, type TProperties, Type } from 'typebox'
import { invalid } from '#platform/errors.ts'
import { problemOf } from '#platform/schema-check.ts'
import { actionNames, actions } from './registry.ts'
import { selectorProblem } from './selector.ts'

/** Timeouts in milliseconds. */
const defaultTimeout = 5000
const mostTimeout = 60_000

const common = {
  timeout: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: mostTimeout,
      description: `Time-out in milliseconds. Default: ${defaultTimeout}.`,
    }),
  ),
  dialog: Type.Optional(
    Type.Enum(['accept'], {
      description:
        'Accept every dialog that opens during the action. By default alerts are accepted and other dialogs dismissed.',
    }),
  ),
}

/** The fields of all actions; each action checks its own fields later. */
const fields: TProperties = Object.assign({}, ...Object.values(actions).map(action => action.fields))
const optional = Type.Partial(Type.Object(fields)).properties

const actionSchema = Type.Object(
  { action: Type.Enum([...actionNames]), ...optional, ...common },
  { title: 'BrowserAction' },
)
export type ActionInput = Static<typeof actionSchema> & { url?: string; selector?: string }

export const executeSchema = Type.Object(
  {
    ...Type.Partial(actionSchema).properties,
    actions: Type.Optional(Type.Array(actionSchema, { minItems: 1, maxItems: 100 })),
  },
  { minProperties: 1, examples: [{ action: 'navigate', url: 'https://example.com/' }] },
)
export type ExecuteInput = Static<typeof executeSchema>

export type ActionResult = Record<string, unknown>

const resultSchema = Type.Object(
  {
    value: Type.Optional(Type.Unknown({ description: 'Of `extract` and `evaluate`; at most 1 MiB.' })),
    truncated: Type.Optional(
      Type.Boolean({ description: 'Whether `value` is the beginning of a text that is longer than 1 MiB.' }),
    ),
  },
  { additionalProperties: true },
)

export const executedSchema = Type.Object({
  success: Type.Boolean(),
  result: Type.Optional(resultSchema),
  results: Type.Optional(
    Type.Array(
      Type.Object({
        action: Type.String(),
        success: Type.Boolean(),
        duration_ms: Type.Integer(),
        result: Type.Optional(resultSchema),
        error: Type.Optional(Type.String()),
      }),
    ),
  ),
  total_duration_ms: Type.Optional(Type.Integer()),
})
export type Executed = Static<typeof executedSchema>

/** Returns the timeout of the action (ms). */
export function timeoutOf({ action, timeout }: ActionInput): number {
  return timeout ?? actions[action].usualTimeout ?? defaultTimeout
}

/** Throws VALIDATION_ERROR that names the field; `path` is the action's place in the body. */
export function requireAction(input: ActionInput, path = ''): void {
  const { schema, check } = actions[input.action]
  const problem =
    problemOf(schema, input) ??
    check?.(input) ??
    (input.selector === undefined ? undefined : selectorProblem(input.selector))
  if (problem !== undefined) throw invalid(path + problem.field, problem.issue)
}
