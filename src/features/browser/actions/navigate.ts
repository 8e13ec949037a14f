import { Type } from 'typebox'
import { isOpenable } from '../sessions/openable-address.ts'
import { defineAction } from './action.ts'

/** Max wait until a page has loaded completely (ms): after it, the page is usable without the rest. */
const loadMs = 3000

export const navigate = defineAction({
  fields: {
    url: Type.String({
      minLength: 1,
      maxLength: 8000,
      description: 'An http or https address, or about:blank.',
    }),
  },
  check: ({ url }) =>
    isOpenable(url) ? undefined : { field: 'url', issue: 'must be an http or https address, or about:blank' },
  mayNavigate: true,
  leavesPage: true,
  waitsFor: ({ url }) => `the page ${url.slice(0, 200)}`,
  async run({ page, timeout }, { url }) {
    const response = await page.goto(url, { timeout, waitUntil: 'domcontentloaded' })
    await page.waitForLoadState('load', { timeout: Math.min(loadMs, timeout) }).catch(() => {})
    return { status: response?.status() ?? null }
  },
})
