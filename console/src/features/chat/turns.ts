import { pause } from '#console/api/changes.ts'
import { open, send } from '#console/api/client.ts'
import { onReconnect } from '#console/api/connection.ts'
import { ApiError, Unreachable } from '#console/api/errors.ts'
import { readEvents } from '#console/api/event-stream.ts'
import { invalidate, query, readAnew } from '#console/api/query.ts'
import type { ApiRequest } from '#console/api/request.ts'
import type { Store } from '#console/api/store.ts'
import { createStore } from '#console/api/store.ts'
import { toast, toastError } from '#console/ui/toast.tsx'
import type { StreamEvent } from '#features/chat/stream-events.schema.ts'
import type { AddedFile } from './added-files.ts'
import { putBack } from './added-files.ts'
import type { Answer } from './answer.ts'
import { advance, beganAs, isHeldUp, isOver, newAnswer } from './answer.ts'
import type { Blocks } from './blocks.ts'
import { growBlocks, noBlocks } from './blocks.ts'
import type { Accepted, Message, Question } from './requests.ts'
import { answerAgain, ask, currentTurn, stopTurn, turnEvents } from './requests.ts'
import { text } from './text.ts'
import { threadQuery } from './thread.ts'

/** An answer as it is drawn. */
export interface Drawn {
  answer: Answer
  blocks: Blocks
}

