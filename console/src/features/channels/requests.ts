import type { Static } from 'typebox'
import { get, path, post, put } from '#console/api/request.ts'
import type { Agent } from '#console/shell/agent.tsx'
import type { settingsAnswerSchema } from '#features/agents/settings.schema.ts'
import type {
  ChannelName,
  Channels,
  connectedSchema,
  sentSchema,
} from '#features/channels/channels.schema.ts'

export type { ChannelName }

type Settings = Static<typeof settingsAnswerSchema>

export const getChannels = ({ api }: Agent) => get<{ channels: Channels }>(`${api}/channels`)
export const connectTelegram =
  ({ api }: Agent) =>
  () =>
    post<Static<typeof connectedSchema>>(`${api}/channels/telegram/connect`)
export const testChannel =
  ({ api }: Agent, channel: ChannelName) =>
  (body: object) =>
    post<Static<typeof sentSchema>>(`${api}${path`/channels/${channel}/test`}`, { body })

const secrets = [
  ...['telegram_bot_token', 'smtp_url', 'whatsapp_access_token'],
  ...['whatsapp_phone_number_id', 'whatsapp_app_secret', 'whatsapp_verify_token'],
]
export const getSettings = ({ api }: Agent) => get<Settings>(`${api}/settings`)
export const changeSettings =
  ({ api }: Agent) =>
  (body: object) =>
    put<Settings>(`${api}/settings`, { body, secrets })
