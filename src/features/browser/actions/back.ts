import { AppError } from '#platform/errors.ts'
import { defineAction } from './action.ts'

export const back = defineAction({
  fields: {},
  mayNavigate: true,
  leavesPage: true,
  waitsFor: () => 'the page before',
  async run({ page, cdp, timeout }) {
    const { currentIndex } = await cdp.send('Page.getNavigationHistory')
    if (currentIndex === 0)
      throw new AppError('BROWSER_FAILED', 'There is no page before this one in this tab.')
    await page.goBack({ timeout, waitUntil: 'domcontentloaded' })
    return undefined
  },
})
