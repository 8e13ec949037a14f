import { Type } from 'typebox'
import type { ChannelsService } from '#features/channels/channels.service.ts'
import { splitTemplates, type Templates, textOf } from '#platform/templates/resolve-templates.ts'
import { defineNode, nodeData } from '../engine/node-type.ts'

const addressKeys = ['to', 'cc', 'bcc', 'reply_to'] as const
/** One or several addresses, separated by commas, or a list of them. */
const addresses = Type.Unsafe<string | string[]>({
  type: ['string', 'array'],
  maxLength: 20_000,
  items: { type: 'string', maxLength: 1_000 },
  maxItems: 50,
})
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

/** Sends a mail by the agent's mail server, with the same Message-ID in each attempt. */
export const createEmail = ({ sendMail }: Pick<ChannelsService, 'sendMail'>) =>
  defineNode(schema, {
    literal: addressKeys,
    async show(data, templates) {
      const shown: Record<string, unknown> = {}
      for (const name of addressKeys)
        if (data[name] !== undefined) shown[name] = await templates.resolve(data[name])
      return shown
    },
    async run({ agent, data, templates, key, signal }) {
      const { subject, body, html } = data
      const addressed: Partial<Record<(typeof addressKeys)[number], Filled[]>> = {}
      for (const name of addressKeys)
        if (data[name] !== undefined) addressed[name] = await fillAddresses(data[name], templates)
      const mail = { to: [], ...addressed, subject, body, ...(html !== undefined && { html }) }
      return { output: await sendMail(agent, mail, { key, signal }) }
    },
  })

/** A `single` address comes from a template, so commas in it must not add addresses. */
type Filled = string | { single: string }

async function fillAddresses(list: string | readonly string[], templates: Templates): Promise<Filled[]> {
  const filled: Filled[] = []
  for (const part of [list].flat().flatMap(splitAtCommas)) {
    const isOwn = splitTemplates(part).paths.length === 0
    filled.push(isOwn ? part : { single: await templates.fill(part, addressesOf) })
  }
  return filled
}

function addressesOf(value: unknown): string {
  return Array.isArray(value) ? value.map(textOf).join(', ') : textOf(value)
}

/** Splits at commas outside of quotes and templates. */
function splitAtCommas(text: string): string[] {
  const parts: string[] = []
  let part = ''
  let isQuoted = false
  for (const piece of text.split(/(\\.|\{\{[^{}]*\}\}|[",])/)) {
    if (piece === '"') isQuoted = !isQuoted
    if (piece !== ',' || isQuoted) part += piece
    else {
      parts.push(part)
      part = ''
    }
  }
  return [...parts, part]
}
