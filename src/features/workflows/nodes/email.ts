import { Type } from 'typebox'
import type { ChannelsService } from '#features/channels/channels.service.ts'
import { defineNode, nodeData } from './node-type.ts'

/** One or several, separated by commas, or a list of them. */
const addresses = Type.Unsafe<string | string[]>({ type: ['string', 'array'], items: { type: 'string' } })
const text = Type.String({ maxLength: 1_000_000 })

const schema = nodeData({
  to: addresses,
  subject: Type.String({ maxLength: 1_000 }),
  body: text,
  html: Type.Optional(text),
  cc: Type.Optional(addresses),
  bcc: Type.Optional(addresses),
  reply_to: Type.Optional(addresses),
})

/** Sends a mail by the agent's mail server, under the same Message-ID however often it is tried. */
export const createEmail = ({ sendMail }: Pick<ChannelsService, 'sendMail'>) =>
  defineNode(schema, {
    async run({ agent, data, key, signal }) {
      const { to, subject, body, html, cc, bcc, reply_to } = data
      const optional = Object.entries({ html, cc, bcc, reply_to }).filter(([, value]) => value !== undefined)
      const mail = { to, subject, body, ...Object.fromEntries(optional) }
      return { output: await sendMail(agent, mail, { key, signal }) }
    },
  })