/** A question with the answer that is being given to it. It lives outside of the views: one that was begun here is shown while others are open. */
export interface Turn {
  id: number
  chat: string
  /** Undefined until a new conversation has begun. */
  conversationId: string | undefined
  userMessageId?: string
  /** The service's id for it, once it was accepted there. */
  turnId?: string
  /** The question; absent if a stored one is answered again. */
  question?: string
  files?: readonly AddedFile[]
  /** The message behind which it is shown: the one that is answered again, or the stored part of what was begun elsewhere. */
  replaces?: string | undefined
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

/** Whether it is shown in the place of what is stored of it. */
export function hasPlace({ drawn }: Turn): boolean {
  const { state, userMessageId } = drawn.get().answer
  return state !== 'failed' || userMessageId !== undefined
}
export const isRunning = ({ drawn }: Turn) => !isOver(drawn.get().answer)

type About = Pick<Turn, 'chat' | 'conversationId' | 'turnId' | 'question' | 'files' | 'replaces'>

/** Sends a question; `ends` is the turn that waits in its conversation and that it ends. */
export const startTurn = (
  chat: string,
  question: Question,
  { files, ends }: { files: readonly AddedFile[]; ends: string | undefined },
): Turn =>
  run(
    { chat, conversationId: question.conversationId, question: question.content ?? '', files },
    { request: ask(chat, { ...question, ...attached(files), ...(ends && { cancel_waiting: true }) }), ends },
  )

function attached(files: readonly AddedFile[]): Pick<Question, 'attachments'> {
  const attachments = files.flatMap(({ stored }) => (stored ? [{ id: stored.id }] : []))
  return attachments.length === 0 ? {} : { attachments }
}

/** Answers a message again: a user's, or the question of an answer. */
export const startAgain = (chat: string, message: { id: string; conversationId: string }, model?: string) =>
  run(
    { chat, conversationId: message.conversationId, replaces: message.id },
    { request: answerAgain(chat, message.id, model) },
  )

/** Turns that ended here, or by a message from here: an answer that still has them as running is an old one. */
const ended = new Set<string>()

/** Shows a turn that was begun elsewhere, or before a reload, until the returned function is called. */
export function joinTurn(
  about: Pick<About, 'chat'> & { conversationId: string; turnId: string },
  last: Message | undefined,
) {
  // What is known of a turn elsewhere is older than one that runs here.
  const isHere = (turn: Turn) =>
    turn.turnId === about.turnId || (turn.conversationId === about.conversationId && isRunning(turn))
  if (ended.has(about.turnId) || turns.get().some(isHere)) return
  const leaving = new AbortController()
  const answer = last?.role === 'assistant' ? beganAs(last) : newAnswer
  const { id } = run({ ...about, replaces: last?.id }, { leaving: leaving.signal, answer })
  return () => {
    leaving.abort()
    dismiss(id)
  }
}

/** Takes a turn away that is over, or is not shown any more. */
export const dismiss = (id: number) => turns.set(turns.get().filter(turn => turn.id !== id))

interface How {
  /** Begins the turn; absent for one that has begun. */
  request?: ApiRequest<Accepted>
  /** The turn of the conversation that waits, which this one ends. */
  ends?: string | undefined
  /** What is known of the answer. */
  answer?: Answer
  leaving?: AbortSignal
}

let made = 0

function run(about: About, how: How): Turn {
  const { request, ends, answer = newAnswer, leaving = new AbortController().signal } = how
  made += 1
  const id = made
  const stopping = new AbortController()
  const drawn = createStore<Drawn>({ answer, blocks: growBlocks(noBlocks, answer.text) })
  const turn = { ...about, id, drawn, stop: () => stop(id, stopping) }
  const others = turns.get().filter(other => isRunning(other) || other.conversationId !== turn.conversationId)
  turns.set([...others, turn])
  void follow(turn, { request, ends, leaving, stopping: stopping.signal })
  return turn
}

/** What was said stays, and ends the events. A turn that was not accepted yet is stopped as soon as it is. */
function stop(id: number, stopping: AbortController): void {
  stopping.abort()
  const turn = turns.get().find(one => one.id === id)
  if (turn?.turnId !== undefined) send(stopTurn(turn.chat, turn.turnId)).catch(toastError)
}

interface Following {
  request: ApiRequest<Accepted> | undefined
  ends: string | undefined
  leaving: AbortSignal
  stopping: AbortSignal
}

async function follow(turn: Turn, following: Following): Promise<void> {
  const { request, ends, leaving, stopping } = following
  const drawing = draw(turn.drawn)
  let { answer } = turn.drawn.get()
  const move = (next: Answer) => {
    answer = next
    drawing.show(answer)
  }
  try {
    const turnId = turn.turnId ?? (await begin(turn, request as ApiRequest<Accepted>, stopping))
    if (ends !== undefined && turn.conversationId !== undefined) {
      ended.add(ends)
      void readAgain(turn.chat, turn.conversationId)
    }
    for await (const event of eventsOf(turn.chat, turnId, leaving)) {
      move(advance(answer, event, performance.now()))
      if (event.type === 'message_start' && request === undefined) showQuestion(turn, event.userMessageId)
    }
    // Without a last event all of them were read before: the stored answer has the rest.
    if (!isOver(answer)) move({ ...answer, state: 'done' })
  } catch (error) {
    move({ ...answer, state: 'failed', error: errorOf(error) })
  }
  if (stopping.aborted) move({ ...answer, state: 'stopped' })
  drawing.finish()
  if (!leaving.aborted) await settle(turn, answer, request !== undefined)
}

function errorOf(error: unknown): NonNullable<Answer['error']> {
  const code = error instanceof ApiError ? error.code : ''
  return { code, message: error instanceof Error ? error.message : String(error) }
}

/** Until a request that was cut is sent again, in milliseconds. */
const againMs = 1000

/** Has the service take the question, whose conversation has a place in the list then; returns the turn's id. */
async function begin(turn: Turn, request: ApiRequest<Accepted>, stopping: AbortSignal): Promise<string> {
  const { userMessage, turn: accepted, evictedConversationId } = await sendUntilReached(request, stopping)
  const { id: userMessageId, conversationId } = userMessage
  update(turn.id, { conversationId, userMessageId, turnId: accepted.id })
  if (evictedConversationId !== undefined) toast(text.current().evicted)
  void invalidate([`${turn.chat}/conversations`])
  if (stopping.aborted) send(stopTurn(turn.chat, accepted.id)).catch(toastError)
  return accepted.id
}

async function sendUntilReached<Result>(request: ApiRequest<Result>, stopping: AbortSignal): Promise<Result> {
  for (;;) {
    try {
      return await send(request)
    } catch (error) {
      if (!(error instanceof Unreachable) || stopping.aborted) throw error
    }
    await pause(againMs, stopping)
  }
}

/** Where the reading of a turn's events is. */
interface Place {
  last?: string | undefined
  conversationId: string
}

/** The events of a turn until it ends or waits, over as many connections as it takes. */
async function* eventsOf(chat: string, turnId: string, leaving: AbortSignal): AsyncGenerator<StreamEvent> {
  const place: Place = { conversationId: '' }
  while (!leaving.aborted) {
    try {
      if (yield* eventsFrom(place, chat, turnId, leaving)) return
    } catch (error) {
      if (error instanceof ApiError && error.status !== 429 && error.status < 500) throw error
    }
    await pause(againMs, leaving)
  }
}

/** Those of one connection; returns whether there are no more. A wait of hours holds none: the stored answer shows it. */
async function* eventsFrom(
  place: Place,
  chat: string,
  turnId: string,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent, boolean> {
  const response = await open(turnEvents(chat, turnId, place.last), { signal, isShown: false })
  if (response.status === 204) return true
  for await (const { id, data } of readEvents(response)) {
    const event = JSON.parse(data) as StreamEvent
    if (event.type === 'message_start') place.conversationId = event.conversationId
    const isPast = event.type === 'turn_waiting' && !(await stillWaits(chat, place.conversationId, event))
    place.last = id ?? place.last
    if (isPast) continue
    yield event
    if (lastTypes.includes(event.type)) return true
  }
  return false
}

const lastTypes: readonly StreamEvent['type'][] = ['message_complete', 'error', 'turn_waiting']

async function stillWaits(
  chat: string,
  conversationId: string,
  { until }: { until: string },
): Promise<boolean> {
  const { turn } = await send(currentTurn(chat, conversationId), { isShown: false })
  return turn?.waiting?.until === until
}

/** Of a turn that was begun elsewhere the question is shown as it is stored. */
function showQuestion({ id, chat, conversationId, replaces }: Turn, userMessageId: string): void {
  update(id, { userMessageId, replaces: replaces ?? userMessageId })
  if (conversationId !== undefined) void fetchThread(chat, conversationId)
}

const update = (id: number, changes: Partial<Turn>) =>
  turns.set(turns.get().map(turn => (turn.id === id ? { ...turn, ...changes } : turn)))

/** A question that was not stored goes back to its draft. Once the stored answer can be shown in its place, the turn is forgotten. */
async function settle(
  { id, chat, question, files = [] }: Turn,
  answer: Answer,
  isOwn: boolean,
): Promise<void> {
  const { conversationId, turnId } = turns.get().find(turn => turn.id === id) ?? {}
  const isStored = answer.userMessageId !== undefined || answer.state === 'done' || !isOwn
  if (!isStored) {
    const key = draftKey(chat, conversationId)
    if (question !== undefined && !drafts.get()[key]) setDraft(key, question)
    putBack(files.map(file => ({ ...file, key })))
  }
  void invalidate([`${chat}/conversations`])
  const waits = answer.state === 'waiting' || isHeldUp(answer)
  if (!waits && turnId !== undefined) ended.add(turnId)
  if (conversationId !== undefined) await (waits ? readAgain : fetchThread)(chat, conversationId)
  if (isStored || answer.state === 'stopped') dismiss(id)
  else turns.set([...turns.get()])
}

/** Reads what waits in a conversation, and what is stored of it. */
async function readAgain(chat: string, conversationId: string): Promise<void> {
  await fetchThread(chat, conversationId)
  await readAnew(query(currentTurn(chat, conversationId), { isShown: false })).catch(() => {})
}

/** Fetches the messages, as soon as the server can be reached. */
async function fetchThread(chat: string, conversationId: string): Promise<void> {
  try {
    await readAnew(threadQuery(chat, conversationId))
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
