import { open, send } from '#console/api/client.ts'
import { onReconnect } from '#console/api/connection.ts'
import { ApiError, Unreachable } from '#console/api/errors.ts'
import { readEvents } from '#console/api/event-stream.ts'
import { invalidate, queryClient } from '#console/api/query.ts'
import type { ApiRequest } from '#console/api/request.ts'
import type { Store } from '#console/api/store.ts'
import { createStore } from '#console/api/store.ts'
import { toast, toastError } from '#console/ui/toast.tsx'
import type { StreamEvent } from '#features/chat/stream-events.schema.ts'
import type { AddedFile } from './added-files.ts'
import { putBack } from './added-files.ts'
import type { Answer } from './answer.ts'
import { advance, isOver, newAnswer } from './answer.ts'
import type { Blocks } from './blocks.ts'
import { growBlocks, noBlocks } from './blocks.ts'
import type { Question } from './requests.ts'
import { answerAgain, ask, stopTurn } from './requests.ts'
import { text } from './text.ts'
import { threadQuery } from './thread.ts'

/** An answer as it is drawn. */
export interface Drawn {
  answer: Answer
  blocks: Blocks
}

/** A question with the answer that is being given to it. It lives outside of the views, and goes on while others are open. */
export interface Turn {
  id: number
  chat: string
  /** Undefined until a new conversation has begun. */
  conversationId: string | undefined
  userMessageId?: string
  /** The service's id for it, once it has begun there. */
  turnId?: string
  /** The question; absent if a stored one is answered again. */
  question?: string
  files?: readonly AddedFile[]
  /** The message that is answered again. */
  replaces?: string
  drawn: Store<Drawn>
  stop(): void
}

/** Turns that run, and those that failed before their question was stored. */
export const turns = createStore<readonly Turn[]>([])
/** What is written but not sent, by chat and conversation. */
export const drafts = createStore<Readonly<Record<string, string>>>({})
export const draftKey = (chat: string, conversationId = '') => `${chat} ${conversationId}`
export const setDraft = (key: string, draft: string) => drafts.set({ ...drafts.get(), [key]: draft })

/** Milliseconds between two drawings of an answer; longer where parsing it takes more than a quarter of them. */
const drawMs = 40
const maxParsing = 0.25

export const isRunning = ({ drawn }: Turn) => !isOver(drawn.get().answer)

export const startTurn = (chat: string, question: Question, files: readonly AddedFile[]): Turn =>
  run(ask(chat, { ...question, ...attached(files) }), {
    chat,
    conversationId: question.conversationId,
    question: question.content ?? '',
    files,
  })

function attached(files: readonly AddedFile[]): Pick<Question, 'attachments'> {
  const attachments = files.flatMap(({ stored }) => (stored ? [{ id: stored.id }] : []))
  return attachments.length === 0 ? {} : { attachments }
}

/** Answers a message again: a user's, or the question of an answer. */
export const startAgain = (chat: string, message: { id: string; conversationId: string }, model?: string) =>
  run(answerAgain(chat, message.id, model), {
    chat,
    conversationId: message.conversationId,
    replaces: message.id,
  })

/** Takes the notice of a failed turn away. */
export const dismiss = (id: number) => turns.set(turns.get().filter(turn => turn.id !== id))

let made = 0

function run(
  request: ApiRequest,
  about: Pick<Turn, 'chat' | 'conversationId' | 'question' | 'files' | 'replaces'>,
): Turn {
  made += 1
  const controller = new AbortController()
  const drawn = createStore<Drawn>({ answer: newAnswer, blocks: noBlocks })
  const id = made
  const turn = { ...about, id, drawn, stop: () => stop(id, controller) }
  const others = turns.get().filter(other => isRunning(other) || other.conversationId !== turn.conversationId)
  turns.set([...others, turn])
  void follow(turn, request, controller.signal)
  return turn
}

/** What was said stays, and ends the events. A turn that has not begun at the service ends with its request. */
function stop(id: number, controller: AbortController): void {
  const turn = turns.get().find(one => one.id === id)
  if (turn?.turnId === undefined) controller.abort()
  else send(stopTurn(turn.chat, turn.turnId)).catch(toastError)
}

