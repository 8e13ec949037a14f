import { Type } from 'typebox'
import { invalid } from '#platform/errors.ts'
import { defineAction } from './action.ts'

const tabNumber = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description }))

/** Tabs are numbered by their order. */
export const tabs = defineAction({
  fields: {
    choose: tabNumber('The number of the tab that becomes the active one.'),
    close: tabNumber('The number of the tab to close.'),
  },
  check: ({ choose, close }) =>
    choose !== undefined && close !== undefined
      ? { field: 'close', issue: 'and choose exclude each other' }
      : undefined,
  waitsFor: ({ close }) => (close === undefined ? 'the tabs' : `tab ${close} to close`),
  async run({ tabs: { all, activate, describe } }, { choose, close }) {
    const [field, number] = close === undefined ? (['choose', choose] as const) : (['close', close] as const)
    const tab = all()[(number ?? 0) - 1]
    if (number !== undefined && tab === undefined)
      throw invalid(field, `is no tab: there are ${all().length}, with numbers from 1`)
    if (choose !== undefined && tab !== undefined) activate(tab)
    if (close !== undefined) await tab?.page.close({ runBeforeUnload: false })
    return { open_tabs: await describe() }
  },
})
