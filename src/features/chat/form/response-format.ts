import { Type } from 'typebox'

/** Max characters of a schema, which the prompt repeats. */
export const maxSchema = 50_000

export const responseFormatSchema = Type.Object(
  {
    type: Type.Literal('json_schema'),
    json_schema: Type.Object({
      name: Type.Optional(
        Type.String({ pattern: '^[\\w-]{1,64}$', description: '1 to 64 of a-z, A-Z, 0-9, _ and -.' }),
      ),
      schema: Type.Record(Type.String(), Type.Unknown(), {
        description: `A JSON Schema of at most ${maxSchema} characters.`,
      }),
      strict: Type.Optional(
        Type.Boolean({
          description: 'Passed on to providers that distinguish it. The answer is checked in any case.',
        }),
      ),
    }),
  },
  { description: 'The form that the answer must have; `metadata.output` is its value.' },
)

/** The form that a caller wants for an answer; `json_object` stands for any object. */
export interface ResponseFormat {
  type: 'text' | 'json_object' | 'json_schema'
  json_schema?: { name?: string; schema?: object | null; strict?: boolean } | null
}
