import type { SettingsService } from '#features/agents/settings.service.ts'
import {
  type ChatFeature,
  isTurnWaiting,
  isWaitOver,
  maxFiles,
  maxMessageLength,
  pauseBehindTurn,
} from '#features/chat/chat.feature.ts'
import { currentActor } from '#platform/actor.ts'
import { AppError } from '#platform/errors.ts'
import { fitting } from '#platform/http/lists/list-large.ts'
import { type ChangeContext, type JobHandler, JobYields } from '#platform/jobs/jobs.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import {
  changeUpdates,
  closeUpdates,
  findThread,
  noteTold,
  openUpdates,
  textsOf,
  touchThread,
} from './channels.repository.ts'
import type { ChannelsService } from './channels.service.ts'
import { fileAlone, type IncomingFile, noteOf } from './incoming/incoming-message.ts'
import { answerJob, applyEdits, collectingMs, contentOf } from './incoming.service.ts'

/** Max failed runs, over an hour and a half. */
const maxAttempts = 8
/** Interval between attempts for a conversation in use (ms). */
const lockedMs = 1_000
/** Interval between reads of a turn that waits for a person; its decision makes the job due. */
const waitingMs = 3_600_000
const dayMs = 24 * 3_600_000
/** Interval for an inactive agent; activating it retries everything at once. */
const inactiveMs = dayMs
/** First pause for a problem that the agent's owner must fix; each pause doubles, and a fix ends it. */
const ownerMs = 15 * 60_000
/** Max time from a message's arrival in which its unavailable file is retried: the answer waits for it. */
const fileMs = 5 * 60_000
/** After this time, an answer is given up. */
const maxWaitMs = 3 * dayMs

const tooMany =
  'You are writing faster than I can read: I take 20 messages a minute, and have not read what came after these.'
const noAnswer = 'Sorry, I cannot answer this at the moment. Please write again later.'

/** Sending continues when the process stops: after an abort, the delivery would be uncertain. */
const untilSent = new AbortController().signal

interface Dependencies
  extends ChangeContext,
    Pick<ChatFeature, 'answerOnce' | 'abandon' | 'editMessage' | 'files'> {
  settings: Pick<SettingsService, 'profileOf'>
  channels: Pick<ChannelsService, 'say' | 'download'>
  maxUploadBytes: number
}

/** The messages of a sender that are answered together. */
interface Round {
  /** The id of the message that the updates become. */
  id: string
  thread: Awaited<ReturnType<typeof findThread>>
  updates: Awaited<ReturnType<typeof openUpdates>>
}

/** Answers all waiting messages of a sender on a messenger together. Continues after any interruption. */
export function createAnswerJob(dependencies: Dependencies): JobHandler<AgentHandle> {
  const { settings, answerOnce, channels, clock } = dependencies
  const rounds = createRounds(dependencies)
  const receiveFiles = createReceiveFiles(dependencies)

  /** Returns the text of the answer; blank if there is none. */
  async function answerTo(agent: AgentHandle, round: Round, signal: AbortSignal) {
    const { id, thread } = round
    const asker = {
      isOutsider: true,
      channel: thread.channel,
      contactId: thread.contact_id,
      author: `channel:${thread.channel}`,
      reach: 'all' as const,
    }
    const updates = await receiveFiles(agent, round, asker.author, signal)
    const notice = updates.some(({ text }) => text === '') ? tooMany : ''
    const content = contentOf(updates.map(({ text }) => text))
    const attachments = updates.flatMap(({ file }) => (file === null ? [] : [{ id: attachmentIn(file) }]))
    if (content === '' && attachments.length === 0) return notice
    const message = { id, ...(content !== '' && { content }), attachments, standingConversationId: thread.id }
    const actor = { kind: 'channel', id: thread.id, name: thread.channel } as const
    const job = { signal, resume: answerJob(thread.id, 0) }
    const answer = await currentActor
      .run(actor, answerOnce, agent.agentId, message, asker, job)
      .catch(error => {
        if (isWaitOver(error)) return { content: error.message }
        throw error
      })
    // A person who has stopped an answer does not want it sent.
    return 'metadata' in answer && answer.metadata?.stopped ? notice : `${answer.content}\n\n${notice}`
  }

  return {
    lane: 'turns',
    maxAttempts,

    async run({ agent, payload, signal }) {
      const { status } = await settings.profileOf(agent.agentId)
      if (status !== 'active') throw new JobYields({ until: clock.now() + inactiveMs })
      const round = await rounds.begin(agent, String(payload))
      try {
        let renewal: string | undefined
        const text = await answerTo(agent, round, signal).catch(error => {
          renewal = renewalOf(error)
          return renewal === round.thread.told_until ? '' : error.message
        })
        if (text.trim() !== '')
          await channels.say(agent, round.thread, text, { key: round.id, signal: untilSent })
        if (renewal !== undefined) await noteTold(agent.db, round.thread.id, renewal)
      } catch (error) {
        const pause = pauseAfter(error, clock.now() - Date.parse(round.updates[0]?.received_at ?? ''))
        throw pause === undefined ? error : new JobYields({ until: clock.now() + pause })
      }
      await rounds.end(agent, round)
    },

    async onFailed({ agent, payload, signal, log }) {
      const round = await rounds.begin(agent, String(payload))
      await channels
        .say(agent, round.thread, noAnswer, { key: `${round.id}:failed`, signal })
        .catch(error => log.warn({ err: error }, 'a person could not be told that there is no answer'))
      signal.throwIfAborted()
      await rounds.end(agent, round)
    },
  }
}

