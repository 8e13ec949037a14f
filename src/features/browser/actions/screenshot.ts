import { Type } from 'typebox'
import { read } from '../in-page/read.ts'
import { secretFields } from '../secrets/secret-fields.ts'
import { defineAction } from './action.ts'

/** Max height in CSS pixels; the rest below is left out. */
const mostHeight = 16_000

export const screenshot = defineAction({
  fields: {
    full_page: Type.Optional(
      Type.Boolean({
        description: 'Capture the whole page, at most 16,000 pixels high, instead of the window.',
      }),
    ),
  },
  waitsFor: () => 'the page to be drawn',
  async run({ page, timeout }, { full_page: isWhole = false }) {
    const { width, height } = await read(page, 'size', undefined, timeout)
    const isCut = isWhole && height > mostHeight
    const image = await page.screenshot({
      timeout,
      fullPage: isWhole,
      mask: page.frames().map(frame => frame.locator(secretFields)),
      maskColor: '#888888',
      ...(isCut && { clip: { x: 0, y: 0, width: Math.min(width, mostHeight), height: mostHeight } }),
    })
    return {
      image: `data:image/png;base64,${image.toString('base64')}`,
      ...(isCut && { note: `The page is ${height} pixels high; the first ${mostHeight} are shown.` }),
    }
  },
})
