import { Type } from 'typebox'

/** The answer of a call whose only news is that it was done. */
export const successSchema = Type.Object({ success: Type.Boolean() }, { title: 'Success' })
