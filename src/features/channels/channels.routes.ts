import { Type } from 'typebox'
import { notFound } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { clientSignal } from '#platform/http/closing.ts'
import type { Ids } from '#platform/ids.ts'
import {
  channelNames,
  channelsSchema,
  connectedSchema,
  sentSchema,
  testMessageSchema,
} from './channels.schema.ts'
import type { ChannelsService } from './channels.service.ts'

const testText = 'This is a test message: your agent can send messages here.'
const agentPath = Type.Object({ id: Type.String() })
const channelPath = Type.Object({
  id: Type.String(),
  channel: Type.String({ description: `One of ${channelNames.join(', ')}.` }),
})

export function registerChannelRoutes(
  app: App,
  { channels, ids }: { channels: ChannelsService; ids: Ids },
): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/channels',
    config: { area: 'generic', access: 'viewer', limit: 'general', operationId: 'getChannels' },
    schema: {
      summary: 'The channels on which the agent sends and receives messages',
      tags: ['Channels'],
      params: agentPath,
      response: { 200: Type.Object({ channels: channelsSchema }) },
    },
    handler: async ({ agent }, reply) => ({
      channels: await channels.status(agent.agentId, clientSignal(reply)),
    }),
  })

  app.route({
    method: 'POST',
    url: '/api/agents/:id/channels/:channel/test',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'testChannel' },
    schema: {
      summary: 'Send a test message on a channel',
      tags: ['Channels'],
      params: channelPath,
      body: testMessageSchema,
      response: { 200: sentSchema },
    },
    handler: ({ agent, params, body }, reply) => {
      const signal = AbortSignal.any([clientSignal(reply), agent.signal])
      const channel = channelNames.find(name => name === params.channel)
      if (channel === undefined) throw notFound('Channel')
      return channels.say(agent, { channel, address: body.to }, testText, { key: ids.record(), signal })
    },
  })

  app.route({
    method: 'POST',
    url: '/api/agents/:id/channels/telegram/connect',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'connectTelegram' },
    schema: {
      summary: "Have Telegram deliver the bot's messages to the agent",
      tags: ['Channels'],
      params: agentPath,
      response: { 200: connectedSchema },
    },
    handler: async ({ agent }, reply) => ({
      url: await channels.connectTelegram(agent.agentId, clientSignal(reply)),
    }),
  })
}
