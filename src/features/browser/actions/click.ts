import { clickTarget, read } from '../in-page/read.ts'
import { defineAction, selectorField } from './action.ts'

export const click = defineAction({
  fields: { selector: selectorField },
  mayNavigate: true,
  waitsFor: ({ selector }) => `${selector} to be visible, enabled and not covered`,
  async run({ locate, timeout }, { selector }) {
    const end = performance.now() + timeout
    const target = clickTarget(await locate(selector))
    const position = await read(target, 'clearPoint', undefined, timeout)
    await target.click({ timeout: Math.max(1, end - performance.now()), ...(position && { position }) })
    return undefined
  },
})
