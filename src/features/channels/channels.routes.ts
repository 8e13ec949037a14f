import { Type } from 'typebox'
import { notFound } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { clientSignal } from '#platform/http/closing.ts'
import type { Ids } from '#platform/ids.ts'
import { channelNames, channelsSchema, sentSchema, testMessageSchema } from './channels.schema.ts'
import type { ChannelsService } from './channels.service.ts'

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
      summary: 'The channels on which the agent can send messages',
      tags: ['Channels'],
      params: agentPath,
      response: { 200: Type.Object({ channels: channelsSchema }) },
    },
    handler: async ({ agent }) => ({ channels: await channels.status(agent.agentId) }),
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
      return channels.test(agent, channel, body.to, { key: ids.record(), signal })
    },
  })
}
