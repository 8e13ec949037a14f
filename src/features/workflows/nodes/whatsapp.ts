import { Type } from 'typebox'
import type { ChannelsService } from '#features/channels/channels.service.ts'
import { defineNode, nodeData } from '../engine/node-type.ts'
import { exactlyOne } from './exactly-one.ts'

const schema = nodeData({
  to: Type.String({ maxLength: 100 }),
  text: Type.Optional(Type.String({ maxLength: 100_000 })),
  template: Type.Optional(
    Type.Object(
      {
        name: Type.String({ maxLength: 512 }),
        language: Type.String({ maxLength: 20 }),
        parameters: Type.Optional(Type.Array(Type.String({ maxLength: 10_000 }), { maxItems: 100 })),
      },
      { additionalProperties: false },
    ),
  ),
})

/** Sends a WhatsApp message: a text, or a template approved by WhatsApp. */
export const createWhatsapp = ({ sendWhatsapp }: Pick<ChannelsService, 'sendWhatsapp'>) =>
  defineNode(schema, {
    missing: data => exactlyOne(data, ['text', 'template']),
    async run({ agent, data: { to, text = '', template }, key, signal }) {
      const message = template === undefined ? { to, text } : { to, template }
      return { output: await sendWhatsapp(agent, message, { key, signal }) }
    },
  })