/** Errors that prevent the answer, too. */
const neverLost: readonly string[] = ['STORAGE_FULL', 'CHANNEL_NOT_CONFIGURED'] satisfies AppError['code'][]

/** Receives the files of updates, each once; for an unavailable file, the text contains a note. */
function createReceiveFiles({ channels, files, clock, maxUploadBytes: maxBytes }: Dependencies) {
  /** Returns true if the answer should not wait for the file. */
  const isLost = (error: unknown, receivedAt: string): error is AppError => {
    if (!(error instanceof AppError) || neverLost.includes(error.code)) return false
    return error.isPermanent || clock.now() - Date.parse(receivedAt) >= fileMs
  }

  return async (agent: AgentHandle, { thread, updates }: Round, author: string, signal: AbortSignal) => {
    const received: Round['updates'] = []
    for (const update of updates) {
      const file: Partial<IncomingFile> = JSON.parse(update.file ?? '{}')
      const { id, name = '', content = '' } = file
      if (id === undefined) {
        received.push(update)
        continue
      }
      const changes = await channels
        .download(agent.agentId, thread.channel, id, { maxBytes, signal })
        .then(bytes => files.receive(agent, { name, content: bytes, author }))
        .then(
          attachment => ({ text: update.text, file: JSON.stringify({ attachment: attachment.id }) }),
          error => {
            signal.throwIfAborted()
            if (!isLost(error, update.received_at)) throw error
            const note = noteOf(content, error.message)
            return { text: update.text === fileAlone ? note : `${update.text}\n${note}`, file: null }
          },
        )
      await changeUpdates(agent.db, [update], changes)
      received.push({ ...update, ...changes })
    }
    return received
  }
}

function attachmentIn(file: string): string {
  return String(JSON.parse(file).attachment)
}

/** Returns the renewal time of a spent budget, which a person reads once. Throws all other errors. */
function renewalOf(error: unknown): string {
  if (!(error instanceof AppError) || error.code !== 'BUDGET_SPENT' || !error.isPermanent) throw error
  return String(error.details?.renews_at)
}

/** Begins and ends an answer; the work between can be repeated. */
function createRounds(dependencies: Dependencies) {
  const { abandon, transact, ids } = dependencies
  return {
    /** Begins a round; a repeated one is about the same updates. */
    begin: ({ db }: AgentHandle, threadId: string): Promise<Round> =>
      inTransaction(db, async transaction => {
        const thread = await findThread(transaction, threadId)
        const open = await openUpdates(transaction, threadId)
        const id = open[0]?.message_id ?? ids.record()
        const alike = open.filter(({ message_id }) => message_id === open[0]?.message_id)
        const fit = alike.slice(
          0,
          fitting(alike, ({ text }) => text.length, maxMessageLength / 3),
        )
        const tooMany = fit.filter(({ file }) => file !== null)[maxFiles]
        const updates = tooMany === undefined ? fit : fit.slice(0, fit.indexOf(tooMany))
        await changeUpdates(transaction, updates, { message_id: id })
        return { id, thread, updates }
      }),

    /** Ends the round, with another job if updates have arrived; from here on, a new update adds one. */
    async end(agent: AgentHandle, { id, thread, updates }: Round) {
      await abandon(agent, id)
      await transact(agent, async (transaction, outbox) => {
        const texts = await textsOf(transaction, id)
        await closeUpdates(transaction, updates)
        // Some texts were edited after the answer read them, and before it was stored.
        if (updates.some(({ text }, at) => text !== texts[at]))
          await applyEdits(transaction, id, dependencies)
        // The process that stores an update writes this row, too, so one of both sees the other's change.
        await touchThread(transaction, thread.id)
        const [next] = await openUpdates(transaction, thread.id)
        const job = answerJob(thread.id, Date.parse(next?.received_at ?? '') + collectingMs)
        await outbox.cancel(job.key)
        if (next !== undefined) await outbox.add(job)
      })
    },
  }
}

/**
 * Returns the pause before a retry that does not count as a failure (ms); undefined for counted failures.
 * @param waited milliseconds from the arrival of the message.
 */
function pauseAfter(error: unknown, waited: number): number | undefined {
  if (isTurnWaiting(error)) return waitingMs
  if (!(error instanceof AppError)) return undefined
  if (error.code === 'CONVERSATION_WAITING') return pauseBehindTurn(waited)
  if (error.status === 409) return lockedMs
  if (error.fault === 'user' && error.isPermanent)
    return waited < maxWaitMs ? Math.max(ownerMs, waited) : undefined
  const seconds = error.details?.retry_after
  return seconds === undefined ? undefined : Number(seconds) * 1000
}
