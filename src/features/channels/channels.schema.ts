import { type Static, Type } from 'typebox'
import { orNull } from '#platform/own-schemas.ts'

/** Channel: a connection to people outside, by mail or by a messenger. */
export const channelNames = ['mail', 'telegram', 'whatsapp'] as const
export type ChannelName = (typeof channelNames)[number]
export const messengers = ['telegram', 'whatsapp'] as const
export type Messenger = (typeof messengers)[number]

const statusSchema = Type.Object(
  {
    configured: Type.Boolean({ description: 'Whether the agent can send messages.' }),
    credentials: Type.Unsafe<'agent' | 'platform' | null>({
      type: ['string', 'null'],
      description: 'Owner of the credentials in use: `agent`, `platform`, or null without credentials.',
    }),
    connected: orNull(
      Type.Boolean({
        description: 'Whether the agent receives messages; null if unknown.',
      }),
    ),
  },
  { title: 'ChannelStatus' },
)

export const channelsSchema = Type.Object({
  mail: statusSchema,
  telegram: statusSchema,
  whatsapp: statusSchema,
})
export type Channels = Static<typeof channelsSchema>

export const testMessageSchema = Type.Object({
  to: Type.String({
    maxLength: 320,
    description: 'An e-mail address, the id of a Telegram chat, or a WhatsApp number with its country code.',
    examples: ['ann@example.com'],
  }),
})

export const sentSchema = Type.Object({ message_id: Type.String() })
export const connectedSchema = Type.Object({
  url: Type.String({ description: 'The URL to which Telegram delivers messages.' }),
})