async function follow(turn: Turn, request: ApiRequest, signal: AbortSignal): Promise<void> {
  const drawing = draw(turn.drawn)
  let answer = newAnswer
  const move = (next: Answer) => {
    answer = next
    drawing.show(answer)
  }
  try {
    const response = await openWhenFree(turn, request, signal)
    for await (const { data } of readEvents(response)) {
      const event = JSON.parse(data) as StreamEvent
      move(advance(answer, event, performance.now()))
      if (event.type === 'message_start') begin(turn, answer)
    }
    if (!isOver(answer)) throw new Error(text.current().interrupted)
  } catch (error) {
    move({
      ...answer,
      ...(signal.aborted ? { state: 'stopped' } : { state: 'failed', error: errorOf(error) }),
    })
  }
  const conversationId = answer.conversationId ?? turn.conversationId
  if (conversationId !== undefined && answer.error?.code !== locked) endedAt.set(conversationId, Date.now())
  drawing.finish()
  await settle(turn, answer)
}

function errorOf(error: unknown): NonNullable<Answer['error']> {
  const code = error instanceof ApiError ? error.code : ''
  return { code, message: error instanceof Error ? error.message : String(error) }
}

const locked = 'CONVERSATION_LOCKED'

/** When turns ended: their conversations are free again a moment later, when changes of them are no longer their own. */
const endedAt = new Map<string, number>()
const freeAfterMs = 5000
const againMs = 250

/** Whether changes of the conversation come from here: a turn runs, or has just ended. */
export const isOwn = (conversationId: string): boolean =>
  turns.get().some(turn => turn.conversationId === conversationId && isRunning(turn)) ||
  Date.now() - (endedAt.get(conversationId) ?? 0) < freeAfterMs

async function openWhenFree(turn: Turn, request: ApiRequest, signal: AbortSignal): Promise<Response> {
  for (;;) {
    try {
      return await open(request, { signal })
    } catch (error) {
      const isLocked = error instanceof ApiError && error.code === locked
      const sinceOwn = Date.now() - (endedAt.get(turn.conversationId ?? '') ?? 0)
      if (!isLocked || sinceOwn > freeAfterMs) throw error
      await new Promise(resolve => setTimeout(resolve, againMs))
    }
  }
}

/** The question is stored: the conversation has a place in the list. */
function begin(turn: Turn, { conversationId, userMessageId, turnId, evicted }: Answer): void {
  const ids = {
    ...(userMessageId !== undefined && { userMessageId }),
    ...(turnId !== undefined && { turnId }),
  }
  replace({ ...turn, conversationId, ...ids })
  if (evicted !== undefined) toast(text.current().evicted)
  void invalidate([`${turn.chat}/conversations`])
}

const replace = (next: Turn) => turns.set(turns.get().map(turn => (turn.id === next.id ? next : turn)))

/** Once the stored answer can be shown in its place, the turn is forgotten. */
async function settle(turn: Turn, { conversationId, state }: Answer): Promise<void> {
  const stored = conversationId ?? turn.conversationId
  void invalidate([`${turn.chat}/conversations`])
  if (stored !== undefined) await fetchThread(turn.chat, stored)
  if (state !== 'failed' || conversationId !== undefined) return dismiss(turn.id)
  const key = draftKey(turn.chat, turn.conversationId)
  if (turn.question !== undefined && !drafts.get()[key]) setDraft(key, turn.question)
  putBack(turn.files ?? [])
  turns.set([...turns.get()])
}

/** Fetches the messages, as soon as the server can be reached. */
async function fetchThread(chat: string, conversationId: string): Promise<void> {
  try {
    await queryClient.fetchQuery(threadQuery(chat, conversationId))
  } catch (error) {
    if (!(error instanceof Unreachable)) return
    await new Promise<void>(resolve => onReconnect(resolve))
    await fetchThread(chat, conversationId)
  }
}

/** Draws an answer by a timer, so that hidden tabs go on, too. */
function draw(drawn: Store<Drawn>) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let latest = drawn.get().answer
  let pauseMs = drawMs
  const now = () => {
    timer = undefined
    const begun = performance.now()
    const blocks = growBlocks(drawn.get().blocks, latest.text)
    pauseMs = Math.max(drawMs, (performance.now() - begun) / maxParsing)
    drawn.set({ answer: latest, blocks })
  }
  return {
    show(answer: Answer) {
      latest = answer
      timer ??= setTimeout(now, pauseMs)
    },
    finish() {
      clearTimeout(timer)
      now()
    },
  }
}

// The server ends an answer whose reader has gone.
addEventListener('beforeunload', event => {
  if (turns.get().some(isRunning)) event.preventDefault()
})
