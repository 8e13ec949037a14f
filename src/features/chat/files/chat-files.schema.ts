import { type Static, Type } from 'typebox'
import { attachmentSchema } from '../chat.schema.ts'

export const chatFileSchema = Type.Object(
  {
    ...attachmentSchema.properties,
    status: Type.String({
      description: '`ready`; of a document also `processing`, and `error` if it can’t be read.',
    }),
    progress: Type.Optional(Type.Number({ description: 'Of a document that is being read, 0 to 1.' })),
    error: Type.Optional(Type.String()),
  },
  { title: 'ChatFile' },
)
export type ChatFile = Static<typeof chatFileSchema>

export const fileForm = Type.Object({ file: Type.String({ format: 'binary' }) })
