import type { StreamEvent } from '#features/chat/stream-events.schema.ts'
import type { Message, Passage, ToolCall, ToolResult } from './requests.ts'

/** A call of a tool with its result, as an answer shows it. */
export interface Step {
  call: ToolCall
  /** Absent while the tool runs. */
  result?: ToolResult
  /** Start and duration of the call in milliseconds; absent for answers that were not watched live. */
  startedAt?: number
  tookMs?: number
}

type Takeover = Omit<Extract<StreamEvent, { type: 'takeover_requested' }>, 'type'>

/** An answer, built from its events so far. */
export interface Answer {
  /** `waiting` for approval of a call, to continue; `stopped` by the person; `failed` with `error`. */
  state: 'sending' | 'thinking' | 'writing' | 'waiting' | 'done' | 'stopped' | 'failed'
  /** Known once the question is stored. */
  conversationId?: string
  userMessageId?: string
  model?: string
  text: string
  steps: readonly Step[]
  passages: readonly Passage[]
  takeover?: Takeover
  error?: { code: string; message: string }
}

export const newAnswer: Answer = { state: 'sending', text: '', steps: [], passages: [] }

const following: readonly Answer['state'][] = ['sending', 'thinking', 'writing']
/** True if no more events arrive for now. */
export const isOver = ({ state }: Answer) => !following.includes(state)

/** True if the answer was refused because a person has to decide first. */
export const isHeldUp = ({ error }: Answer) => error?.code === 'CONVERSATION_WAITING'

/** Returns the answer after an event at `now` (milliseconds of any clock). Ignores unknown events. */
export function advance(answer: Answer, event: StreamEvent, now: number): Answer {
  switch (event.type) {
    case 'message_start': {
      const { conversationId, userMessageId, model, passages = [] } = event
      return { ...newAnswer, conversationId, userMessageId, model, passages, state: 'thinking' }
    }
    case 'thinking':
      return { ...answer, state: 'thinking' }
    case 'content_delta':
      return { ...answer, state: 'writing', text: answer.text + event.delta }
    case 'content_replaced':
    // The shown calls stay: none is made again.
    case 'content_reset':
      return { ...answer, text: event.content }
    case 'tool_call': {
      const { id, name, arguments: given } = event
      const step = { call: { id, name, arguments: given }, startedAt: now }
      return { ...answer, state: 'thinking', steps: [...answer.steps, step] }
    }
    case 'tool_result':
      return { ...answer, steps: answer.steps.map(step => withResult(step, event, now)) }
    case 'takeover_requested': {
      const { type: _, ...takeover } = event
      return { ...answer, takeover }
    }
    case 'turn_waiting':
      return { ...answer, state: 'waiting' }
    case 'message_complete':
      return { ...answer, state: 'done' }
    case 'error':
      return { ...answer, state: 'failed', error: { code: event.code, message: event.message } }
    default:
      return answer
  }
}

type ResultEvent = Extract<StreamEvent, { type: 'tool_result' }>

function withResult(step: Step, event: ResultEvent, now: number): Step {
  if (step.call.id !== event.toolCallId) return step
  const { type: _, ...result } = event
  return { ...step, result, ...(step.startedAt !== undefined && { tookMs: now - step.startedAt }) }
}

/** Returns the stored state of a running answer, shown until its events arrive. */
export function beganAs(message: Message): Answer {
  const { content: text, metadata: { model, passages = [] } = {} } = message
  const steps = stepsOf(message).filter(({ result }) => result?.approval === undefined)
  return { ...newAnswer, ...(model && { model }), state: 'thinking', text, passages, steps }
}

/** Returns the steps of a stored answer. */
export function stepsOf({ toolCalls, toolResults }: Message): Step[] {
  return (toolCalls ?? []).map(call => {
    const result = toolResults?.find(({ toolCallId }) => toolCallId === call.id)
    return { call, ...(result && { result }) }
  })
}
