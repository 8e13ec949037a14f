import { Type } from 'typebox'
import { notFound } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { clientSignal } from '#platform/http/closing.ts'
import { routesBelow } from '#platform/http/routes.ts'
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

export function registerChannelRoutes(
  app: App,
  { channels, ids }: { channels: ChannelsService; ids: Ids },
): void {
  const routes = routesBelow(app, '/api/agents/:id/channels', 'Channels')

  routes.get('', {
    name: 'getChannels',
    summary: "Get the state of the agent's channels",
    answer: Type.Object({ channels: channelsSchema }),
    handle: async ({ agent }, reply) => ({
      channels: await channels.status(agent.agentId, clientSignal(reply)),
    }),
  })
  routes.post('/:channel/test', {
    name: 'testChannel',
    summary: 'Send a test message on a channel',
    parameters: { channel: Type.String({ description: `One of ${channelNames.join(', ')}.` }) },
    body: testMessageSchema,
    answer: sentSchema,
    handle({ agent, params, body }, reply) {
      const signal = AbortSignal.any([clientSignal(reply), agent.signal])
      const channel = channelNames.find(name => name === params.channel)
      if (channel === undefined) throw notFound('Channel')
      return channels.say(agent, { channel, address: body.to }, testText, { key: ids.record(), signal })
    },
  })
  routes.post('/telegram/connect', {
    name: 'connectTelegram',
    summary: "Connect the agent's Telegram bot",
    description: 'From then on, Telegram delivers messages to the bot here.',
    answer: connectedSchema,
    handle: async ({ agent }, reply) => ({
      url: await channels.connectTelegram(agent.agentId, clientSignal(reply)),
    }),
  })
}
