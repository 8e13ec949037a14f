import { Type } from 'typebox'

/** The response of a call that only succeeded. */
export const successSchema = Type.Object({ success: Type.Boolean() }, { title: 'Success' })
