import { Type } from 'typebox'
import { defineAction, selectorField } from './action.ts'

/** Files come only from the request: no file of this machine can be named. */
export const upload = defineAction({
  fields: {
    selector: selectorField,
    files: Type.Array(
      Type.Object({
        name: Type.String({ minLength: 1, maxLength: 255, pattern: '\\S' }),
        mime_type: Type.Optional(Type.String({ maxLength: 255 })),
        data: Type.String({ description: 'Base64.' }),
      }),
      { maxItems: 100 },
    ),
  },
  check({ files }) {
    const wrong = files.findIndex(({ data }) => !/^[\w+/-]*={0,2}$/.test(data))
    return wrong === -1 ? undefined : { field: `files.${wrong}.data`, issue: 'must be Base64' }
  },
  waitsFor: ({ selector }) => `${selector} to be a field for files`,
  async run({ locate, timeout }, { selector, files }) {
    const payload = files.map(({ name, mime_type: mimeType = 'application/octet-stream', data }) => {
      return { name, mimeType, buffer: Buffer.from(data, 'base64') }
    })
    await (await locate(selector)).setInputFiles(payload, { timeout })
    return undefined
  },
})
