import { Type } from 'typebox'
import { defineNode, nodeData } from '../engine/node-type.ts'
import type { BrowserSessions } from './browser.ts'

const schema = nodeData({
  url: Type.String({ maxLength: 8_000 }),
  wait_for: Type.Optional(Type.String({ maxLength: 2_000 })),
})

/** Opens a page in the execution's browser session, and waits for an element if one is named. */
export const createNavigate = ({ act }: Pick<BrowserSessions, 'act'>) =>
  defineNode(schema, {
    async run({ agent, data: { url, wait_for }, execution: { id }, signal }) {
      const opened = await act(agent, id, { action: 'navigate', url }, signal)
      if (wait_for === undefined) return { output: opened }
      return { output: await act(agent, id, { action: 'wait', selector: wait_for }, signal) }
    },
  })
