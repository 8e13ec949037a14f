import { Type } from 'typebox'

export const changeSchema = Type.Object(
  {
    type: Type.String({
      description:
        'The resource that changed, by the name of its path, such as `sources`; `open` at the beginning; `reset` where changes may have been missed.',
    }),
    id: Type.Optional(
      Type.String({
        description:
          'Of the resource; of messages and approvals: that of their conversation. Absent where any may have changed.',
      }),
    ),
    at: Type.String({ format: 'date-time' }),
  },
  { title: 'Change' },
)
