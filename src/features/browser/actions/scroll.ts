import { Type } from 'typebox'
import { read } from '../in-page/read.ts'
import { defineAction } from './action.ts'

const signs = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] } as const

export const scroll = defineAction({
  fields: {
    direction: Type.Enum(['up', 'down', 'left', 'right']),
    amount: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1_000_000,
        description: 'Distance in CSS pixels. Default: most of the window.',
      }),
    ),
  },
  waitsFor: () => 'the page to scroll',
  async run({ page, timeout }, { direction, amount }) {
    const [x, y] = signs[direction as keyof typeof signs]
    return { moved: await read(page, 'scrollBy', { x, y, amount }, timeout) }
  },
})
