import { type Static, type TSchema, Type } from 'typebox'
import { orNull } from '#platform/own-schemas.ts'

/*
 * Model: an agent, by its id or name among those that the caller may chat with. Server-side tools: the agent's, which callers don't see. Client-side tools: those of the
 * request, whose calls are handed out. Trail: the steps of the model and server-side tools before such calls.
 */

/** Other fields of OpenAI's API are ignored. */
const open = { additionalProperties: true }
const maybe = <Schema extends TSchema & { type: string }>(schema: Schema) => Type.Optional(orNull(schema))
const object = maybe(Type.Object({}, open))
const anything = Type.Optional(Type.Unknown())
const count = maybe(Type.Integer({ minimum: 1 }))

const called = Type.Object({ name: Type.String(), arguments: Type.String() }, open)
const callSchema = Type.Object({ id: Type.String(), function: called }, open)
const messageSchema = Type.Object(
  {
    role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool']),
    content: Type.Optional(
      Type.Unknown({
        description:
          'A text, or a list of parts: `text`, and in messages of the user `image_url` and `file`.',
      }),
    ),
    tool_calls: maybe(Type.Array(callSchema)),
    tool_call_id: Type.Optional(Type.String()),
  },
  { ...open, title: 'OpenAiMessage' },
)
export type SentMessage = Static<typeof messageSchema> & {
  /** The place of its content in the request, if not below its own index. */
  place?: string
}
export type SentCall = Static<typeof callSchema>

const described = { description: maybe(Type.String()), parameters: object }
const toolSchema = Type.Object({ function: Type.Object({ name: Type.String(), ...described }, open) }, open)
const formatTypes = Type.Enum(['text', 'json_object', 'json_schema'])
const maxItems = 128
const shared = {
  model: Type.String({
    description: 'Id or name of an agent that the caller may chat with.',
    examples: ['default'],
  }),
  temperature: maybe(Type.Number({ minimum: 0, maximum: 2 })),
  tool_choice: Type.Optional(
    Type.Unknown({ description: '`auto`, `none`, `required`, or a tool by its name.' }),
  ),
  stream: maybe(Type.Boolean()),
  agentstead: Type.Optional(
    Type.Object({ autoRag: Type.Optional(Type.Boolean()), enableTools: Type.Optional(Type.Boolean()) }),
  ),
}

export const chatSchema = Type.Object(
  {
    ...shared,
    messages: Type.Array(messageSchema, { examples: [[{ role: 'user', content: 'What can you do?' }]] }),
    max_tokens: count,
    max_completion_tokens: count,
    stop: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String()), Type.Null()])),
    n: count,
    response_format: maybe(
      Type.Object({ type: formatTypes, json_schema: maybe(Type.Object({ schema: object }, open)) }, open),
    ),
    tools: maybe(Type.Array(toolSchema, { maxItems })),
    stream_options: maybe(Type.Object({ include_usage: maybe(Type.Boolean()) }, open)),
  },
  open,
)
export type ChatBody = Static<typeof chatSchema>

const text = Type.Optional(Type.String())
const itemFields = { type: text, role: text, content: anything, call_id: text, name: text, arguments: text }
const itemSchema = Type.Object({ ...itemFields, output: anything }, { ...open, title: 'ResponseInputItem' })
export type Item = Static<typeof itemSchema>

export const responsesSchema = Type.Object(
  {
    ...shared,
    input: Type.Union([Type.String(), Type.Array(itemSchema)], { examples: ['What can you do?'] }),
    instructions: maybe(Type.String()),
    max_output_tokens: count,
    previous_response_id: maybe(Type.String()),
    conversation: anything,
    background: maybe(Type.Boolean()),
    text: maybe(
      Type.Object({ format: maybe(Type.Object({ type: formatTypes, schema: object }, open)) }, open),
    ),
    tools: maybe(
      Type.Array(Type.Object({ type: Type.String(), name: text, ...described }, open), { maxItems }),
    ),
  },
  open,
)
export type ResponsesBody = Static<typeof responsesSchema>

export const modelSchema = Type.Object(
  { id: Type.String(), object: Type.Literal('model'), created: Type.Integer(), owned_by: Type.String() },
  { title: 'OpenAiModel' },
)
export const modelListSchema = Type.Object({ object: Type.Literal('list'), data: Type.Array(modelSchema) })
export const completionSchema = Type.Object(
  { id: Type.String(), object: Type.Literal('chat.completion'), choices: Type.Array(Type.Object({}, open)) },
  { ...open, title: 'ChatCompletion', description: 'With `stream`, events `chat.completion.chunk`.' },
)
export const responseSchema = Type.Object(
  { id: Type.String(), object: Type.Literal('response'), output: Type.Array(Type.Object({}, open)) },
  { ...open, title: 'Response', description: 'With `stream`, events such as `response.output_text.delta`.' },
)
