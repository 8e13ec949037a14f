import type { ChannelsService } from '#features/channels/channels.service.ts'
import type { Press } from '#features/channels/incoming.service.ts'
import type { JobHandler } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Decided, Decisions } from './decisions.service.ts'
import { withoutLinks } from './without-links.ts'

interface Dependencies {
  decisions: Decisions
  channels: Pick<ChannelsService, 'answerPress'>
}

/** Applies the button's decision and replies with the outcome. */
export function createPressJob({ decisions, channels }: Dependencies): JobHandler<AgentHandle> {
  const nothing = (words: string): Decided => ({ words, isDone: false, isOver: false })
  return {
    lane: 'deliveries',
    async run({ agent, payload, jobId, signal }) {
      const press = payload as Press
      const offered = await decisions.read(agent, press.data)
      const { notice } = offered ?? {}
      const isTheirs = press.contactId === notice?.contact_id && press.channel === notice?.channel
      const { words, isOver } = !offered
        ? nothing('This button is not valid. Nothing was done.')
        : isTheirs
          ? await decisions.decide(agent, offered, {})
          : nothing('Only the person who was sent this decides on it. Nothing was done.')
      const shown = withoutLinks(words)
      const said = { notice: shown, ...(isOver && { text: `${notice?.text}\n\n${shown}` }) }
      await channels.answerPress(agent, press, said, { key: `press:${jobId}`, signal })
    },
  }
}
