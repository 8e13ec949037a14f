import type { SettingsService } from '#features/agents/settings.service.ts'
import type { ChannelsService } from '#features/channels/channels.service.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import type { AgentEvent, EventHandler } from '#platform/jobs/events.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { approvalText, isWhole, type Requested, type TakeoverRequested, takeoverText } from './notice-text.ts'
import type { NoticeTokens } from './notice-tokens.ts'
import { backgroundOf, changeNotice, type Notice, putNotice, removeNotices } from './notices.repository.ts'
import { chosenIn, type NoticeChannel, type Reach } from './reach.ts'

const keptMs = 30 * 24 * 3_600_000

/** A model that can change contacts could have chosen the recipient of the notice. */
const inConsole =
  'See to it in the console, under “Needs you”: with `sql_tool_writes` the model can change contacts, so nothing is decided here.'

const tooLong =
  'Its arguments are too long to show here: read them in the console, under “Needs you”, and decide there.'

interface Dependencies {
  settings: Pick<SettingsService, 'profileOf'>
  channels: Pick<ChannelsService, 'sendMail' | 'sendTelegram' | 'sendWhatsapp'>
  reach: Reach
  tokens: NoticeTokens
  /** The public address; undefined if unknown. */
  baseUrl: string | undefined
  clock: Clock
}

/** The subject of a notice's decision. */
export type Subject =
  | { tool_call_id: string }
  | { execution_id: string; node_id: string; path: string | undefined }

/** Sends a notice once for each event of an agent that notifies a contact, unless the process dies right after sending. */
export function createSendNotice(needs: Dependencies): EventHandler<AgentHandle> {
  const { settings, reach, clock } = needs

  async function store(agent: AgentHandle, event: AgentEvent) {
    const { name, settings: chosen } = await settings.profileOf(agent.agentId)
    if (chosen.notify === undefined) return undefined
    await removeNotices(agent.db, new Date(clock.now() - keptMs).toISOString())
    const { channel, contactId: contact_id } = chosenIn(chosen.notify)
    const isSafe = chosen.sql_tool_writes !== true
    const given = await contentOf(agent, name, event)
    const content = isSafe ? given : { ...given, subject: null, text: `${given.text}\n${inConsole}` }
    const rest = { created_at: timestamp(clock), sent_at: null, error: null, outcome: null }
    const notice = await putNotice(agent.db, { id: event.id, channel, contact_id, ...content, ...rest })
    return { notice, isSafe }
  }

  return {
    lane: 'deliveries',
    always: ['approval.requested', 'browser.takeover_requested'],
    maxAttempts: 8,
    async handle(event, { agent, signal }) {
      const { notice, isSafe } = (await store(agent, event)) ?? {}
      const isDue = notice?.sent_at === null && notice.expires_at > timestamp(clock)
      if (notice === undefined || !isDue) return
      const { address } = await reach(agent, notice.channel as NoticeChannel, notice.contact_id)
      const { takeover_url: link } = event.payload as Partial<TakeoverRequested>
      const text = link !== undefined && isSafe ? `${notice.text}\nOpen: ${link}` : notice.text
      await send(needs, agent, { ...notice, text }, { address, signal })
      await changeNotice(agent.db, notice.id, { sent_at: timestamp(clock) })
    },
    async onFailed({ id }, { agent, log }, error) {
      log.warn({ agentId: agent.agentId, reason: error }, 'a notice of what waits for a person was not sent')
      await changeNotice(agent.db, id, { error })
    },
  }
}

async function contentOf({ db }: AgentHandle, agentName: string, { name, payload }: AgentEvent) {
  if (name === 'browser.takeover_requested') {
    const event = payload as TakeoverRequested
    return { subject: null, text: takeoverText(event, { agentName }), expires_at: event.expires_at }
  }
  const event = payload as Requested
  const { tool_call_id, execution_id = '', node_id = '', path } = event
  const subject: Subject = tool_call_id === undefined ? { execution_id, node_id, path } : { tool_call_id }
  const text = approvalText(event, { agentName, ...(await backgroundOf(db, event)) })
  const offered = isWhole(event)
    ? { subject: JSON.stringify(subject), text }
    : { subject: null, text: `${text}\n${tooLong}` }
  return { ...offered, expires_at: event.expires_at }
}

async function send(
  { channels, tokens, baseUrl }: Dependencies,
  agent: AgentHandle,
  { id, text, channel, subject }: Notice,
  { address, signal }: { address: string; signal: AbortSignal },
): Promise<unknown> {
  const delivery = { key: `notice:${id}`, signal }
  const choices = [true, false].map(isApproved => ({
    title: isApproved ? 'Approve' : 'Refuse',
    data: tokens.make(agent.agentId, id, isApproved),
  }))
  const buttons = subject === null ? undefined : choices
  if (channel === 'telegram')
    return await channels.sendTelegram(agent, { chat_id: address, text, buttons }, delivery)
  if (channel === 'whatsapp')
    return await channels.sendWhatsapp(agent, { to: address, text, buttons }, delivery)
  const links = baseUrl && buttons?.map(({ title, data }) => `${title}: ${decisionUrl(baseUrl, agent, data)}`)
  const ways = links ?? [subject === null ? '' : 'Decide in the console, under “Needs you”.']
  const [subjectLine = ''] = text.split('\n')
  const body = [text, '', ...ways, ''].join('\n')
  return await channels.sendMail(agent, { to: [{ single: address }], subject: subjectLine, body }, delivery)
}

function decisionUrl(baseUrl: string, { agentId }: AgentHandle, token: string): string {
  return `${baseUrl}/api/agents/${agentId}/decisions/${token}`
}
