import { type Static, Type } from 'typebox'
import { approvalRuleSchema } from '#models/tools/approval-rule.ts'
import { credentialSchema } from './credentials.schema.ts'
import { toolSchema } from './tools.schema.ts'

/** A body with exactly one of `url` and `spec`. */
export const importBodySchema = Type.Object({
  url: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 8000,
      description: 'URL of an OpenAPI 3 document, JSON or YAML.',
    }),
  ),
  spec: Type.Optional(
    Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.String({ minLength: 1 })], {
      description: 'The document as an object, or as JSON or YAML text.',
    }),
  ),
  cluster: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '\\S',
      description: 'Name of the cluster. Default: the title of the document.',
    }),
  ),
  requiresApproval: Type.Optional(
    Type.Union(approvalRuleSchema.anyOf, {
      description: 'The same of the tools that this import adds. Default: false.',
    }),
  ),
  names: Type.Optional(
    Type.Array(Type.String({ maxLength: 200 }), {
      maxItems: 2000,
      description: 'Names of the tools to import. Default: all of the document.',
    }),
  ),
  preview: Type.Optional(
    Type.Boolean({ description: 'Whether to answer with what the import would do, and store nothing.' }),
  ),
})
export type ImportBody = Static<typeof importBodySchema>

export const importAnswerSchema = Type.Object({
  success: Type.Boolean(),
  data: Type.Array(toolSchema),
  skipped: Type.Array(Type.Object({ operation: Type.String(), reason: Type.String() })),
  warnings: Type.Array(Type.Object({ operation: Type.Optional(Type.String()), warning: Type.String() })),
  credentials: Type.Array(credentialSchema),
})
export type ImportAnswer = Omit<Static<typeof importAnswerSchema>, 'success'>
