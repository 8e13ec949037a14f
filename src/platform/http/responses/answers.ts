import { Type } from 'typebox'

/** The answer of a call that has nothing to say but that it was done. */
export const successSchema = Type.Object({ success: Type.Boolean() }, { title: 'Success' })
