import type { AgentsFeature } from '#features/agents/agents.feature.ts'
import type { Feature } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { registerChannelRoutes } from './channels.routes.ts'
import type { ChannelsService } from './channels.service.ts'
import { createChannelsService } from './channels.service.ts'

export interface ChannelsFeature extends Feature {
  channels: ChannelsService
}

/** Mail and messengers by which agents reach people. */
export function createChannels(
  { configuration, outbound, ids }: Infrastructure,
  { settings }: Pick<AgentsFeature, 'settings'>,
): ChannelsFeature {
  const { connect } = outbound
  const channels = createChannelsService({ channels: configuration.channels, settings, connect })
  return { channels, routes: app => registerChannelRoutes(app, { channels, ids }) }
}
