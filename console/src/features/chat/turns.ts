import { pause } from '#console/api/changes.ts'
import { open, send } from '#console/api/client.ts'
import { onReconnect } from '#console/api/connection.ts'
import { ApiError, Unreachable } from '#console/api/errors.ts'
import { readEvents } from '#console/api/event-stream.ts'
import { invalidate, query, readAnew } from '#console/api/query.ts'
import type { ApiRequest } from '#console/api/request.ts'
import { createStore, type Store } from '#console/api/store.ts'
import { toast, toastError } from '#console/ui/toast.tsx'
import type { StreamEvent } from '#features/chat/stream-events.schema.ts'
import { type AddedFile, putBack } from './added-files.ts'
import { type Answer, advance, beganAs, isHeldUp, isOver, newAnswer } from './answer.ts'
import { type Blocks, growBlocks, noBlocks } from './blocks.ts'
import {
  type Accepted,
  answerAgain,
  ask,
  currentTurn,
  type Message,
  type Question,
  stopTurn,
  turnEvents,
} from './requests.ts'
import { text } from './text.ts'
import { threadQuery } from './thread.ts'

/** An answer as it is drawn on screen. */
export interface Drawn {
  answer: Answer
  blocks: Blocks
}

/** A question with its live answer. It lives outside of the views, so it continues while others are open. */
export interface Turn {
  id: number
  chat: string
  /** Undefined until a new conversation has begun. */
  conversationId: string | undefined
  userMessageId?: string
  /** The turn's id in the service, once it was accepted there. */
  turnId?: string
  /** The question; absent if a stored one is answered again. */
  question?: string
  files?: readonly AddedFile[]
  /** The message before the turn: the one answered again, or the stored part of a turn from elsewhere. */
  replaces?: string | undefined
  drawn: Store<Drawn>
  stop(): void
}

/** Running turns, and turns that failed before their question was stored. */
export const turns = createStore<readonly Turn[]>([])
/** Unsent texts, by chat and conversation. */
export const drafts = createStore<Readonly<Record<string, string>>>({})
export const draftKey = (chat: string, conversationId = '') => `${chat} ${conversationId}`
export const setDraft = (key: string, draft: string) => drafts.set({ ...drafts.get(), [key]: draft })

/** Interval of drawings of an answer (ms); longer if parsing takes more than a quarter of it. */
const drawMs = 40
const maxParsing = 0.25

/** True if the turn is shown in place of its stored messages. */
export function hasPlace({ drawn }: Turn): boolean {
  const { state, userMessageId } = drawn.get().answer
  return state !== 'failed' || userMessageId !== undefined
}
export const isRunning = ({ drawn }: Turn) => !isOver(drawn.get().answer)

type About = Pick<Turn, 'chat' | 'conversationId' | 'turnId' | 'question' | 'files' | 'replaces'>

/** Sends a question; `ends` is the waiting turn of its conversation, which the question ends. */
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

/** Answers a message again: a user's message, or the question of an answer. */
export const startAgain = (chat: string, message: { id: string; conversationId: string }, model?: string) =>
  run(
    { chat, conversationId: message.conversationId, replaces: message.id },
    { request: answerAgain(chat, message.id, model) },
  )

/** Turns that ended here, or by a message from here: a response that lists one as running is outdated. */
const ended = new Set<string>()

/** Shows a turn that began elsewhere, or before a reload, until the returned function is called. */
export function joinTurn(
  about: Pick<About, 'chat'> & { conversationId: string; turnId: string },
  last: Message | undefined,
) {
  // A turn that runs here is newer than the server's report of one elsewhere.
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

/** Removes a turn that ended, or is no longer shown. */
export const dismiss = (id: number) => turns.set(turns.get().filter(turn => turn.id !== id))

interface How {
  /** The request that begins the turn; absent for one that has begun. */
  request?: ApiRequest<Accepted>
  /** The waiting turn of the conversation, which this one ends. */
  ends?: string | undefined
  /** The known part of the answer. */
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

/** Stops the turn and its events, and keeps its text. An unaccepted turn is stopped once it is accepted. */
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
    // Without a last event, all events were read before: the stored answer has the rest.
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

/** Delay until an interrupted request is repeated (ms). */
const againMs = 1000

/** Sends the question, which lists its conversation; returns the turn's id. */
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

/** The position in a turn's events. */
interface Place {
  last?: string | undefined
  conversationId: string
}

/** Reads the events of a turn until it ends or waits, over any number of connections. */
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

/** Reads one connection's events; returns true after the last. A waiting turn holds no connection. */
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

/** Shows the stored question of a turn that began elsewhere. */
function showQuestion({ id, chat, conversationId, replaces }: Turn, userMessageId: string): void {
  update(id, { userMessageId, replaces: replaces ?? userMessageId })
  if (conversationId !== undefined) void fetchThread(chat, conversationId)
}

const update = (id: number, changes: Partial<Turn>) =>
  turns.set(turns.get().map(turn => (turn.id === id ? { ...turn, ...changes } : turn)))

/** Returns an unstored question to its draft. Forgets the turn once its stored answer is shown. */
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

/** Reads the stored messages of a conversation and its waiting turn. */
async function readAgain(chat: string, conversationId: string): Promise<void> {
  await fetchThread(chat, conversationId)
  await readAnew(query(currentTurn(chat, conversationId), { isShown: false })).catch(() => {})
}

/** Fetches the messages as soon as the server is reachable. */
async function fetchThread(chat: string, conversationId: string): Promise<void> {
  try {
    await readAnew(threadQuery(chat, conversationId))
  } catch (error) {
    if (!(error instanceof Unreachable)) return
    await new Promise<void>(resolve => onReconnect(resolve))
    await fetchThread(chat, conversationId)
  }
}

/** Draws an answer by a timer, so that it also grows in hidden tabs. */
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
