import { type Static, Type } from 'typebox'

/*
 * Credential: the secret that the tools of a cluster present to the service that they call, under the name that its OpenAPI
 * document gives it. It is filled in by a person, for the origins that the tools call at that time, and never shown again.
 */

export const credentialSchema = Type.Object(
  {
    name: Type.String(),
    type: Type.Enum(['apiKey', 'basic', 'bearer']),
    in: Type.Optional(Type.Enum(['header', 'query', 'cookie'])),
    parameter: Type.Optional(
      Type.String({ description: 'The header, query parameter or cookie that contains the credential.' }),
    ),
    description: Type.Optional(Type.String()),
    isSet: Type.Boolean(),
    origins: Type.Array(Type.String(), {
      description:
        'The servers that receive the credential. A value is stored for the servers at the time when it is set.',
    }),
  },
  { title: 'ToolCredential' },
)
export type ToolCredential = Static<typeof credentialSchema>

export const credentialListSchema = Type.Object({
  success: Type.Boolean(),
  data: Type.Array(credentialSchema),
})

const credentialText = Type.String({ minLength: 1, maxLength: 16_000 })

export const credentialValuesSchema = Type.Record(
  Type.String(),
  Type.Union([
    credentialText,
    Type.Object({ username: Type.String({ maxLength: 1000 }), password: Type.String({ maxLength: 16_000 }) }),
    Type.Null(),
  ]),
  {
    minProperties: 1,
    description:
      'Values by name: a key or token; {username, password} for the type basic; null deletes a value.',
    examples: [{ api_key: 'secret' }],
  },
)
export type CredentialValues = Static<typeof credentialValuesSchema>
