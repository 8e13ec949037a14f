import { Type } from 'typebox'
import { invalid } from '#platform/errors.ts'
import { defineAction } from './action.ts'

export const outline = defineAction({
  fields: {
    find: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: '\\S',
        description: 'Return only lines that contain this text.',
      }),
    ),
    ref: Type.Optional(
      Type.String({ pattern: '^\\w{1,20}$', description: 'Return only this element and its descendants.' }),
    ),
  },
  // The outline reads every element of a large page.
  usualTimeout: 30_000,
  waitsFor: () => 'the page to be read',
  async run(scene, options) {
    const { text, lines } = await scene.outline(options)
    if (options.ref !== undefined && !lines.some(({ ref }) => ref === options.ref))
      throw invalid('ref', `${options.ref} is not on this page; read it without ref first`)
    return { outline: text }
  },
})
