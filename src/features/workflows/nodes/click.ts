import { Type } from 'typebox'
import { defineNode, nodeData } from '../engine/node-type.ts'
import type { BrowserSessions } from './browser.ts'

const schema = nodeData({ selector: Type.String({ maxLength: 2_000 }) })

/** Clicks an element of the page that the execution has open. */
export const createClick = ({ act }: Pick<BrowserSessions, 'act'>) =>
  defineNode(schema, {
    async run({ agent, data: { selector }, execution, signal }) {
      return { output: await act(agent, execution.id, { action: 'click', selector }, signal) }
    },
  })
